package dev.gyre.internal.sys;

import dev.gyre.internal.sys.FaultyKernel.Plan;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/// The real io_uring with fault injection. The [Plan] names the calls `io_uring_setup`,
/// `io_uring_enter`, `io_uring_register`, `poll`, `mmap`, `munmap` and `madvise`.
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

    // Shared: written before the first ring is opened, read by any thread.
    private final Map<Integer, Submissions> queues = new ConcurrentHashMap<>();
    private volatile long hiddenOpcodes;
    private volatile boolean refusesAcceptMultishot;
    private volatile boolean refusesReceiveMultishot;
    private volatile boolean refusesBufferRings;

    // Shared: written by threads that enter a ring.
    private final AtomicInteger refused = new AtomicInteger();

    // Shared: set before the first ring is opened, counted by threads that enter a ring.
    private volatile int countedErrno;
    private final AtomicInteger counted = new AtomicInteger();

    /// The addresses of the queues of a ring.
    private static final class Submissions {
        final int entries;
        final int head;
        final int tail;
        final int completionEntries;
        final int completionTail;
        final int completions;
        volatile long rings;
        volatile long first;

        /// The index up to which CQEs were counted.
        volatile int counted;

        Submissions(long params) {
            entries = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_SQ_ENTRIES);
            head = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_SQ_HEAD);
            tail = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_SQ_TAIL);
            completionEntries =
                    Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_CQ_ENTRIES);
            completionTail = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_CQ_TAIL);
            completions = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_CQ_CQES);
        }
    }

    public FaultyUring(Plan plan) {
        this.plan = plan;
    }

    /// Fails a set-up with any of these flags with EINVAL, like an older kernel.
    public synchronized FaultyUring withoutFlags(int flags) {
        refusedFlags = flags;
        return this;
    }

    /// Hides these features, like an older kernel.
    public synchronized FaultyUring withoutFeatures(int features) {
        hiddenFeatures = features;
        return this;
    }

    /// Hides these opcodes from the probe, and fails their SQEs.
    public FaultyUring withoutOpcodes(int... opcodes) {
        for (int opcode : opcodes) {
            hiddenOpcodes |= 1L << opcode;
        }
        return this;
    }

    /// Hides all opcodes except these.
    public FaultyUring withOnlyOpcodes(int... opcodes) {
        long shown = 0;
        for (int opcode : opcodes) {
            shown |= 1L << opcode;
        }
        hiddenOpcodes = ~shown;
        return this;
    }

    /// Fails each multishot accept with EINVAL, like kernels before 5.19.
    public FaultyUring withoutAcceptMultishot() {
        refusesAcceptMultishot = true;
        return this;
    }

    /// Fails each multishot receive with EINVAL, like kernels before 6.0.
    public FaultyUring withoutReceiveMultishot() {
        refusesReceiveMultishot = true;
        return this;
    }

    /// Fails the registration of provided buffer rings with EINVAL, like kernels before 5.19.
    public FaultyUring withoutBufferRings() {
        refusesBufferRings = true;
        return this;
    }

    /// Counts CQEs with this error: see [#countedCompletions()].
    public FaultyUring countCompletions(int errno) {
        countedErrno = errno;
        return this;
    }

    /// Returns the number of CQEs with the error of [#countCompletions].
    public int countedCompletions() {
        return counted.get();
    }

    private void countCompletions(Submissions queue) {
        int tail = Memory.getIntAcquire(queue.rings + queue.completionTail);
        for (int i = queue.counted; i != tail; i++) {
            int position = i & (queue.completionEntries - 1);
            long completion =
                    queue.rings
                            + queue.completions
                            + (long) position * IoUringAbi.SIZEOF_IO_URING_CQE;
            if (Memory.getInt(completion + IoUringAbi.OFFSETOF_IO_URING_CQE_RES) == -countedErrno) {
                counted.incrementAndGet();
            }
        }
        queue.counted = tail;
    }

    /// Returns the number of SQEs that failed because their opcode or multishot is hidden.
    public int refusedSubmissions() {
        return refused.get();
    }

    private boolean isCrippled() {
        return hiddenOpcodes != 0 || refusesAcceptMultishot || refusesReceiveMultishot;
    }

    /// Returns whether rings are looked up by their descriptor on each call.
    private boolean readsRings() {
        return isCrippled() || countedErrno != 0;
    }

    private Submissions ringOf(int fd) {
        Submissions queue = queues.get(fd);
        if (queue == null) {
            throw new AssertionError("no ring with the descriptor " + fd);
        }
        return queue;
    }

    /// Replaces hidden opcodes by an unknown one, which fails with EINVAL.
    private void spoil(int fd) {
        Submissions queue = ringOf(fd);
        int tail = Memory.getIntAcquire(queue.rings + queue.tail);
        for (int i = Memory.getIntAcquire(queue.rings + queue.head); i != tail; i++) {
            long entry =
                    queue.first + (long) (i & (queue.entries - 1)) * IoUringAbi.SIZEOF_IO_URING_SQE;
            int opcode = Memory.getByte(entry) & 0xFF;
            long priority = entry + IoUringAbi.OFFSETOF_IO_URING_SQE_IOPRIO;
            boolean multishot = Memory.getByte(priority) != 0;
            if (opcode < Long.SIZE && (hiddenOpcodes & (1L << opcode)) != 0) {
                Memory.putByte(entry, 0xFF);
                refused.incrementAndGet();
            } else if (multishot
                    && ((opcode == IoUringAbi.IORING_OP_ACCEPT && refusesAcceptMultishot)
                            || (opcode == IoUringAbi.IORING_OP_RECV && refusesReceiveMultishot))) {
                Memory.putShort(priority, 0xFFFF);
                refused.incrementAndGet();
            }
        }
    }

    private void hide(long probe, int count) {
        for (int opcode = 0; opcode < Math.min(count, Long.SIZE); opcode++) {
            if ((hiddenOpcodes & (1L << opcode)) != 0) {
                Memory.putByte(
                        probe
                                + IoUringAbi.SIZEOF_IO_URING_PROBE
                                + (long) opcode * IoUringAbi.SIZEOF_IO_URING_PROBE_OP
                                + IoUringAbi.OFFSETOF_IO_URING_PROBE_OP_FLAGS,
                        0);
            }
        }
    }

    /// Returns the mappings that were not unmapped.
    public synchronized Map<Long, Long> mapped() {
        return Map.copyOf(mapped);
    }

    /// Returns the flags of each set-up that reached the kernel.
    public synchronized List<Integer> setupFlags() {
        return List.copyOf(setupFlags);
    }

    /// Returns the timeouts of `io_uring_enter` calls, in order.
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
        int flags = Memory.getInt(paramsAddress + IoUringAbi.OFFSETOF_IO_URING_PARAMS_FLAGS);
        if ((flags & refusedFlags) != 0) {
            return -Errno.EINVAL;
        }
        setupFlags.add(flags);
        int fd = (int) call("io_uring_setup", -1, () -> real.setup(entries, paramsAddress));
        long features = paramsAddress + IoUringAbi.OFFSETOF_IO_URING_PARAMS_FEATURES;
        Memory.putInt(features, Memory.getInt(features) & ~hiddenFeatures);
        if (fd >= 0) {
            queues.put(fd, new Submissions(paramsAddress));
        }
        return plan.opened(fd);
    }

    @Override
    public int enter(
            int fd, int toSubmit, int minComplete, int flags, long argAddress, long argSize) {
        if (argSize != 0) {
            long timespec =
                    Memory.getLong(argAddress + IoUringAbi.OFFSETOF_IO_URING_GETEVENTS_ARG_TS);
            sawTimeout(
                    Memory.getLong(timespec) * 1_000_000_000
                            + Memory.getLong(timespec + Linux.OFFSETOF_TIMESPEC_NANOS));
        }
        if (isCrippled()) {
            spoil(fd);
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
        if (countedErrno != 0) {
            countCompletions(ringOf(fd));
        }
        return result;
    }

    private synchronized void sawTimeout(long nanos) {
        timeoutsNanos.add(nanos);
    }

    @Override
    public int register(int fd, int opcode, long argAddress, int count) {
        // A registered descriptor would no longer identify the ring.
        boolean hidden = opcode == IoUringAbi.IORING_REGISTER_RING_FDS && readsRings();
        if (hidden || (opcode == IoUringAbi.IORING_REGISTER_PBUF_RING && refusesBufferRings)) {
            return -Errno.EINVAL;
        }
        int result =
                (int)
                        call(
                                "io_uring_register",
                                opcode,
                                () -> real.register(fd, opcode, argAddress, count));
        if (opcode == IoUringAbi.IORING_REGISTER_PROBE) {
            hide(argAddress, count);
        }
        return result;
    }

    @Override
    public int poll(long pollfdsAddress, int count) {
        return (int) call("poll", -1, () -> real.poll(pollfdsAddress, count));
    }

    @Override
    public synchronized long mmap(long length, int fd, long offset) {
        long address = call("mmap", fd, () -> real.mmap(length, fd, offset));
        if (address > 0) {
            mapped.put(address, length);
            Submissions queue = queues.get(fd);
            if (queue != null && offset == IoUringAbi.IORING_OFF_SQES) {
                queue.first = address;
            } else if (queue != null) {
                queue.rings = address;
            }
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
