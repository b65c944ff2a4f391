package dev.gyre.internal.io;

import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.base.Throwables;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.io.ClosedDescriptorException;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/// The lifetime of an open fd, from its opening until it is closed. The kernel reuses the number,
/// but a lifetime never returns.
///
/// Closing has three steps: new uses are rejected, the loops deregister the fd, and the fd is
/// closed once the last call in progress returns. The second step is explicit, because the kernel
/// deregisters a file only when its last duplicate is closed, and another process may have one.
final class FdLifetime {
    private static final AtomicInteger GENERATIONS = new AtomicInteger();
    private static final int CLOSED = Integer.MIN_VALUE;
    private static final int UNKNOWN = -1;

    final int fd;
    final int generation = GENERATIONS.incrementAndGet();
    private final boolean owned;
    private final Supplier<? extends PollCalls> kernels;

    /// Set while the descriptor object may become unreachable.
    private FdReaper.@Nullable Handle handle;

    // Shared: the number of uses in progress. Negative once closed: new uses are rejected, and the
    // last one closes the fd.
    private final AtomicInteger users = new AtomicInteger();

    // Shared: guarded by this, which is never held during a slow call. Usually one element, so the
    // list is immutable and replaced.
    private List<User> attached = List.of();

    // Shared: written before publication.
    private int traits = UNKNOWN;

    /// A user of the fd in a loop: the operations or a watcher.
    interface User {
        /// Starts the use, while the fd is certainly open.
        default void attached() {}

        /// Ends the use: the fd is closed after all users were notified. Any thread.
        void descriptorClosing();

        default boolean isWatcher() {
            return false;
        }
    }

    FdLifetime(Supplier<? extends PollCalls> kernels, int fd, boolean owned) {
        this.kernels = kernels;
        this.fd = fd;
        this.owned = owned;
    }

    void setHandle(FdReaper.Handle handle) {
        this.handle = handle;
    }

    boolean isOpen() {
        return users.get() >= 0;
    }

    synchronized boolean isWatched() {
        return attached.stream().anyMatch(User::isWatcher);
    }

    /// Sets the traits of an fd whose opener knows that it is non-blocking.
    ///
    /// @param traits bits of [dev.gyre.internal.backend.DescriptorState.Traits]
    void setTraits(int traits) {
        this.traits = traits;
    }

    boolean isNonBlocking() {
        return traits != UNKNOWN;
    }

    int traits() {
        return traits;
    }

    void requireOpen() {
        if (!isOpen()) {
            throw new ClosedDescriptorException(
                    this + " was used after it was closed: close it after its last use");
        }
    }

    /// Starts a use: the fd is not closed before [#release()].
    void acquire() {
        StackReserve.requireSmall(); // Covers release() too: it must not fail.
        int before;
        do {
            before = users.get();
            requireOpen();
        } while (before < 0 || !users.compareAndSet(before, before + 1));
    }

    void release() {
        if (users.decrementAndGet() == CLOSED && owned) {
            // Linux frees the fd even if close reports an error: no remedy exists.
            int _ = calls().close(fd);
        }
    }

    /// Returns the system calls of the calling thread.
    PollCalls calls() {
        return kernels.get();
    }

    /// Starts the use by a loop, and registers it for the close. Atomic: if the fd were closed in
    /// between, the loop would register another file with the kernel.
    synchronized void attach(User user) {
        requireOpen();
        List<User> more = new ArrayList<>(attached);
        more.add(user);
        List<User> listed = List.copyOf(more); // First: the allocation may fail.
        user.attached();
        attached = listed;
    }

    synchronized void detach(User user) {
        List<User> fewer = new ArrayList<>(attached);
        fewer.remove(user);
        attached = List.copyOf(fewer);
    }

    void close() {
        if (beginClose()) {
            release();
        }
    }

    /// Closes the lifetime, and leaves the close of the fd to the caller if no other use is in
    /// progress.
    ///
    /// @return the fd, or -1 if the caller has none to close
    int closeKeepingFd() {
        if (!beginClose()) {
            return -1;
        }
        if (owned && users.compareAndSet(CLOSED + 1, CLOSED)) {
            return fd;
        }
        release();
        return -1;
    }

    /// Rejects new uses and notifies all users. Counts the caller as a use, which it must release.
    ///
    /// @return false if it was closed before
    private boolean beginClose() {
        StackReserve.requireMedium(); // A user may submit a task to its loop.
        List<User> notified;
        synchronized (this) {
            int before;
            do {
                before = users.get();
                if (before < 0) {
                    return false;
                }
            } while (!users.compareAndSet(before, (before + 1) | CLOSED));
            notified = attached;
            attached = List.of();
        }
        Throwable thrown = null;
        for (User user : notified) {
            try {
                user.descriptorClosing();
            } catch (Throwable e) {
                thrown = Throwables.firstOf(thrown, e); // Notify the others.
            }
        }
        if (handle != null) {
            handle.untrack();
        }
        if (thrown != null) {
            release(); // No other caller does.
            throw Throwables.rethrow(thrown);
        }
        return true;
    }

    @Override
    public String toString() {
        return "descriptor " + fd + (isOpen() ? "" : " (closed)");
    }
}
