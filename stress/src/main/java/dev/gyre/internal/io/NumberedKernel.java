package dev.gyre.internal.io;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.epoll.CountingKernel;
import dev.gyre.internal.sys.Linux;

import org.jspecify.annotations.Nullable;

/// A backend with room for one descriptor, over a [CountingKernel] that is told of every change:
/// after the descriptor's close each of them would be about somebody else's number.
final class NumberedKernel implements Backend {
    static final int FD = 3;

    private static final int EPFD = 5;

    final CountingKernel kernel = new CountingKernel();

    // Shared: written by whichever actor changes it, under the lock of Watchers; read by the
    // arbiter.
    private volatile @Nullable ReadinessHandler registered;

    /// Whether anything is still registered.
    boolean isRegistered() {
        return registered != null;
    }

    private void change() {
        // Any operation that carries no event along.
        int _ = kernel.epollCtl(EPFD, Linux.EPOLL_CTL_MOD, FD, 0);
    }

    @Override
    public void register(int fd, int interest, ReadinessHandler handler) {
        registered = handler;
        change();
    }

    @Override
    public void modify(int fd, int interest) {
        change();
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a handler is only itself
    public void deregister(int fd, ReadinessHandler handler) {
        if (registered == handler) {
            registered = null;
            change();
        }
    }

    @Override
    public String name() {
        return "numbered";
    }

    @Override
    public long nanoTime() {
        return 0;
    }

    @Override
    public void pollNow() {}

    @Override
    public void pollUntil(long deadlineNanos) {}

    @Override
    public @Nullable ReadinessHandler dispatchNext() {
        return null;
    }

    @Override
    public void wake() {}

    @Override
    public long wakeups() {
        return 0;
    }

    @Override
    public void close() {}
}
