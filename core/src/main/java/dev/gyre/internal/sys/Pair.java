package dev.gyre.internal.sys;

import java.lang.foreign.MemorySegment;

/// Room for the two descriptors that some calls return.
public final class Pair {
    private final MemorySegment memory = Memory.allocate(2 * Integer.BYTES);

    public long address() {
        return memory.address();
    }

    public int first() {
        return Memory.getInt(memory.address());
    }

    public int second() {
        return Memory.getInt(memory.address() + Integer.BYTES);
    }
}
