package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.link;
import static dev.gyre.internal.sys.Linkage.linkVariadic;
import static dev.gyre.internal.sys.Linkage.unexpected;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The real file calls, through libc; linked when first used, as in [LinuxKernel].
public final class LinuxFileCalls implements FileCalls {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final class Open {
        static final MethodHandle CALL =
                linkVariadic("open", JAVA_INT, 2, JAVA_LONG, JAVA_INT, JAVA_INT);
    }

    private static final class Statx {
        static final MethodHandle CALL =
                linkVariadic(
                        "syscall", JAVA_LONG, 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                        JAVA_LONG, JAVA_LONG);
    }

    private static final class Calls {
        static final MethodHandle PREAD =
                link("pread", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        static final MethodHandle PWRITE =
                link("pwrite", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
        static final MethodHandle FSYNC = link("fsync", JAVA_INT, JAVA_INT);
        static final MethodHandle FDATASYNC = link("fdatasync", JAVA_INT, JAVA_INT);
        static final MethodHandle CLOSE = link("close", JAVA_INT, JAVA_INT);
    }

    @Override
    public int open(long pathAddress, int flags, int mode) {
        try {
            return result((int) Open.CALL.invokeExact(captured, pathAddress, flags, mode));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int statx(int fd, long pathAddress, int flags, int mask, long statxAddress) {
        try {
            return (int)
                    result(
                            (long)
                                    Statx.CALL.invokeExact(
                                            captured,
                                            (long) Linux.SYS_statx,
                                            (long) fd,
                                            pathAddress,
                                            (long) flags,
                                            (long) mask,
                                            statxAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long pread(int fd, long address, long count, long offset) {
        try {
            return result((long) Calls.PREAD.invokeExact(captured, fd, address, count, offset));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long pwrite(int fd, long address, long count, long offset) {
        try {
            return result((long) Calls.PWRITE.invokeExact(captured, fd, address, count, offset));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int fsync(int fd) {
        try {
            return result((int) Calls.FSYNC.invokeExact(captured, fd));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int fdatasync(int fd) {
        try {
            return result((int) Calls.FDATASYNC.invokeExact(captured, fd));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int close(int fd) {
        try {
            return result((int) Calls.CLOSE.invokeExact(captured, fd));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private int result(int returned) {
        return Linkage.result(captured, returned);
    }

    private long result(long returned) {
        return Linkage.result(captured, returned);
    }
}
