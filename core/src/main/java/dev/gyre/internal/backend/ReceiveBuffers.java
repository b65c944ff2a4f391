package dev.gyre.internal.backend;

import dev.gyre.internal.sys.Memory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/// The buffers that a loop's RECEIVEs are filled into: a descriptor has one only while bytes are in it, so
/// many idle connections share few. One piece of memory, cut into equal parts that go by number.
///
/// Loop thread only.
public final class ReceiveBuffers {
    private final int count;
    private final int size;

    /// Taken when first asked for: most loops receive nothing.
    private @Nullable MemorySegment memory;

    /// The numbers of those that are free, as a stack: the one used last is the one still in the cache.
    private int[] free = {};

    private int top;

    public ReceiveBuffers(int count, int size) {
        this.count = count;
        this.size = size;
        top = count;
    }

    private MemorySegment memory() {
        MemorySegment known = memory;
        if (known == null) {
            known = Memory.allocate((long) count * size);
            memory = known;
            free = new int[count];
            for (int i = 0; i < count; i++) {
                free[i] = count - 1 - i;
            }
        }
        return known;
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
    public MemorySegment memory(int buffer) {
        return memory().asSlice((long) buffer * size, size);
    }

    public long address(int buffer) {
        return memory().address() + (long) buffer * size;
    }

    /// Takes a free one.
    ///
    /// @return its number, or -1 if there is none
    public int take() {
        memory();
        return top == 0 ? -1 : free[--top];
    }

    /// For a kernel that chooses by itself: it has chosen one. Who uses this never calls [#take()],
    /// unless after [#freeAllBut].
    public void chosen() {
        assert top > 0 : "more buffers go out than there are";
        top--;
    }

    /// The kernel does not choose any more. It did so without saying which are left, so that is said here.
    ///
    /// @param out those that did not come back yet
    public void freeAllBut(boolean[] out) {
        memory();
        top = 0;
        for (int i = count - 1; i >= 0; i--) {
            if (!out[i]) {
                free[top++] = i;
            }
        }
    }

    public void give(int buffer) {
        assert top < count : "more buffers come back than went out";
        free[top++] = buffer;
    }
}
