package dev.gyre.internal.backend;

import dev.gyre.internal.backend.DescriptorState.EventReader;

import org.jspecify.annotations.Nullable;

/// Descriptor states that are used again: connections come and go, and each needs one.
///
/// Loop thread only.
public final class DescriptorPool {
    /// More than this are left to the garbage collector.
    private static final int MOST = 1 << 16;

    private final EventReader reader;
    private @Nullable DescriptorState free;
    private int size;

    public DescriptorPool(EventReader reader, int preallocated) {
        this.reader = reader;
        for (int i = 0; i < preallocated; i++) {
            give(new DescriptorState(reader));
        }
    }

    public DescriptorState take(int fd, int traits) {
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
    public void giveIfUnused(DescriptorState descriptor) {
        if (descriptor.released != null
                && descriptor.inFlight == 0
                && descriptor.isIdle()
                && !descriptor.dirty
                && !descriptor.starving) {
            give(descriptor);
        }
    }

    private void give(DescriptorState descriptor) {
        if (size < MOST) {
            descriptor.nextFree = free;
            free = descriptor;
            size++;
        }
    }
}
