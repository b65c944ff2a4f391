package dev.gyre.internal.backend;

import dev.gyre.internal.backend.DescriptorState.EventReader;

import org.jspecify.annotations.Nullable;

/// Reuses the states of closed descriptors, because each connection needs one.
///
/// Loop thread only.
public final class DescriptorPool {
    /// Further states are left to the garbage collector.
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
        DescriptorState acquired = free;
        if (acquired == null) {
            acquired = new DescriptorState(reader);
        } else {
            free = acquired.nextFree;
            acquired.nextFree = null;
            size--;
        }
        acquired.open(fd, traits);
        return acquired;
    }

    /// Releases the state of a closed descriptor once nothing refers to it.
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
