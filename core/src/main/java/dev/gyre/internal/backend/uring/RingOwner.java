package dev.gyre.internal.backend.uring;

import org.jspecify.annotations.Nullable;

import java.util.function.Supplier;

/// Whose the ring is.
///
/// A ring belongs to the thread that enabled it; the kernel refuses all others. A loop, though, may be
/// run by one thread and then by another, and be set up and closed by a third. So a thread that comes to a
/// ring of another's makes a new one. Between two runs nobody is the owner, and whoever holds the lock
/// may do what the thread that enabled it might: use it if that is him, or let it go.
///
/// Everything under the lock, but for the owner's own use of it.
final class RingOwner {
    private final Supplier<Ring> rings;

    // Shared: written under the lock, read by the owner without, and while there is none, under it.
    private @Nullable Ring ring;
    private @Nullable SqeWriter entries;
    private @Nullable Thread enabledBy;
    private volatile @Nullable Thread owner;

    /// Begins with a ring that nobody has enabled yet.
    RingOwner(Supplier<Ring> rings, Ring first) {
        this.rings = rings;
        this.ring = first;
    }

    /// Whether the calling thread is the owner. Any thread, without the lock.
    boolean isMine() {
        return isCurrent(owner);
    }

    boolean isFree() {
        return owner == null;
    }

    /// Whether the calling thread may enter the ring.
    boolean isEnabledHere() {
        return ring != null && isCurrent(enabledBy);
    }

    /// Whether there is a ring, and another thread's.
    boolean isForeign() {
        return enabledBy != null && !isCurrent(enabledBy);
    }

    @Nullable Ring ring() {
        return ring;
    }

    SqeWriter entries() {
        SqeWriter current = entries;
        assert current != null : "no ring, or not enabled";
        return current;
    }

    /// Makes the calling thread the owner.
    ///
    /// @throws dev.gyre.SystemCallException if the kernel refuses it a ring
    void takeOver() {
        assert !isForeign() : "enabled by " + enabledBy;
        Ring own = ring;
        if (own == null) {
            own = rings.get();
            ring = own;
        }
        if (enabledBy == null) {
            own.enable();
            enabledBy = Thread.currentThread();
            entries = new SqeWriter(own);
        }
        owner = Thread.currentThread();
    }

    /// The calling thread is no longer the owner; the ring stays.
    void leave() {
        Ring own = ring;
        if (own != null) {
            own.unregisterDescriptor();
        }
        owner = null;
    }

    /// Lets the ring go, and with it all that is in flight.
    void drop() {
        Ring own = ring;
        if (own == null) {
            return;
        }
        if (isCurrent(enabledBy)) {
            own.unregisterDescriptor();
        }
        ring = null;
        entries = null;
        enabledBy = null;
        owner = null;
        own.close();
    }

    @SuppressWarnings("ReferenceEquality") // a thread is only itself
    private static boolean isCurrent(@Nullable Thread thread) {
        return thread == Thread.currentThread();
    }
}
