package dev.gyre.internal.backend.uring;

import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_SQE_ADDR;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_SQE_BUF_GROUP;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_SQE_FD;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_SQE_FLAGS;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_SQE_IOPRIO;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_SQE_LEN;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_SQE_OFF;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_SQE_OPCODE;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_SQE_OP_FLAGS;
import static dev.gyre.internal.sys.IoUring.OFFSETOF_IO_URING_SQE_USER_DATA;

import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.sys.IoUring;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;

/// Writes submissions into a ring. Each answers false if the ring has no room at present.
///
/// Loop thread only.
final class SqeWriter {
    /// The most that one call of the kernel's moves.
    private static final long MOST_BYTES = 0x7FFF_F000;

    /// For descriptors that have a position, or none: go on from there.
    private static final long AT_POSITION = -1;

    private final Ring ring;
    private final boolean skipsSuccess;

    SqeWriter(Ring ring) {
        this.ring = ring;
        skipsSuccess = ring.hasFeature(IoUring.IORING_FEAT_CQE_SKIP);
    }

    boolean poll(long token, int fd, int events, int flags) {
        long entry = begin(IoUring.IORING_OP_POLL_ADD, fd, token);
        if (entry == 0) {
            return false;
        }
        Memory.putInt(entry + OFFSETOF_IO_URING_SQE_LEN, flags);
        Memory.putInt(entry + OFFSETOF_IO_URING_SQE_OP_FLAGS, events);
        return true;
    }

    /// Cancels the submission that carries this token. Whether there still was one tells its own
    /// completion. Not by POLL_REMOVE: that leaves a multishot alone which is just about to report.
    boolean cancel(long token) {
        long entry = begin(IoUring.IORING_OP_ASYNC_CANCEL, -1, UserData.NOBODY);
        if (entry == 0) {
            return false;
        }
        Memory.putLong(entry + OFFSETOF_IO_URING_SQE_ADDR, token);
        if (skipsSuccess) {
            Memory.putByte(entry + OFFSETOF_IO_URING_SQE_FLAGS, IoUring.IOSQE_CQE_SKIP_SUCCESS);
        }
        return true;
    }

    /// What a request asks for, or what is left of it.
    ///
    /// @param multishot whether the kernel is to go on by itself
    boolean operation(long token, Request request, boolean multishot) {
        long entry = begin(opcodeOf(request.opcode, isOfSocket(request)), request.fd, token);
        if (entry == 0) {
            return false;
        }
        switch (request.opcode) {
            case READ -> stream(entry, request, request.address, request.length, 0);
            case WRITE -> {
                long address = request.address + request.transferred;
                long left = request.length - request.transferred;
                stream(entry, request, address, left, request.flags | Linux.MSG_NOSIGNAL);
            }
            case READ_VECTOR -> transfer(entry, request.address, request.length, AT_POSITION, 0);
            case WRITE_VECTOR -> {
                long vectors = request.address + request.offset * Linux.SIZEOF_IOVEC;
                transfer(entry, vectors, request.length - request.offset, AT_POSITION, 0);
            }
            case RECEIVE_MESSAGE -> transfer(entry, request.address, 1, 0, request.flags);
            case SEND_MESSAGE ->
                    transfer(entry, request.address, 1, 0, request.flags | Linux.MSG_NOSIGNAL);
            case RECEIVE -> receive(entry, request, multishot);
            case ACCEPT -> accept(entry, request, multishot);
            case CONNECT -> {
                Memory.putLong(entry + OFFSETOF_IO_URING_SQE_ADDR, request.address);
                Memory.putLong(entry + OFFSETOF_IO_URING_SQE_OFF, request.length);
            }
            case POLL_END -> {
                // A poll always reports RDHUP. If the request does not wait for it, a multishot
                // continues.
                boolean single = (request.flags & Readiness.END) != 0;
                int how = single ? 0 : IoUring.IORING_POLL_ADD_MULTI;
                Memory.putInt(entry + OFFSETOF_IO_URING_SQE_LEN, how);
                int events = single ? Linux.EPOLLRDHUP : 0;
                Memory.putInt(entry + OFFSETOF_IO_URING_SQE_OP_FLAGS, events);
            }
            case FILE_OPEN -> {
                Memory.putInt(entry + OFFSETOF_IO_URING_SQE_FD, Linux.AT_FDCWD);
                transfer(entry, request.address, request.length, 0, request.flags);
            }
            case FILE_READ -> transfer(entry, request.address, request.length, request.offset, 0);
            case FILE_WRITE -> {
                long done = request.transferred;
                transfer(
                        entry,
                        request.address + done,
                        request.length - done,
                        request.offset + done,
                        0);
            }
            case FILE_SYNC -> Memory.putInt(entry + OFFSETOF_IO_URING_SQE_OP_FLAGS, request.flags);
            case FILE_STATUS ->
                    transfer(
                            entry,
                            request.address,
                            Linux.STATX_BASIC_STATS,
                            request.address2,
                            request.flags);
            case FILE_CLOSE -> {}
            case READ_URGENT, SEND_FILE, SPLICE_FROM, SPLICE_TO ->
                    throw new AssertionError(request.opcode + " is performed, not submitted");
        }
        return true;
    }

