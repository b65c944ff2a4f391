package dev.gyre.internal.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.io.Descriptor;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/// The user's handle on an [FdLifetime]. Watchers hold it weakly, so that whether it is reachable is up to the
/// user alone; when it no longer is, [FdReaper] closes the opening.
public final class OpenDescriptor implements Descriptor {
    private final FdLifetime lifetime;

    // Shared: set before anybody else has it.
    private boolean heldWhileWatched;

    private OpenDescriptor(FdLifetime opening) {
        this.lifetime = opening;
    }

    /// A handle on a number that is open.
    ///
    /// @param kernels gives the calling thread its instance of the seam
    /// @param owned whether closing it closes the number
    public static OpenDescriptor of(
            Supplier<? extends PollSyscalls> kernels, int fd, boolean owned) {
        if (fd < 0) {
            throw new IllegalArgumentException("a descriptor is never negative: " + fd);
        }
        int flags = kernels.get().fcntl(fd, Linux.F_GETFD, 0);
        if (flags < 0) {
            throw new SystemCallException("fcntl(F_GETFD)", -flags, fd);
        }
        return fresh(kernels, fd, owned);
    }

    /// The same for a number that was just opened, and so need not be asked for.
    public static OpenDescriptor fresh(
            Supplier<? extends PollSyscalls> kernels, int fd, boolean owned) {
        FdReaper.reclaim();
        FdLifetime opening = new FdLifetime(kernels, fd, owned);
        OpenDescriptor descriptor = new OpenDescriptor(opening);
        FdReaper.track(descriptor, opening);
        return descriptor;
    }

    /// Makes its watchers hold it, for one whose bytes would be missed by somebody who does not.
    ///
    /// @return this descriptor
    public OpenDescriptor heldWhileWatched() {
        heldWhileWatched = true;
        return this;
    }

    boolean isHeldWhileWatched() {
        return heldWhileWatched;
    }

    FdLifetime lifetime() {
        return lifetime;
    }

    /// Makes a call with the bare number, which is not given back meanwhile.
    ///
    /// @return what the call returned
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
        try {
            lifetime.makeNonBlocking();
            return this;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public int read(ByteBuffer buffer) {
        try {
            return lifetime.read(buffer);
        } finally {
            Reference.reachabilityFence(
                    this); // Or it might be reclaimed in the middle of the call.
        }
    }

    @Override
    public int write(ByteBuffer buffer) {
        try {
            return lifetime.write(buffer);
        } finally {
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
