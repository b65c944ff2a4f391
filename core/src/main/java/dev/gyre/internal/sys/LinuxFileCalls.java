package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.intFunction;
import static dev.gyre.internal.sys.Linkage.longFunction;
import static dev.gyre.internal.sys.Linkage.variadicInt;
import static dev.gyre.internal.sys.Linkage.variadicLong;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/// The real file calls, through libc; linked at first use, as in [LinuxPollCalls].
public final class LinuxFileCalls implements FileCalls {
    // One thread at a time: the owner of this instance.
    private final MemorySegment captured = Linkage.newCapture();
    private @Nullable MemorySegment watchedPath;

    private static final class Open {
        static final CFunction CALL = variadicInt("open", 2);
    }

    /// By number, because old versions of libc have no `statx`.
    private static final class Statx {
        static final CFunction CALL = variadicLong("syscall", 1);
    }

    private static final class Files {
        static final CFunction PREAD = longFunction("pread");
        static final CFunction PWRITE = longFunction("pwrite");
        static final CFunction FSYNC = intFunction("fsync");
        static final CFunction FDATASYNC = intFunction("fdatasync");
        static final CFunction CLOSE = intFunction("close");
    }

    private static final class Inotify {
        static final CFunction INIT1 = intFunction("inotify_init1");
        static final CFunction ADD_WATCH = intFunction("inotify_add_watch");
        static final CFunction RM_WATCH = intFunction("inotify_rm_watch");
    }

    /// Through libc, whose `struct termios` differs from the kernel's.
    private static final class Terminals {
        static final CFunction TCGETATTR = intFunction("tcgetattr");
        static final CFunction TCSETATTR = intFunction("tcsetattr");
        static final CFunction CFMAKERAW = intFunction("cfmakeraw");
        static final CFunction IOCTL = variadicInt("ioctl", 2);
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
        return Files.PREAD.call(captured, fd, address, count, offset);
    }

    @Override
    public long pwrite(int fd, long address, long count, long offset) {
        return Files.PWRITE.call(captured, fd, address, count, offset);
    }

    @Override
    public int fsync(int fd) {
        return (int) Files.FSYNC.call(captured, fd);
    }

    @Override
    public int fdatasync(int fd) {
        return (int) Files.FDATASYNC.call(captured, fd);
    }

    @Override
    public int close(int fd) {
        return (int) Files.CLOSE.call(captured, fd);
    }

    @Override
    public int inotifyInit1(int flags) {
        return (int) Inotify.INIT1.call(captured, flags);
    }

    @Override
    public int inotifyAddWatch(int fd, byte[] path, int mask) {
        if (path.length >= Linux.PATH_MAX) {
            return -Errno.ENAMETOOLONG;
        }
        MemorySegment memory = watchedPath;
        if (memory == null) {
            memory = Memory.allocate(Linux.PATH_MAX);
            watchedPath = memory;
        }
        MemorySegment.copy(path, 0, memory, JAVA_BYTE, 0, path.length);
        memory.set(JAVA_BYTE, path.length, (byte) 0);
        return (int) Inotify.ADD_WATCH.call(captured, fd, memory.address(), mask);
    }

    @Override
    public int inotifyRmWatch(int fd, int watch) {
        return (int) Inotify.RM_WATCH.call(captured, fd, watch);
    }

    @Override
    public int tcgetattr(int fd, long termiosAddress) {
        return (int) Terminals.TCGETATTR.call(captured, fd, termiosAddress);
    }

    @Override
    public int tcsetattr(int fd, int when, long termiosAddress) {
        return (int) Terminals.TCSETATTR.call(captured, fd, when, termiosAddress);
    }

    @Override
    public void cfmakeraw(long termiosAddress) {
        long _ = Terminals.CFMAKERAW.call(captured, termiosAddress);
    }

    @Override
    public int windowSize(int fd, long winsizeAddress) {
        return (int) Terminals.IOCTL.call(captured, fd, Linux.TIOCGWINSZ, winsizeAddress);
    }
}
