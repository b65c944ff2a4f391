package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linkage.intFunction;
import static dev.gyre.internal.sys.Linkage.longFunction;
import static dev.gyre.internal.sys.Linkage.variadicLong;

import java.lang.foreign.MemorySegment;

/// The real calls. C libraries have no functions for io_uring, so `syscall` makes them by number.
public final class LinuxUringCalls implements UringCalls {
    // Confined to the thread that uses this instance.
    private final MemorySegment captured = Linkage.newCapture();

    private static final class Numbered {
        static final CFunction SYSCALL = variadicLong("syscall", 1);
    }

    private static final class Polling {
        static final CFunction POLL = intFunction("poll");
    }

    private static final class Mappings {
        static final CFunction MMAP = longFunction("mmap");
        static final CFunction MUNMAP = intFunction("munmap");
        static final CFunction MADVISE = intFunction("madvise");
    }

    @Override
    public int setup(int entries, long paramsAddress) {
        return (int)
                Numbered.SYSCALL.call(
                        captured, IoUringAbi.SYS_io_uring_setup, entries, paramsAddress);
    }

    @Override
    public int enter(
            int fd, int toSubmit, int minComplete, int flags, long argAddress, long argSize) {
        return (int)
                Numbered.SYSCALL.call(
                        captured,
                        IoUringAbi.SYS_io_uring_enter,
                        fd,
                        toSubmit,
                        minComplete,
                        flags,
                        argAddress,
                        argSize);
    }

    @Override
    public int register(int fd, int opcode, long argAddress, int count) {
        return (int)
                Numbered.SYSCALL.call(
                        captured, IoUringAbi.SYS_io_uring_register, fd, opcode, argAddress, count);
    }

    @Override
    public int poll(long pollfdsAddress, int count) {
        return (int) Polling.POLL.call(captured, pollfdsAddress, count, 0);
    }

    @Override
    public long mmap(long length, int fd, long offset) {
        return Mappings.MMAP.call(
                captured,
                0,
                length,
                IoUringAbi.PROT_READ | IoUringAbi.PROT_WRITE,
                IoUringAbi.MAP_SHARED | IoUringAbi.MAP_POPULATE,
                fd,
                offset);
    }

    @Override
    public int munmap(long address, long length) {
        return (int) Mappings.MUNMAP.call(captured, address, length);
    }

    @Override
    public int madvise(long address, long length, int advice) {
        return (int) Mappings.MADVISE.call(captured, address, length, advice);
    }
}
