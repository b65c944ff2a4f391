package dev.gyre.internal.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.base.Throwables;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollSyscalls;
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
/// forget it, and only then, when whoever is still in a call has come back from it, is it given back. The second step is not left to the kernel, which forgets a
/// descriptor only when the last duplicate of it is closed, and another process may have one.
final class FdLifetime {
    private static final AtomicInteger GENERATIONS = new AtomicInteger();
    private static final int CLOSED = Integer.MIN_VALUE;
    private static final int UNKNOWN = -1;

    final int fd;
    final int generation = GENERATIONS.incrementAndGet();
    private final boolean owned;
    private final Supplier<? extends PollSyscalls> kernels;

    /// Set while the number is owned and the handle may still become unreachable.
    private FdReaper.@Nullable Handle handle;

    // Shared: how many are using the number just now. Negative once it is closed: then nobody comes
    // in
    // any more, and the last one out gives the number back.
    private final AtomicInteger users = new AtomicInteger();

    // Shared: guarded by this. Never held during a call that may take long. Mostly there is one,
    // so the list is replaced and not changed.
    private List<User> attached = List.of();

    // Shared: set before anybody else has it.
    private int traits = UNKNOWN;

    /// A loop that uses the number.
    interface User {
        /// Begins to use it, while it is sure to be open.
        default void attached() {}

        /// Any thread: it is being closed, and will be given back when all have been told.
        void descriptorClosing();

        default boolean isWatcher() {
            return false;
        }
    }

    FdLifetime(Supplier<? extends PollSyscalls> kernels, int fd, boolean owned) {
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

    /// Whoever opened it knows that it does not block, and more.
    ///
    /// @param traits bits of [dev.gyre.internal.backend.DescriptorState.Traits]
    void setTraits(int traits) {
        this.traits = traits;
    }

    /// Whether that is known without asking.
    boolean isNonBlocking() {
        return traits != UNKNOWN;
    }

    int traits() {
        return traits;
    }

    void requireOpen() {
        if (!isOpen()) {
            throw new ClosedDescriptorException(
                    this + " was used after it was closed: who closed it still had a user");
        }
    }

    /// Begins a use of the number: it will not be given back before [#release()].
    void acquire() {
        StackReserve.requireSmall(); // Covers leave() too: it must not fail.
        int before;
        do {
            before = users.get();
            requireOpen();
        } while (before < 0 || !users.compareAndSet(before, before + 1));
    }

    void release() {
        if (users.decrementAndGet() == CLOSED) {
            closeFd();
        }
    }

    int read(ByteBuffer buffer) {
        acquire();
        try {
            return Transfer.read(kernels.get(), fd, buffer);
        } finally {
            release();
        }
    }

    int write(ByteBuffer buffer) {
        acquire();
        try {
            return Transfer.write(kernels.get(), fd, buffer);
        } finally {
            release();
        }
    }

    void makeNonBlocking() {
        acquire();
        try {
            PollSyscalls kernel = kernels.get();
            int flags = kernel.fcntl(fd, Linux.F_GETFL, 0);
            int result =
                    flags < 0 ? flags : kernel.fcntl(fd, Linux.F_SETFL, flags | Linux.O_NONBLOCK);
            if (result < 0) {
                throw new SystemCallException("fcntl(F_SETFL)", -result, fd);
            }
        } finally {
            release();
        }
    }

    /// Lets a loop begin to use it, and remembers to tell it of the end. In one step, or the number might be
    /// closed in between and the kernel told of somebody else's.
    synchronized void attach(User user) {
        requireOpen();
        List<User> more = new ArrayList<>(attached);
        more.add(user);
        List<User> listed = List.copyOf(more); // First: memory may be short.
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

    /// Closes it, and hands the number to the caller, who gives it back, if nobody else is using it.
    ///
    /// @return the number, or -1 if the caller has nothing to give back
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

    /// From here on nobody comes in, and all loops have been told. The caller is a user itself, so
    /// that the number is not given back before.
    ///
    /// @return false if it was closed already
    private boolean beginClose() {
        StackReserve.requireSmall();
        List<User> told;
        synchronized (this) {
            int before;
            do {
                before = users.get();
                if (before < 0) {
                    return false;
                }
            } while (!users.compareAndSet(before, (before + 1) | CLOSED));
            told = attached;
            attached = List.of();
        }
        Throwable thrown = null;
        for (User user : told) {
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
            throw Throwables.asItIs(thrown);
        }
        return true;
    }

    private void closeFd() {
        if (owned) {
            // Linux frees the number even when close reports an error, and nobody could do more.
            int _ = kernels.get().close(fd);
        }
    }

    @Override
    public String toString() {
        return "descriptor " + fd + (isOpen() ? "" : " (closed)");
    }
}
