package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.sys.IoUring;
import dev.gyre.internal.sys.Memory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The loop's receive buffers, given to the kernel to choose from when bytes arrive: it takes them from
/// the front of a ring, and those that come back join the end.
///
/// Each buffer is in the ring or out with whoever was handed it. Which is which is known here, so that a new
/// ring gets exactly those that are not out.
///
/// Loop thread only.
final class ProvidedBufferRing {
    /// The one group of buffers.
    static final int GROUP = 0;

    private static final int PAGE_BYTES = 4096;

    private final ReceiveBuffers buffers;
    private final KernelFeatures repertoire;

    /// Those that users have.
    private boolean[] out = {};

    private @Nullable MemorySegment memory;
    private int tail;

    /// The ring that they are registered with.
    private @Nullable Ring registered;

    ProvidedBufferRing(ReceiveBuffers buffers, KernelFeatures repertoire) {
        this.buffers = buffers;
        this.repertoire = repertoire;
    }

    /// Has the kernel choose buffers, if that was not done yet. If it refuses, they are ours to take.
    @SuppressWarnings("ReferenceEquality") // a ring is only itself
    void register(Ring ring) {
        if (registered == ring || !repertoire.choosesBuffers()) {
            return;
        }
        MemorySegment entries = memory;
        if (entries == null) {
            entries =
                    Arena.ofAuto()
                            .allocate(
                                    (long) buffers.count() * IoUring.SIZEOF_IO_URING_BUF,
                                    PAGE_BYTES);
            memory = entries;
            out = new boolean[buffers.count()];
        }
        tail = 0;
        for (int i = 0; i < out.length; i++) {
            if (!out[i]) {
                add(entries.address(), i);
            }
        }
        publish(entries.address());
        if (ring.registerBuffers(entries.address(), buffers.count(), GROUP) >= 0) {
            registered = ring;
        } else {
            // Before 5.19, or no memory. An earlier ring may have had them: then not all are here.
            repertoire.refusedBuffers();
            buffers.reclaimAllExcept(out);
        }
    }

    /// The kernel has filled this one.
    void chosen(int buffer) {
        assert !out[buffer] : "chosen twice: " + buffer;
        out[buffer] = true;
        buffers.acquiredByKernel();
    }

    void give(int buffer) {
        MemorySegment entries = memory;
        if (entries != null && repertoire.choosesBuffers()) {
            assert out[buffer] : "given back twice: " + buffer;
            out[buffer] = false;
            if (registered != null) {
                add(entries.address(), buffer);
                publish(entries.address());
            }
        }
        buffers.release(buffer);
    }

    /// The ring is gone.
    void lost() {
        registered = null;
    }

    private void add(long entries, int buffer) {
        long entry = entries + (long) (tail & (buffers.count() - 1)) * IoUring.SIZEOF_IO_URING_BUF;
        Memory.putLong(entry, buffers.address(buffer));
        Memory.putInt(entry + IoUring.OFFSETOF_IO_URING_BUF_LEN, buffers.size());
        Memory.putShort(entry + IoUring.OFFSETOF_IO_URING_BUF_BID, buffer);
        tail++;
    }

    private void publish(long entries) {
        // Release: pairs with the kernel's acquire before it reads the entries.
        Memory.putShortRelease(entries + IoUring.OFFSETOF_IO_URING_BUF_RING_TAIL, tail);
    }
}
