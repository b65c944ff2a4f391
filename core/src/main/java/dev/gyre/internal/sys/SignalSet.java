package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// A `sigset_t` in native memory, seen as the kernel does: bit `n - 1` for signal `n`.
public final class SignalSet {
    private final MemorySegment memory = Memory.allocate(Linux.SIZEOF_SIGSET);

    public SignalSet(long bits) {
        Memory.putLong(memory.address(), bits);
    }

    public long address() {
        return memory.address();
    }

    public long bits() {
        return memory.get(JAVA_LONG_UNALIGNED, 0);
    }
}
