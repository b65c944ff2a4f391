package dev.gyre.internal.sys;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/// The settings of a terminal, an opaque `struct termios` of libc.
public final class TerminalSettings {
    /// Larger than `struct termios`, which has 60 bytes in glibc and musl.
    private static final int TERMIOS_BYTES = 256;

    private static final int SHORT_MASK = 0xFFFF;

    private final MemorySegment memory = Memory.allocate(TERMIOS_BYTES);

    /// The size of a terminal in characters; zeros if unknown.
    public record WindowSize(int columns, int rows) {}

    public static WindowSize windowSize(FileCalls calls, int fd) {
        MemorySegment winsize = Memory.allocate(Linux.SIZEOF_WINSIZE);
        // Reading the segment keeps it alive during the call.
        return calls.windowSize(fd, winsize.address()) < 0
                ? new WindowSize(0, 0)
                : new WindowSize(
                        winsize.get(JAVA_SHORT, Linux.OFFSETOF_WINSIZE_COLUMNS) & SHORT_MASK,
                        winsize.get(JAVA_SHORT, 0) & SHORT_MASK);
    }

    /// Returns zero or `-errno`.
    public int readFrom(FileCalls calls, int fd) {
        try {
            return calls.tcgetattr(fd, memory.address());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /// Applies the settings at once. Draining the output first could block forever, since the user
    /// can suspend it.
    ///
    /// @return zero or `-errno`
    public int writeTo(FileCalls calls, int fd) {
        try {
            int result;
            do {
                result = calls.tcsetattr(fd, Linux.TCSANOW, memory.address());
            } while (result == -Errno.EINTR);
            return result;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /// Returns a copy in raw mode.
    public TerminalSettings raw(FileCalls calls) {
        TerminalSettings copy = new TerminalSettings();
        copy.memory.copyFrom(memory);
        try {
            calls.cfmakeraw(copy.memory.address());
        } finally {
            Reference.reachabilityFence(copy);
        }
        return copy;
    }
}
