package dev.gyre.internal.backend;

import dev.gyre.internal.backend.DescriptorState.EventReader;

import org.jspecify.annotations.Nullable;

/// Descriptor states that are used again: connections come and go, and each needs one.
///
/// Loop thread only.
public final class DescriptorPool {
    /// More than this are left to the garbage collector.
    private static final int MAX_FREE = 1 << 16;

    private final EventReader reader;
    private @Nullable DescriptorState free;
    private int size;

    public DescriptorPool(EventReader reader, int preallocated) {
        this.reader = reader;
        for (int i = 0; i < preallocated; i++) {
            release(new DescriptorState(reader));
        }
    }

    public DescriptorState acquire(int fd, int traits) {
        DescriptorState taken = free;
        if (taken == null) {
            taken = new DescriptorState(reader);
        } else {
            free = taken.nextFree;
            taken.nextFree = null;
            size--;
        }
        taken.open(fd, traits);
        return taken;
    }

    /// Takes one back that is closed, once nothing refers to it any more.
    public void releaseIfUnused(DescriptorState descriptor) {
        if (descriptor.released != null
                && descriptor.inFlight == 0
                && descriptor.isIdle()
                && !descriptor.dirty
                && !descriptor.awaitsBuffer) {
            release(descriptor);
        }
    }

    private void release(DescriptorState descriptor) {
        if (size < MAX_FREE) {
            descriptor.nextFree = free;
            free = descriptor;
            size++;
        }
    }
}
