package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.intFunction;
import static dev.gyre.internal.sys.Linkage.longFunction;
import static dev.gyre.internal.sys.Linkage.variadicInt;
import static dev.gyre.internal.sys.Linkage.variadicLong;

import java.lang.foreign.MemorySegment;

/// The real file calls, through libc; linked when first used, as in [LinuxPollSyscalls].
public final class LinuxFileCalls implements FileCalls {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final class Open {
        static final CFunction CALL = variadicInt("open", 2);
    }

    private static final class Statx {
        static final CFunction CALL = variadicLong("syscall", 1);
    }

    private static final class Calls {
        static final CFunction PREAD = longFunction("pread");
        static final CFunction PWRITE = longFunction("pwrite");
        static final CFunction FSYNC = intFunction("fsync");
        static final CFunction FDATASYNC = intFunction("fdatasync");
        static final CFunction CLOSE = intFunction("close");
    }

    @Override
    public int open(long pathAddress, int flags, int mode) {
        return (int) Open.CALL.call(captured, pathAddress, flags, mode);
    }

    @Override
    public int statx(int fd, long pathAddress, int flags, int mask, long statxAddress) {
        return (int)
                Statx.CALL.call(
                        captured, Linux.SYS_statx, fd, pathAddress, flags, mask, statxAddress);
    }

    @Override
    public long pread(int fd, long address, long count, long offset) {
        return Calls.PREAD.call(captured, fd, address, count, offset);
    }

    @Override
    public long pwrite(int fd, long address, long count, long offset) {
        return Calls.PWRITE.call(captured, fd, address, count, offset);
    }

    @Override
    public int fsync(int fd) {
        return (int) Calls.FSYNC.call(captured, fd);
    }

    @Override
    public int fdatasync(int fd) {
        return (int) Calls.FDATASYNC.call(captured, fd);
    }

    @Override
    public int close(int fd) {
        return (int) Calls.CLOSE.call(captured, fd);
    }
}
