package dev.gyre.internal.backend;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.MappedMemory;
import dev.gyre.internal.sys.MemoryCalls;
import dev.gyre.internal.sys.NativeBytes;

/// The buffers that the RECEIVEs of a loop fill. A descriptor holds one only while it has bytes, so
/// that many idle connections share few. One mapping, divided into equal parts that are numbered.
///
/// Loop thread only.
public final class ReceiveBuffers {
    private final int count;
    private final int size;

    /// Mapped when the loop opens, so that a receive never fails for lack of memory. The kernel
    /// backs a page on first use, so that idle loops cost nothing.
    private final MappedMemory memory;

    /// The numbers of free buffers, as a stack: the last one used is still in the cache.
    private final int[] free;

    private int top;
    private boolean abandoned;

    /// @throws SystemCallException if the system has no memory for them
    public ReceiveBuffers(MemoryCalls calls, int count, int size) {
        this.count = count;
        this.size = size;
        free = new int[count];
        for (int i = 0; i < count; i++) {
            free[i] = count - 1 - i;
        }
        top = count;
        long pages = Math.ceilDiv((long) count * size, MappedMemory.PAGE_BYTES);
        long bytes = pages * MappedMemory.PAGE_BYTES;
        MappedMemory mapped = MappedMemory.map(calls, bytes);
        if (mapped == null) {
            throw new SystemCallException(
                    "mmap of " + bytes + " bytes (LoopConfig.withReceiveBuffers)",
                    Errno.ENOMEM,
                    SystemCallException.NO_FD);
        }
        memory = mapped;
    }

    public int count() {
        return count;
    }

    public int size() {
        return size;
    }

    public int available() {
        return top;
    }

    public NativeBytes memory(int buffer) {
        return memory.bytes().part((long) buffer * size, size);
    }

    public long address(int buffer) {
        return memory.bytes().address() + (long) buffer * size;
    }

    /// Returns the number of a free buffer, or -1 if none is free.
    public int acquire() {
        return top == 0 ? -1 : free[--top];
    }

    /// Records that the kernel has chosen a buffer itself. A backend that uses this calls
    /// [#acquire()] only after [#reclaimAllExcept].
    public void acquiredByKernel() {
        assert top > 0 : "more buffers are acquired than exist";
        top--;
    }

    /// Rebuilds the free list once the kernel no longer chooses. It did not report which buffers
    /// are left.
    ///
    /// @param inUse the buffers that are not released yet
    public void reclaimAllExcept(boolean[] inUse) {
        top = 0;
        for (int i = count - 1; i >= 0; i--) {
            if (!inUse[i]) {
                free[top++] = i;
            }
        }
    }

    public void release(int buffer) {
        assert top < count : "more buffers are released than were acquired";
        free[top++] = buffer;
    }

    /// Leaves the buffers to the garbage collector: the kernel may still write to them and no
    /// longer reports completions.
    public void abandon() {
        abandoned = true;
    }

    /// Frees the memory. If user code still holds a buffer, the garbage collector frees it later.
    public void close() {
        if (top == count && !abandoned) {
            boolean _ = memory.free();
        }
    }
}
