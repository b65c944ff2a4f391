package dev.gyre.internal.sys;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/// A terminal's settings as libc keeps them, never looked into.
public final class TerminalSettings {
    /// `struct termios` is 60 bytes with glibc and musl; more does no harm.
    private static final int ROOM_BYTES = 256;

    private final MemorySegment memory = Memory.allocate(ROOM_BYTES);

    /// Fills in those of a terminal.
    ///
    /// @return zero or `-errno`
    public int readFrom(Terminals terminals, int fd) {
        try {
            return terminals.tcgetattr(fd, memory.address());
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /// Puts them in force at once. Waiting for output first might last for ever: the user can
    /// hold it up.
    ///
    /// @return zero or `-errno`
    public int writeTo(Terminals terminals, int fd) {
        try {
            int result;
            do {
                result = terminals.tcsetattr(fd, Linux.TCSANOW, memory.address());
            } while (result == -Errno.EINTR);
            return result;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /// A copy, made raw.
    public TerminalSettings raw(Terminals terminals) {
        TerminalSettings copy = new TerminalSettings();
        copy.memory.copyFrom(memory);
        try {
            terminals.cfmakeraw(copy.memory.address());
        } finally {
            Reference.reachabilityFence(copy);
        }
        return copy;
    }
}
