package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;

/// Room for the two descriptors that some calls return. Reading them afterwards keeps the memory alive through
/// the call that was given its address.
public final class FdPair {
    private final MemorySegment memory = Memory.allocate(2 * Integer.BYTES);

    public long address() {
        return memory.address();
    }

    public int first() {
        return memory.get(JAVA_INT, 0);
    }

    public int second() {
        return memory.get(JAVA_INT, Integer.BYTES);
    }
}
