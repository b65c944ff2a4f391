package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/// Room for a terminal's size.
public final class WindowSize {
    private static final int SHORT_MASK = 0xFFFF;

    private final MemorySegment memory = Memory.allocate(Linux.SIZEOF_WINSIZE);

    /// Fills it in.
    ///
    /// @return zero or `-errno`
    public int readFrom(Terminals terminals, int fd) {
        try {
            return terminals.windowSize(fd, memory.address());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    public int rows() {
        return memory.get(JAVA_INT_UNALIGNED, 0) & SHORT_MASK;
    }

    public int columns() {
        return memory.get(JAVA_INT_UNALIGNED, Linux.OFFSETOF_WINSIZE_COLUMNS) & SHORT_MASK;
    }
}
