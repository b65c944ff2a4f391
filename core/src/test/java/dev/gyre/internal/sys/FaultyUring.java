package dev.gyre.internal.sys;

import dev.gyre.internal.sys.FaultyKernel.Plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/// The real io_uring with faults put in between: calls go by the names `io_uring_setup`,
/// `io_uring_enter`, `io_uring_register`, `mmap`, `munmap` and `madvise` in the [Plan].
public class FaultyUring implements UringCalls {
    private final UringCalls real = new LinuxUringCalls();
    private final Plan plan;

    // Shared: guarded by this.
    private final Map<Long, Long> mapped = new HashMap<>();
    private final List<Integer> setupFlags = new ArrayList<>();
    private final List<Long> timeoutsNanos = new ArrayList<>();
    private final AtomicInteger submitted = new AtomicInteger();
    private int refusedFlags;
    private int hiddenFeatures;

    public FaultyUring(Plan plan) {
        this.plan = plan;
    }

    /// Answers EINVAL to a set-up with any of these flags, as an older kernel does.
    public synchronized FaultyUring withoutFlags(int flags) {
        refusedFlags = flags;
        return this;
    }

    /// Pretends not to have these features, as an older kernel does.
    public synchronized FaultyUring withoutFeatures(int features) {
        hiddenFeatures = features;
        return this;
    }

    /// The mappings that were made and not given back.
    public synchronized Map<Long, Long> mapped() {
        return Map.copyOf(mapped);
    }

    /// The flags of each set-up that reached the kernel.
    public synchronized List<Integer> setupFlags() {
        return List.copyOf(setupFlags);
    }

    /// The timeouts that `io_uring_enter` was called with, in order.
    public synchronized List<Long> timeoutsNanos() {
        return List.copyOf(timeoutsNanos);
    }

    public int submitted() {
        return submitted.get();
    }

    private long call(String name, int fd, LongSupplier really) {
        LongSupplier fault = plan.next(name, fd);
        return fault == null ? really.getAsLong() : fault.getAsLong();
    }

    @Override
    public synchronized int setup(int entries, long paramsAddress) {
        int flags = Memory.getInt(paramsAddress + IoUring.OFFSETOF_IO_URING_PARAMS_FLAGS);
        if ((flags & refusedFlags) != 0) {
            return -Errno.EINVAL;
        }
        setupFlags.add(flags);
        int fd = (int) call("io_uring_setup", -1, () -> real.setup(entries, paramsAddress));
        long features = paramsAddress + IoUring.OFFSETOF_IO_URING_PARAMS_FEATURES;
        Memory.putInt(features, Memory.getInt(features) & ~hiddenFeatures);
        return plan.opened(fd);
    }

    @Override
    public int enter(
            int fd, int toSubmit, int minComplete, int flags, long argAddress, long argSize) {
        if (argSize != 0) {
            long timespec = Memory.getLong(argAddress + IoUring.OFFSETOF_IO_URING_GETEVENTS_ARG_TS);
            sawTimeout(
                    Memory.getLong(timespec) * 1_000_000_000
                            + Memory.getLong(timespec + Linux.OFFSETOF_TIMESPEC_NANOS));
        }
        int result =
                (int)
                        call(
                                "io_uring_enter",
                                fd,
                                () ->
                                        real.enter(
                                                fd,
                                                toSubmit,
                                                minComplete,
                                                flags,
                                                argAddress,
                                                argSize));
        if (result > 0) {
            submitted.addAndGet(result);
        }
        return result;
    }

    private synchronized void sawTimeout(long nanos) {
        timeoutsNanos.add(nanos);
    }

    @Override
    public int register(int fd, int opcode, long argAddress, int count) {
        return (int)
                call(
                        "io_uring_register",
                        opcode,
                        () -> real.register(fd, opcode, argAddress, count));
    }

    @Override
    public synchronized long mmap(long length, int fd, long offset) {
        long address = call("mmap", fd, () -> real.mmap(length, fd, offset));
        if (address > 0) {
            mapped.put(address, length);
        }
        return address;
    }

    @Override
    public synchronized int munmap(long address, long length) {
        Long known = mapped.remove(address);
        if (known == null || known != length) {
            throw new AssertionError("munmap of what is not mapped: " + address + " " + length);
        }
        return (int) call("munmap", -1, () -> real.munmap(address, length));
    }

    @Override
    public int madvise(long address, long length, int advice) {
        return (int) call("madvise", -1, () -> real.madvise(address, length, advice));
    }
}
