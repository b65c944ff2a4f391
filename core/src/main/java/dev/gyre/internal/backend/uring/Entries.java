package dev.gyre.internal.backend.uring;

import dev.gyre.internal.sys.IoUring;
import dev.gyre.internal.sys.Memory;

/// Writes requests into a ring. Each answers false if the ring has no room at present.
///
/// Loop thread only.
final class Entries {
    private final Ring ring;
    private final boolean skipsSuccess;

    Entries(Ring ring) {
        this.ring = ring;
        skipsSuccess = ring.hasFeature(IoUring.IORING_FEAT_CQE_SKIP);
    }

    boolean poll(long token, int fd, int events, int flags) {
        long entry = begin(IoUring.IORING_OP_POLL_ADD, fd, token);
        if (entry == 0) {
            return false;
        }
        Memory.putInt(entry + IoUring.OFFSETOF_IO_URING_SQE_LEN, flags);
        Memory.putInt(entry + IoUring.OFFSETOF_IO_URING_SQE_OP_FLAGS, events);
        return true;
    }

    /// Cancels the request that carries this token. Whether there still was one tells its own
    /// completion. Not by POLL_REMOVE: that leaves a multishot alone which is just about to report.
    boolean cancel(long token) {
        long entry = begin(IoUring.IORING_OP_ASYNC_CANCEL, -1, Tokens.NOBODY);
        if (entry == 0) {
            return false;
        }
        Memory.putLong(entry + IoUring.OFFSETOF_IO_URING_SQE_ADDR, token);
        if (skipsSuccess) {
            Memory.putByte(
                    entry + IoUring.OFFSETOF_IO_URING_SQE_FLAGS, IoUring.IOSQE_CQE_SKIP_SUCCESS);
        }
        return true;
    }

    private long begin(int opcode, int fd, long token) {
        long entry = ring.nextSubmission();
        if (entry != 0) {
            Memory.putByte(entry + IoUring.OFFSETOF_IO_URING_SQE_OPCODE, opcode);
            Memory.putInt(entry + IoUring.OFFSETOF_IO_URING_SQE_FD, fd);
            Memory.putLong(entry + IoUring.OFFSETOF_IO_URING_SQE_USER_DATA, token);
        }
        return entry;
    }
}
