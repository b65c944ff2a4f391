package dev.gyre.internal.sys;

import dev.gyre.internal.sys.FaultyKernel.Plan;

import java.util.function.LongSupplier;

/// The real file calls with injected faults: any can return any value, by a [Plan] under its name
/// in the manual. Transfers can be cut short by [FaultySockets#atMost]. Subclasses replace inotify
/// or terminals.
public class FaultyFiles implements FileCalls {
    private final FileCalls real = new LinuxFileCalls();
    private final Plan plan;

    public FaultyFiles(Plan plan) {
        this.plan = plan;
    }

    private long call(String name, int fd, LongSupplier really) {
        LongSupplier fault = plan.next(name, fd);
        return fault == null ? really.getAsLong() : fault.getAsLong();
    }

    @Override
    public int open(long pathAddress, int flags, int mode) {
        return plan.opened((int) call("open", -1, () -> real.open(pathAddress, flags, mode)));
    }

    @Override
    public long pread(int fd, long address, long count, long offset) {
        long most = FaultySockets.cut(plan, "pread", fd, count);
        return most < 0 ? most : real.pread(fd, address, most, offset);
    }

    @Override
    public long pwrite(int fd, long address, long count, long offset) {
        long most = FaultySockets.cut(plan, "pwrite", fd, count);
        return most <= 0 ? most : real.pwrite(fd, address, most, offset);
    }

    @Override
    public int fsync(int fd) {
        return (int) call("fsync", fd, () -> real.fsync(fd));
    }

    @Override
    public int fdatasync(int fd) {
        return (int) call("fdatasync", fd, () -> real.fdatasync(fd));
    }

    @Override
    public int statx(int fd, long pathAddress, int flags, int mask, long statxAddress) {
        return (int)
                call("statx", fd, () -> real.statx(fd, pathAddress, flags, mask, statxAddress));
    }

    @Override
    public int close(int fd) {
        plan.closed(fd);
        // An injected result does not keep the number open: Linux frees it even when close fails.
        int result = real.close(fd);
        return (int) call("close(file)", fd, () -> result);
    }

    @Override
    public int inotifyInit1(int flags) {
        return real.inotifyInit1(flags);
    }

    @Override
    public int inotifyAddWatch(int fd, byte[] path, int mask) {
        return real.inotifyAddWatch(fd, path, mask);
    }

    @Override
    public int inotifyRmWatch(int fd, int watch) {
        return real.inotifyRmWatch(fd, watch);
    }

    @Override
    public int tcgetattr(int fd, long termiosAddress) {
        return real.tcgetattr(fd, termiosAddress);
    }

    @Override
    public int tcsetattr(int fd, int when, long termiosAddress) {
        return real.tcsetattr(fd, when, termiosAddress);
    }

    @Override
    public void cfmakeraw(long termiosAddress) {
        real.cfmakeraw(termiosAddress);
    }

    @Override
    public int windowSize(int fd, long winsizeAddress) {
        return real.windowSize(fd, winsizeAddress);
    }
}
