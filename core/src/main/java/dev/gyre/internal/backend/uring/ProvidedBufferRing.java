package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.ReceiveBuffers;
import dev.gyre.internal.sys.IoUringAbi;
import dev.gyre.internal.sys.Memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The receive buffers of the loop as a provided buffer ring. The kernel selects a buffer from its
/// head when bytes arrive, and released buffers are appended at its tail.
///
/// A buffer is in the ring, or lent to user code. The flags here tell which, so that a new ring
/// gets exactly the buffers that are not lent.
///
/// Loop thread only.
final class ProvidedBufferRing {
    /// The only buffer group.
    static final int GROUP = 0;

    private static final int PAGE_BYTES = 4096;

    private final Ring ring;
    private final ReceiveBuffers buffers;
    private final KernelFeatures features;
    private final boolean[] lent;
    private int tail;

    /// The entries. Allocated by the first [#register], because most loops never receive.
    private MemorySegment memory = MemorySegment.NULL;

    /// Whether the current ring has the buffers.
    private boolean registered;

    ProvidedBufferRing(Ring ring, ReceiveBuffers buffers, KernelFeatures features) {
        this.ring = ring;
        this.buffers = buffers;
        this.features = features;
        lent = new boolean[buffers.count()];
    }

    /// Registers the buffers with the current ring, once. If the kernel refuses, RECEIVE is
    /// emulated from then on.
    void register() {
        if (registered || !features.selectsBuffers()) {
            return;
        }
        if (memory.address() == 0) {
            long bytes = (long) buffers.count() * IoUringAbi.SIZEOF_IO_URING_BUF;
            memory = Arena.ofAuto().allocate(bytes, PAGE_BYTES);
        }
        tail = 0;
        for (int i = 0; i < lent.length; i++) {
            if (!lent[i]) {
                add(i);
            }
        }
        publish();
        if (ring.registerBufferRing(memory.address(), buffers.count(), GROUP) >= 0) {
            registered = true;
        } else {
            // Before 5.19, or out of memory. Buffers lent from an earlier ring are not free yet.
            features.onBufferRingRefused();
            buffers.reclaimAllExcept(lent);
        }
    }

    void onSelected(int buffer) {
        assert !lent[buffer] : "selected twice: " + buffer;
        lent[buffer] = true;
        buffers.acquiredByKernel();
    }

    /// Makes a buffer available again.
    void release(int buffer) {
        if (features.selectsBuffers()) {
            assert lent[buffer] : "released twice: " + buffer;
            lent[buffer] = false;
            if (registered) {
                add(buffer);
                publish();
            }
        }
        buffers.release(buffer);
    }

    void onRingClosed() {
        registered = false;
    }

    private void add(int buffer) {
        int position = tail & (buffers.count() - 1);
        long entry = memory.address() + (long) position * IoUringAbi.SIZEOF_IO_URING_BUF;
        Memory.putLong(entry, buffers.address(buffer));
        Memory.putInt(entry + IoUringAbi.OFFSETOF_IO_URING_BUF_LEN, buffers.size());
        Memory.putShort(entry + IoUringAbi.OFFSETOF_IO_URING_BUF_BID, buffer);
        tail++;
    }

    private void publish() {
        // Release: pairs with the kernel's acquire before it reads the entries.
        Memory.putShortRelease(memory.address() + IoUringAbi.OFFSETOF_IO_URING_BUF_RING_TAIL, tail);
    }
}
