package dev.gyre.internal.backend;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.MappedMemory;
import dev.gyre.internal.sys.MemoryCalls;
import dev.gyre.internal.sys.NativeBytes;

/// The buffers that a loop's RECEIVEs are filled into: a descriptor has one only while bytes are in it, so
/// many idle connections share few. One piece of memory, cut into equal parts that go by number.
///
/// Loop thread only.
public final class ReceiveBuffers {
    private final int count;
    private final int size;

    /// Mapped when the loop opens, so that a receive never fails for lack of memory. The kernel
    /// backs a page when it is first used, so idle loops cost nothing.
    private final MappedMemory memory;

    /// The numbers of those that are free, as a stack: the one used last is the one still in the cache.
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
        long bytes = roundUp((long) count * size, MappedMemory.PAGE_BYTES);
        MappedMemory mapped = MappedMemory.map(calls, bytes);
        if (mapped == null) {
            throw new SystemCallException(
                    "mmap of " + bytes + " bytes (LoopConfig.withReceiveBuffers)",
                    Errno.ENOMEM,
                    SystemCallException.NO_FD);
        }
        memory = mapped;
    }

    private static long roundUp(long bytes, int multiple) {
        return (bytes + multiple - 1) / multiple * multiple;
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

    /// The memory of one, for whoever shows it to users.
    public NativeBytes memory(int buffer) {
        return memory.bytes().part((long) buffer * size, size);
    }

    public long address(int buffer) {
        return memory.bytes().address() + (long) buffer * size;
    }

    /// Takes a free one.
    ///
    /// @return its number, or -1 if there is none
    public int acquire() {
        return top == 0 ? -1 : free[--top];
    }

    /// For a kernel that chooses by itself: it has chosen one. Who uses this never calls [#take()],
    /// unless after [#freeAllBut].
    public void acquiredByKernel() {
        assert top > 0 : "more buffers go out than there are";
        top--;
    }

    /// The kernel does not choose any more. It did so without saying which are left, so that is said here.
    ///
    /// @param out those that did not come back yet
    public void reclaimAllExcept(boolean[] out) {
        top = 0;
        for (int i = count - 1; i >= 0; i--) {
            if (!out[i]) {
                free[top++] = i;
            }
        }
    }

    public void release(int buffer) {
        assert top < count : "more buffers come back than went out";
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
