package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.link;
import static dev.gyre.internal.sys.Linkage.linkVariadic;
import static dev.gyre.internal.sys.Linkage.unexpected;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// The real calls. C libraries have no functions for io_uring, so they go by number.
public final class LinuxUringCalls implements UringCalls {
    // One thread at a time: whoever owns this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final class Setup {
        static final MethodHandle CALL =
                linkVariadic("syscall", JAVA_LONG, 1, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    }

    private static final class Enter {
        static final MethodHandle CALL =
                linkVariadic(
                        "syscall", JAVA_LONG, 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                        JAVA_LONG, JAVA_LONG, JAVA_LONG);
    }

    private static final class Register {
        static final MethodHandle CALL =
                linkVariadic(
                        "syscall", JAVA_LONG, 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
                        JAVA_LONG);
    }

    private static final class Mappings {
        static final MethodHandle MMAP =
                link(
                        "mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT,
                        JAVA_LONG);
        static final MethodHandle MUNMAP = link("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
        static final MethodHandle MADVISE =
                link("madvise", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    }

    @Override
    public int setup(int entries, long paramsAddress) {
        try {
            return result(
                    (long)
                            Setup.CALL.invokeExact(
                                    captured,
                                    (long) IoUring.SYS_io_uring_setup,
                                    (long) entries,
                                    paramsAddress));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int enter(
            int fd, int toSubmit, int minComplete, int flags, long argAddress, long argSize) {
        try {
            return result(
                    (long)
                            Enter.CALL.invokeExact(
                                    captured,
                                    (long) IoUring.SYS_io_uring_enter,
                                    (long) fd,
                                    (long) toSubmit,
                                    (long) minComplete,
                                    (long) flags,
                                    argAddress,
                                    argSize));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int register(int fd, int opcode, long argAddress, int count) {
        try {
            return result(
                    (long)
                            Register.CALL.invokeExact(
                                    captured,
                                    (long) IoUring.SYS_io_uring_register,
                                    (long) fd,
                                    (long) opcode,
                                    argAddress,
                                    (long) count));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public long mmap(long length, int fd, long offset) {
        try {
            return Linkage.result(
                    captured,
                    (long)
                            Mappings.MMAP.invokeExact(
                                    captured,
                                    0L,
                                    length,
                                    IoUring.PROT_READ | IoUring.PROT_WRITE,
                                    IoUring.MAP_SHARED | IoUring.MAP_POPULATE,
                                    fd,
                                    offset));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int munmap(long address, long length) {
        try {
            return Linkage.result(
                    captured, (int) Mappings.MUNMAP.invokeExact(captured, address, length));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public int madvise(long address, long length, int advice) {
        try {
            return Linkage.result(
                    captured,
                    (int) Mappings.MADVISE.invokeExact(captured, address, length, advice));
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private int result(long returned) {
        return (int) Linkage.result(captured, returned);
    }
}
