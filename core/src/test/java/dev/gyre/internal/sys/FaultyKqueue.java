package dev.gyre.internal.sys;

import dev.gyre.internal.sys.FaultyKernel.Plan;

import java.util.function.LongSupplier;

/// The calls of kqueue with injected faults, by the plan of a [FaultyKernel]. Calls of `kevent`
/// have two names: `kevent` with changes, and `kevent_wait` without.
public final class FaultyKqueue implements KqueueCalls {
    private final KqueueCalls real;
    private final Plan plan;

    public FaultyKqueue(KqueueCalls real, Plan plan) {
        this.real = real;
        this.plan = plan;
    }

    private long call(String name, int fd, LongSupplier really) {
        LongSupplier fault = plan.next(name, fd);
        return fault == null ? really.getAsLong() : fault.getAsLong();
    }

    @Override
    public int kqueue() {
        return plan.opened((int) call("kqueue", -1, real::kqueue));
    }

    @Override
    public int kevent(
            int kq,
            long changesAddress,
            int changeCount,
            long eventsAddress,
            int maxEvents,
            long timespecAddress) {
        if (timespecAddress != 0) {
            plan.sawTimeout(
                    Memory.getLong(timespecAddress) * 1_000_000_000
                            + Memory.getLong(timespecAddress + Kevent.OFFSETOF_TIMESPEC_NANOS));
        }
        return (int)
                call(
                        changeCount == 0 ? "kevent_wait" : "kevent",
                        kq,
                        () ->
                                real.kevent(
                                        kq,
                                        changesAddress,
                                        changeCount,
                                        eventsAddress,
                                        maxEvents,
                                        timespecAddress));
    }

    @Override
    public int fileType(int fd) {
        return (int) call("fstat", fd, () -> real.fileType(fd));
    }

    @Override
    public int pipe(long pairAddress) {
        int result = (int) call("pipe", -1, () -> real.pipe(pairAddress));
        if (result == 0) {
            plan.opened(Memory.getInt(pairAddress));
            plan.opened(Memory.getInt(pairAddress + Integer.BYTES));
        }
        return result;
    }

    @Override
    public int fcntl(int fd, int command, int argument) {
        return (int) call("fcntl", fd, () -> real.fcntl(fd, command, argument));
    }

    @Override
    public long read(int fd, long address, long count) {
        return call("read", fd, () -> real.read(fd, address, count));
    }

    @Override
    public long write(int fd, long address, long count) {
        return call("write", fd, () -> real.write(fd, address, count));
    }

    @Override
    public int close(int fd) {
        plan.closed(fd);
        // An injected result does not keep the number open.
        int result = real.close(fd);
        return (int) call("close", fd, () -> result);
    }
}