    /// The ring's operation for it, or -1 if there is none.
    static int opcodeOf(Opcode opcode, boolean socket) {
        return switch (opcode) {
            case READ, RECEIVE -> socket ? IoUring.IORING_OP_RECV : IoUring.IORING_OP_READ;
            case WRITE -> socket ? IoUring.IORING_OP_SEND : IoUring.IORING_OP_WRITE;
            case READ_VECTOR -> IoUring.IORING_OP_READV;
            case WRITE_VECTOR -> IoUring.IORING_OP_WRITEV;
            case RECEIVE_MESSAGE -> IoUring.IORING_OP_RECVMSG;
            case SEND_MESSAGE -> IoUring.IORING_OP_SENDMSG;
            case ACCEPT -> IoUring.IORING_OP_ACCEPT;
            case CONNECT -> IoUring.IORING_OP_CONNECT;
            case POLL_END -> IoUring.IORING_OP_POLL_ADD;
            case FILE_OPEN -> IoUring.IORING_OP_OPENAT;
            case FILE_READ -> IoUring.IORING_OP_READ;
            case FILE_WRITE -> IoUring.IORING_OP_WRITE;
            case FILE_SYNC -> IoUring.IORING_OP_FSYNC;
            case FILE_STATUS -> IoUring.IORING_OP_STATX;
            case FILE_CLOSE -> IoUring.IORING_OP_CLOSE;
            case READ_URGENT, SEND_FILE, SPLICE_FROM, SPLICE_TO -> -1;
        };
    }

    static boolean isOfSocket(Request request) {
        DescriptorState descriptor = request.descriptor;
        return descriptor != null && (descriptor.traits & Traits.SOCKET) != 0;
    }

    /// Sockets have no position, and others take no flags of messages.
    private static void stream(
            long entry, Request request, long address, long length, int messageFlags) {
        if (isOfSocket(request)) {
            transfer(entry, address, length, 0, messageFlags);
        } else {
            transfer(entry, address, length, AT_POSITION, 0);
        }
    }

    private static void transfer(long entry, long address, long length, long offset, int flags) {
        Memory.putLong(entry + OFFSETOF_IO_URING_SQE_ADDR, address);
        Memory.putInt(entry + OFFSETOF_IO_URING_SQE_LEN, (int) Math.min(length, MOST_BYTES));
        Memory.putLong(entry + OFFSETOF_IO_URING_SQE_OFF, offset);
        Memory.putInt(entry + OFFSETOF_IO_URING_SQE_OP_FLAGS, flags);
    }

    private static void receive(long entry, Request request, boolean multishot) {
        boolean socket = isOfSocket(request);
        Memory.putByte(entry + OFFSETOF_IO_URING_SQE_FLAGS, IoUring.IOSQE_BUFFER_SELECT);
        Memory.putShort(entry + OFFSETOF_IO_URING_SQE_BUF_GROUP, ProvidedBufferRing.GROUP);
        if (!socket) {
            Memory.putLong(entry + OFFSETOF_IO_URING_SQE_OFF, AT_POSITION);
        } else if (multishot) {
            Memory.putShort(entry + OFFSETOF_IO_URING_SQE_IOPRIO, IoUring.IORING_RECV_MULTISHOT);
        }
    }

    private static void accept(long entry, Request request, boolean multishot) {
        if (request.address2 != 0) {
            Memory.putInt(request.address2, Linux.SIZEOF_SOCKADDR_STORAGE);
        }
        Memory.putLong(entry + OFFSETOF_IO_URING_SQE_ADDR, request.address);
        Memory.putLong(entry + OFFSETOF_IO_URING_SQE_OFF, request.address2);
        Memory.putInt(
                entry + OFFSETOF_IO_URING_SQE_OP_FLAGS, Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC);
        if (multishot) {
            Memory.putShort(entry + OFFSETOF_IO_URING_SQE_IOPRIO, IoUring.IORING_ACCEPT_MULTISHOT);
        }
    }

    private long begin(int opcode, int fd, long token) {
        long entry = ring.nextSubmission();
        if (entry != 0) {
            Memory.putByte(entry + OFFSETOF_IO_URING_SQE_OPCODE, opcode);
            Memory.putInt(entry + OFFSETOF_IO_URING_SQE_FD, fd);
            Memory.putLong(entry + OFFSETOF_IO_URING_SQE_USER_DATA, token);
        }
        return entry;
    }
}
