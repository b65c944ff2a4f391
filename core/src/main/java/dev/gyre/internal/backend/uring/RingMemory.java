package dev.gyre.internal.backend.uring;

import static dev.gyre.internal.sys.IoUring.IORING_FEAT_EXT_ARG;
import static dev.gyre.internal.sys.IoUring.IORING_FEAT_NODROP;
import static dev.gyre.internal.sys.IoUring.IORING_FEAT_RSRC_TAGS;
import static dev.gyre.internal.sys.IoUring.IORING_FEAT_SINGLE_MMAP;
import static dev.gyre.internal.sys.IoUring.IORING_SETUP_CLAMP;
import static dev.gyre.internal.sys.IoUring.IORING_SETUP_COOP_TASKRUN;
import static dev.gyre.internal.sys.IoUring.IORING_SETUP_CQSIZE;
import static dev.gyre.internal.sys.IoUring.IORING_SETUP_DEFER_TASKRUN;
import static dev.gyre.internal.sys.IoUring.IORING_SETUP_NO_SQARRAY;
import static dev.gyre.internal.sys.IoUring.IORING_SETUP_R_DISABLED;
import static dev.gyre.internal.sys.IoUring.IORING_SETUP_SINGLE_ISSUER;
import static dev.gyre.internal.sys.IoUring.IORING_SETUP_SUBMIT_ALL;
import static dev.gyre.internal.sys.IoUring.IORING_SETUP_TASKRUN_FLAG;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.IoUring;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollSyscalls;
import dev.gyre.internal.sys.UringCalls;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/// A ring's descriptor and the memory that it shares with the kernel.
///
/// @param fd the ring's descriptor
/// @param flags those of [#WISHES] that the kernel took
/// @param features what the kernel says it can do
/// @param opcodes a bit for each operation that it has
/// @param rings where heads, tails and completions lie
/// @param entries where the submissions lie
/// @param offsets where in `rings` each of them is, as the kernel filled them in
record RingMemory(
        int fd,
        int flags,
        int features,
        long opcodes,
        Mapping rings,
        Mapping entries,
        MemorySegment offsets) {
    record Mapping(long address, long length) {}

    /// More than those that are submitted, and no more than the kernel takes.
    private static final int MOST_OPCODES = Long.SIZE;

    private static final int ALWAYS =
            IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP | IORING_SETUP_R_DISABLED;

    /// What to ask for, best first. An older kernel answers EINVAL to what it does not know.
    private static final int[] WISHES = {
        // 6.6: no array of indices between the submissions and their order.
        IORING_SETUP_SUBMIT_ALL
                | IORING_SETUP_SINGLE_ISSUER
                | IORING_SETUP_DEFER_TASKRUN
                | IORING_SETUP_TASKRUN_FLAG
                | IORING_SETUP_NO_SQARRAY,
        // 6.1: completions are worked out when the loop asks for them, and at no other time.
        IORING_SETUP_SUBMIT_ALL
                | IORING_SETUP_SINGLE_ISSUER
                | IORING_SETUP_DEFER_TASKRUN
                | IORING_SETUP_TASKRUN_FLAG,
        // 5.19: at the loop's next system call, and without interrupting it.
        IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
        // 5.18: one refused submission does not hold up the rest.
        IORING_SETUP_SUBMIT_ALL,
        0,
    };

    /// Without these there is no waiting to the nanosecond, completions may be dropped, or polls
    /// report only once. The last one came with 5.13, as multishot polls did.
    private static final int NEEDED =
            IORING_FEAT_SINGLE_MMAP
                    | IORING_FEAT_NODROP
                    | IORING_FEAT_EXT_ARG
                    | IORING_FEAT_RSRC_TAGS;

    /// Without these nothing is waited for, or it cannot be let go of.
    private static final long NEEDED_OPCODES =
            (1L << IoUring.IORING_OP_POLL_ADD) | (1L << IoUring.IORING_OP_ASYNC_CANCEL);

    /// Sets a ring up, which is to be enabled by the thread that will use it.
    ///
    /// @throws SystemCallException if the kernel refuses; nothing stays open then
    static RingMemory open(
            UringCalls calls, PollSyscalls kernel, int submissions, int completions) {
        MemorySegment params = Memory.allocate(IoUring.SIZEOF_IO_URING_PARAMS);
        long address = params.address();
        int fd = -Errno.EINVAL;
        for (int i = 0; fd == -Errno.EINVAL && i < WISHES.length; i++) {
            params.fill((byte) 0);
            Memory.putInt(address + IoUring.OFFSETOF_IO_URING_PARAMS_FLAGS, ALWAYS | WISHES[i]);
            Memory.putInt(address + IoUring.OFFSETOF_IO_URING_PARAMS_CQ_ENTRIES, completions);
            fd = calls.setup(submissions, address);
        }
        if (fd < 0) {
            throw new SystemCallException("io_uring_setup", -fd, SystemCallException.NO_FD);
        }
        try {
            return map(calls, fd, params);
        } catch (Throwable e) {
            kernel.close(fd);
            throw e;
        } finally {
            Reference.reachabilityFence(params);
        }
    }

    private static RingMemory map(UringCalls calls, int fd, MemorySegment params) {
        long address = params.address();
        int features = Memory.getInt(address + IoUring.OFFSETOF_IO_URING_PARAMS_FEATURES);
        long opcodes = probe(calls, fd);
        if ((features & NEEDED) != NEEDED || (opcodes & NEEDED_OPCODES) != NEEDED_OPCODES) {
            // Too old: the same answer as from a kernel without it.
            throw new SystemCallException("io_uring_setup", Errno.ENOSYS, fd);
        }
        int submissions = Memory.getInt(address + IoUring.OFFSETOF_IO_URING_PARAMS_SQ_ENTRIES);
        int completions = Memory.getInt(address + IoUring.OFFSETOF_IO_URING_PARAMS_CQ_ENTRIES);
        long length =
                Math.max(
                        Memory.getInt(address + IoUring.OFFSETOF_IO_URING_PARAMS_SQ_ARRAY)
                                + (long) submissions * Integer.BYTES,
                        Memory.getInt(address + IoUring.OFFSETOF_IO_URING_PARAMS_CQ_CQES)
                                + (long) completions * IoUring.SIZEOF_IO_URING_CQE);
        Mapping rings = map(calls, fd, length, IoUring.IORING_OFF_SQ_RING);
        try {
            Mapping entries =
                    map(
                            calls,
                            fd,
                            (long) submissions * IoUring.SIZEOF_IO_URING_SQE,
                            IoUring.IORING_OFF_SQES);
            int flags = Memory.getInt(address + IoUring.OFFSETOF_IO_URING_PARAMS_FLAGS);
            return new RingMemory(fd, flags, features, opcodes, rings, entries, params);
        } catch (Throwable e) {
            calls.munmap(rings.address, rings.length);
            throw e;
        }
    }

    /// The operations that the kernel has, a bit for each: what calls itself io_uring need not have all.
    private static long probe(UringCalls calls, int fd) {
        MemorySegment probe =
                Memory.allocate(
                        IoUring.SIZEOF_IO_URING_PROBE
                                + (long) MOST_OPCODES * IoUring.SIZEOF_IO_URING_PROBE_OP);
        long address = probe.address();
        try {
            int result = calls.register(fd, IoUring.IORING_REGISTER_PROBE, address, MOST_OPCODES);
            if (result < 0) {
                throw new SystemCallException("io_uring_register(PROBE)", -result, fd);
            }
            int known = Memory.getByte(address + IoUring.OFFSETOF_IO_URING_PROBE_OPS_LEN) & 0xFF;
            long opcodes = 0;
            for (int opcode = 0; opcode < Math.min(known, MOST_OPCODES); opcode++) {
                long flags =
                        address
                                + IoUring.SIZEOF_IO_URING_PROBE
                                + (long) opcode * IoUring.SIZEOF_IO_URING_PROBE_OP
                                + IoUring.OFFSETOF_IO_URING_PROBE_OP_FLAGS;
                if ((Memory.getByte(flags) & IoUring.IO_URING_OP_SUPPORTED) != 0) {
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
        // No address of user space is negative.
        if (address < 0) {
            throw new SystemCallException("mmap(io_uring)", (int) -address, fd);
        }
        // A forked child that kept the mapping would keep the ring, and all it watches, alive. That
        // it is refused matters to nobody else.
        int _ = calls.madvise(address, length, IoUring.MADV_DONTFORK);
        return new Mapping(address, length);
    }

    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    boolean hasFeature(int feature) {
        return (features & feature) != 0;
    }

    /// A number that the kernel filled in at set-up.
    int param(int offset) {
        return Memory.getInt(offsets.address() + offset);
    }

    /// The ring lives until both its descriptor and its mappings are gone. Errors have no remedy.
    void close(UringCalls calls, PollSyscalls kernel) {
        calls.munmap(entries.address, entries.length);
        calls.munmap(rings.address, rings.length);
        kernel.close(fd);
    }
}
