package dev.gyre.internal.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Kernel;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Transfer;
import dev.gyre.io.ClosedDescriptorException;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/// One opening of a descriptor number, from when it was opened until it is closed. The number comes again,
/// the opening never does.
///
/// Closing goes in three steps: first nobody may use the number any more, then the loops make their kernels
/// forget it, and only then is it given back. The second step is not left to the kernel, which forgets a
/// descriptor only when the last duplicate of it is closed, and another process may have one.
final class Opening {
    private static final AtomicInteger GENERATIONS = new AtomicInteger();

    final int fd;
    final int generation = GENERATIONS.incrementAndGet();
    private final boolean owned;
    private final Supplier<? extends Kernel> kernels;

    /// Set while the number is owned and the handle may still become unreachable.
    private Reclaimer.@Nullable Handle handle;

    // Shared: guarded by this, so that the number is not given back while it is in use; `open` is
    // also read without.
    private volatile boolean open = true;
    private final List<LoopWatcher> watchers = new ArrayList<>(1);

    Opening(Supplier<? extends Kernel> kernels, int fd, boolean owned) {
        this.kernels = kernels;
        this.fd = fd;
        this.owned = owned;
    }

    void keptBy(Reclaimer.Handle handle) {
        this.handle = handle;
    }

    boolean isOpen() {
        return open;
    }

    void requireOpen() {
        if (!open) {
            throw new ClosedDescriptorException(
                    this + " was used after it was closed: who closed it still had a user");
        }
    }

    synchronized int read(ByteBuffer buffer) {
        requireOpen();
        return Transfer.read(kernels.get(), fd, buffer);
    }

    synchronized int write(ByteBuffer buffer) {
        requireOpen();
        return Transfer.write(kernels.get(), fd, buffer);
    }

    synchronized void makeNonBlocking() {
        requireOpen();
        Kernel kernel = kernels.get();
        int flags = kernel.fcntl(fd, Linux.F_GETFL, 0);
        int result = flags < 0 ? flags : kernel.fcntl(fd, Linux.F_SETFL, flags | Linux.O_NONBLOCK);
        if (result < 0) {
            throw new SystemCallException("fcntl(F_SETFL)", -result, fd);
        }
    }

    /// Registers a watcher with its kernel and remembers to end it. In one step, or the number might be
    /// closed in between and the kernel told of somebody else's.
    synchronized void attach(LoopWatcher watcher) {
        requireOpen();
        watcher.register();
        watchers.add(watcher);
    }

    synchronized void detach(LoopWatcher watcher) {
        watchers.remove(watcher);
    }

    void close() {
        List<LoopWatcher> watching;
        synchronized (this) {
            if (!open) {
                return;
            }
            open = false; // From here on no callback runs for it and no call begins.
            watching = List.copyOf(watchers);
            watchers.clear();
        }
        // Outside the lock, which is held only for as long as it has to be.
        for (LoopWatcher watcher : watching) {
            watcher.descriptorClosing();
        }
        if (handle != null) {
            handle.forget();
        }
        if (owned) {
            // Linux frees the number even when close reports an error, and nobody could do
            // anything.
            int _ = kernels.get().close(fd);
        }
    }

    @Override
    public String toString() {
        return "descriptor " + fd + (open ? "" : " (closed)");
    }
}
