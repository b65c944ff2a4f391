package dev.gyre.internal.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.Transfer;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/// The user's handle on an [FdLifetime]. Watchers refer to it weakly. When the user drops it,
/// [FdReaper] closes the lifetime.
public final class OpenDescriptor implements Descriptor {
    private final FdLifetime lifetime;

    /// Uses the descriptor, and describes itself for operators.
    public interface User {
        /// Any thread: reads without synchronization, and never throws.
        String describe();
    }

    // Shared: written before publication.
    private boolean heldWhileWatched;

    // Shared: written by the loop thread, read by any. A reader may see an old value.
    private @Nullable User user;

    private OpenDescriptor(FdLifetime lifetime) {
        this.lifetime = lifetime;
    }

    /// Wraps an open fd.
    ///
    /// @param kernels supplies the system calls of the calling thread
    /// @param owned whether closing the descriptor closes the fd
    public static OpenDescriptor of(Supplier<? extends PollCalls> kernels, int fd, boolean owned) {
        if (fd < 0) {
            throw new IllegalArgumentException("fd must be at least 0, but is " + fd);
        }
        int flags = kernels.get().fcntl(fd, Linux.F_GETFD, 0);
        if (flags < 0) {
            throw new SystemCallException("fcntl(F_GETFD)", -flags, fd);
        }
        return fresh(kernels, fd, owned);
    }

    /// Wraps an fd that was just opened, without checking it.
    public static OpenDescriptor fresh(
            Supplier<? extends PollCalls> kernels, int fd, boolean owned) {
        FdReaper.reclaim();
        FdLifetime lifetime = new FdLifetime(kernels, fd, owned);
        OpenDescriptor descriptor = new OpenDescriptor(lifetime);
        FdReaper.track(descriptor, lifetime);
        return descriptor;
    }

    /// Makes watchers keep this descriptor reachable, for owners that hold only the watcher.
    public OpenDescriptor heldWhileWatched() {
        heldWhileWatched = true;
        return this;
    }

    public void usedBy(User user) {
        this.user = user;
    }

    String describeUser() {
        User known = user;
        return known == null ? "" : known.describe();
    }

    boolean isHeldWhileWatched() {
        return heldWhileWatched;
    }

    FdLifetime lifetime() {
        return lifetime;
    }

    /// Makes a system call. The fd stays open meanwhile.
    ///
    /// @throws dev.gyre.io.ClosedDescriptorException if it is closed
    public int use(IntUnaryOperator call) {
        lifetime.acquire();
        try {
            return call.applyAsInt(lifetime.fd);
        } finally {
            lifetime.release();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public int fd() {
        lifetime.requireOpen();
        return lifetime.fd;
    }

    @Override
    public int generation() {
        return lifetime.generation;
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public Descriptor nonBlocking() {
        int result =
                use(
                        fd -> {
                            PollCalls calls = lifetime.calls();
                            int flags = calls.fcntl(fd, Linux.F_GETFL, 0);
                            return flags < 0
                                    ? flags
                                    : calls.fcntl(fd, Linux.F_SETFL, flags | Linux.O_NONBLOCK);
                        });
        if (result < 0) {
            throw new SystemCallException("fcntl(F_SETFL)", -result, lifetime.fd);
        }
        return this;
    }

    @Override
    public int read(ByteBuffer buffer) {
        lifetime.acquire();
        try {
            return Transfer.read(lifetime.calls(), lifetime.fd, buffer);
        } finally {
            lifetime.release();
            Reference.reachabilityFence(this); // FdReaper must not close it during the call.
        }
    }

    @Override
    public int write(ByteBuffer buffer) {
        lifetime.acquire();
        try {
            return Transfer.write(lifetime.calls(), lifetime.fd, buffer);
        } finally {
            lifetime.release();
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void close() {
        try {
            lifetime.close();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public String toString() {
        return lifetime.toString();
    }
}
