package dev.gyre.internal.backend.uring;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.IoUringAbi;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.UringCalls;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/// The descriptor of one io_uring instance, and the memory that it shares with the kernel.
///
/// The fields `sqHead` to `cqes` are addresses. The kernel reports their offsets at set-up.
final class RingMemory {
    private record Mapping(long address, long length) {}

    /// Covers every opcode in use, and is within the kernel's limit of 256.
    private static final int MAX_OPCODES = Long.SIZE;

    private static final int SETUP_FLAGS_ALWAYS =
            IoUringAbi.IORING_SETUP_CQSIZE
                    | IoUringAbi.IORING_SETUP_CLAMP
                    | IoUringAbi.IORING_SETUP_R_DISABLED;

    /// Best first. An older kernel refuses unknown flags with EINVAL.
    private static final int[] SETUP_FLAGS_BY_PREFERENCE = {
        // 6.6: no index array between the SQEs and their order.
        IoUringAbi.IORING_SETUP_SUBMIT_ALL
                | IoUringAbi.IORING_SETUP_SINGLE_ISSUER
                | IoUringAbi.IORING_SETUP_DEFER_TASKRUN
                | IoUringAbi.IORING_SETUP_TASKRUN_FLAG
                | IoUringAbi.IORING_SETUP_NO_SQARRAY,
        // 6.1: task work runs only when the loop asks for completions.
        IoUringAbi.IORING_SETUP_SUBMIT_ALL
                | IoUringAbi.IORING_SETUP_SINGLE_ISSUER
                | IoUringAbi.IORING_SETUP_DEFER_TASKRUN
                | IoUringAbi.IORING_SETUP_TASKRUN_FLAG,
        // 5.19: task work runs at the loop's next system call, without an interrupt.
        IoUringAbi.IORING_SETUP_SUBMIT_ALL
                | IoUringAbi.IORING_SETUP_COOP_TASKRUN
                | IoUringAbi.IORING_SETUP_TASKRUN_FLAG,
        // 5.18: a refused SQE does not hold up the rest of its batch.
        IoUringAbi.IORING_SETUP_SUBMIT_ALL,
        0,
    };

    /// EXT_ARG allows timeouts in nanoseconds, and NODROP keeps CQEs that do not fit the queue.
    /// RSRC_TAGS indicates multishot polls: 5.13 introduced both.
    private static final int REQUIRED_FEATURES =
            IoUringAbi.IORING_FEAT_SINGLE_MMAP
                    | IoUringAbi.IORING_FEAT_NODROP
                    | IoUringAbi.IORING_FEAT_EXT_ARG
                    | IoUringAbi.IORING_FEAT_RSRC_TAGS;

    private static final long REQUIRED_OPCODES =
            (1L << IoUringAbi.IORING_OP_POLL_ADD) | (1L << IoUringAbi.IORING_OP_ASYNC_CANCEL);

    final int fd;
    final int flags;
    final int features;

    /// Bit n is set if the kernel supports opcode n.
    final long opcodes;

    final long sqHead;
    final long sqTail;
    final long sqFlags;
    final long sqes;
    final int sqEntries;
    final long cqHead;
    final long cqTail;
    final long cqes;
    final int cqMask;
    private final Mapping rings;
    private final Mapping sqeArray;

