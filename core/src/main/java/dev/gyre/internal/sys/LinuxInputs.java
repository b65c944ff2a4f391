package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.longFunction;
import static dev.gyre.internal.sys.Linkage.variadicInt;
import static dev.gyre.internal.sys.Linkage.variadicLong;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The real calls, through libc.
public final class LinuxInputs implements Inputs {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final class Open {
        static final CFunction CALL = variadicInt("open", 2);
    }

    private static final class Statx {
        static final CFunction CALL = variadicLong("syscall", 1);
    }

    private static final class Sockets {
        static final CFunction RECV = longFunction("recv");
    }

    @Override
    public int open(String path, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(path);
            return (int) Open.CALL.call(captured, name.address(), flags, 0);
        }
    }

    @Override
    public int statx(int fd, int mask, long statxAddress) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment noName = arena.allocateFrom("");
            return (int)
                    Statx.CALL.call(
                            captured,
                            Linux.SYS_statx,
                            fd,
                            noName.address(),
                            Linux.AT_EMPTY_PATH,
                            mask,
                            statxAddress);
        }
    }

    @Override
    public long recv(int fd, long address, long count, int flags) {
        return Sockets.RECV.call(captured, fd, address, count, flags);
    }
}