    private RingMemory(int fd, long params, long opcodes, Mapping rings, Mapping sqeArray) {
        this.fd = fd;
        this.opcodes = opcodes;
        this.rings = rings;
        this.sqeArray = sqeArray;
        flags = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_FLAGS);
        features = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_FEATURES);
        long base = rings.address;
        sqHead = base + Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_SQ_HEAD);
        sqTail = base + Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_SQ_TAIL);
        sqFlags = base + Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_SQ_FLAGS);
        sqes = sqeArray.address;
        sqEntries = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_SQ_ENTRIES);
        cqHead = base + Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_CQ_HEAD);
        cqTail = base + Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_CQ_TAIL);
        cqes = base + Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_CQ_CQES);
        cqMask = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_CQ_ENTRIES) - 1;
        if ((flags & IoUringAbi.IORING_SETUP_NO_SQARRAY) == 0) {
            long array =
                    base + Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_SQ_ARRAY);
            for (int i = 0; i < sqEntries; i++) {
                Memory.putInt(array + (long) i * Integer.BYTES, i);
            }
        }
    }

    /// Sets up a ring in the disabled state.
    ///
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    static RingMemory open(UringCalls calls, PollCalls kernel, int sqEntries, int cqEntries) {
        MemorySegment params = Memory.allocate(IoUringAbi.SIZEOF_IO_URING_PARAMS);
        long address = params.address();
        int fd = -Errno.EINVAL;
        for (int i = 0; fd == -Errno.EINVAL && i < SETUP_FLAGS_BY_PREFERENCE.length; i++) {
            params.fill((byte) 0);
            Memory.putInt(
                    address + IoUringAbi.OFFSETOF_IO_URING_PARAMS_FLAGS,
                    SETUP_FLAGS_ALWAYS | SETUP_FLAGS_BY_PREFERENCE[i]);
            Memory.putInt(address + IoUringAbi.OFFSETOF_IO_URING_PARAMS_CQ_ENTRIES, cqEntries);
            fd = calls.setup(sqEntries, address);
        }
        if (fd < 0) {
            throw new SystemCallException("io_uring_setup", -fd, SystemCallException.NO_FD);
        }
        try {
            return map(calls, fd, address);
        } catch (Throwable e) {
            kernel.close(fd);
            throw e;
        } finally {
            Reference.reachabilityFence(params);
        }
    }

    private static RingMemory map(UringCalls calls, int fd, long params) {
        int features = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_FEATURES);
        long opcodes = probe(calls, fd);
        if ((features & REQUIRED_FEATURES) != REQUIRED_FEATURES
                || (opcodes & REQUIRED_OPCODES) != REQUIRED_OPCODES) {
            // Too old: treated like a kernel without io_uring.
            throw new SystemCallException("io_uring_setup", Errno.ENOSYS, fd);
        }
        long sqEntries = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_SQ_ENTRIES);
        long cqEntries = Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_CQ_ENTRIES);
        long length =
                Math.max(
                        Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_SQ_ARRAY)
                                + sqEntries * Integer.BYTES,
                        Memory.getInt(params + IoUringAbi.OFFSETOF_IO_URING_PARAMS_CQ_CQES)
                                + cqEntries * IoUringAbi.SIZEOF_IO_URING_CQE);
        Mapping rings = map(calls, fd, length, IoUringAbi.IORING_OFF_SQ_RING);
        try {
            long sqeBytes = sqEntries * IoUringAbi.SIZEOF_IO_URING_SQE;
            Mapping sqeArray = map(calls, fd, sqeBytes, IoUringAbi.IORING_OFF_SQES);
            return new RingMemory(fd, params, opcodes, rings, sqeArray);
        } catch (Throwable e) {
            calls.munmap(rings.address, rings.length);
            throw e;
        }
    }

    /// Returns the supported opcodes. Kernels and sandboxes may leave some out.
    private static long probe(UringCalls calls, int fd) {
        MemorySegment probe =
                Memory.allocate(
                        IoUringAbi.SIZEOF_IO_URING_PROBE
                                + (long) MAX_OPCODES * IoUringAbi.SIZEOF_IO_URING_PROBE_OP);
        long address = probe.address();
        try {
            int result = calls.register(fd, IoUringAbi.IORING_REGISTER_PROBE, address, MAX_OPCODES);
            if (result < 0) {
                throw new SystemCallException("io_uring_register(PROBE)", -result, fd);
            }
            int known = Memory.getByte(address + IoUringAbi.OFFSETOF_IO_URING_PROBE_OPS_LEN) & 0xFF;
            long opcodes = 0;
            for (int opcode = 0; opcode < Math.min(known, MAX_OPCODES); opcode++) {
                long flags =
                        address
                                + IoUringAbi.SIZEOF_IO_URING_PROBE
                                + (long) opcode * IoUringAbi.SIZEOF_IO_URING_PROBE_OP
                                + IoUringAbi.OFFSETOF_IO_URING_PROBE_OP_FLAGS;
                if ((Memory.getByte(flags) & IoUringAbi.IO_URING_OP_SUPPORTED) != 0) {
                    opcodes |= 1L << opcode;
                }
            }
            return opcodes;
        } finally {
            Reference.reachabilityFence(probe);
        }
    }

    private static Mapping map(UringCalls calls, int fd, long length, long offset) {
        long address = calls.mmap(length, fd, offset);
        // User-space addresses are never negative.
        if (address < 0) {
            throw new SystemCallException("mmap(io_uring)", (int) -address, fd);
        }
        // In a forked child, the mapping would keep the ring and everything it watches alive.
        // A refusal has no other effect.
        int _ = calls.madvise(address, length, IoUringAbi.MADV_DONTFORK);
        return new Mapping(address, length);
    }

    /// Closes the ring. The kernel keeps it until its mappings and its descriptor are gone. Errors
    /// are ignored, because they have no remedy.
    void close(UringCalls calls, PollCalls kernel) {
        calls.munmap(sqeArray.address, sqeArray.length);
        calls.munmap(rings.address, rings.length);
        kernel.close(fd);
    }
}
