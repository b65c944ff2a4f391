package dev.gyre.internal.backend.uring;

import dev.gyre.internal.backend.DescriptorState;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.sys.IoUringAbi;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;

/// Writes SQEs. Each method returns false if the submission queue has no room at present.
///
/// Confined to the owner of the ring.
final class SqeWriter {
    /// The kernel's limit for one read or write.
    private static final long MAX_BYTES = 0x7FFF_F000;

    /// Reads and writes at the file position, and is required for files without one.
    private static final long AT_POSITION = -1;

    private final Ring ring;

    SqeWriter(Ring ring) {
        this.ring = ring;
    }

    /// Writes a POLL_ADD.
    ///
    /// @param mask bits of `EPOLL*`
    /// @param flags bits of `IORING_POLL_*`
    boolean poll(long userData, int fd, int mask, int flags) {
        long sqe = begin(IoUringAbi.IORING_OP_POLL_ADD, fd, userData);
        if (sqe == 0) {
            return false;
        }
        Memory.putInt(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_LEN, flags);
        Memory.putInt(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_OP_FLAGS, mask);
        return true;
    }

    /// Writes an ASYNC_CANCEL of the SQE with this `user_data`. The CQE of that SQE reports the
    /// outcome. POLL_REMOVE is unsuitable: it misses a multishot poll that is about to report.
    boolean cancel(long userData) {
        long sqe = begin(IoUringAbi.IORING_OP_ASYNC_CANCEL, -1, UserData.IGNORED);
        if (sqe == 0) {
            return false;
        }
        Memory.putLong(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_ADDR, userData);
        if (ring.hasFeature(IoUringAbi.IORING_FEAT_CQE_SKIP)) {
            Memory.putByte(
                    sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_FLAGS,
                    IoUringAbi.IOSQE_CQE_SKIP_SUCCESS);
        }
        return true;
    }

    /// Writes a request, or the part of it that is left.
    boolean operation(long userData, Request request, boolean multishot) {
        long sqe = begin(opcodeOf(request.opcode, isSocket(request)), request.fd, userData);
        if (sqe == 0) {
            return false;
        }
        switch (request.opcode) {
            case READ -> stream(sqe, request, request.address, request.length, 0);
            case WRITE -> {
                long address = request.address + request.transferred;
                long left = request.length - request.transferred;
                stream(sqe, request, address, left, request.flags | Linux.MSG_NOSIGNAL);
            }
            case READ_VECTOR -> transfer(sqe, request.address, request.length, AT_POSITION, 0);
            case WRITE_VECTOR -> {
                long vectors = request.address + request.offset * Linux.SIZEOF_IOVEC;
                transfer(sqe, vectors, request.length - request.offset, AT_POSITION, 0);
            }
            case RECEIVE_MESSAGE -> transfer(sqe, request.address, 1, 0, request.flags);
            case SEND_MESSAGE ->
                    transfer(sqe, request.address, 1, 0, request.flags | Linux.MSG_NOSIGNAL);
            case RECEIVE -> receive(sqe, request, multishot);
            case ACCEPT -> accept(sqe, request, multishot);
            case CONNECT -> {
                Memory.putLong(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_ADDR, request.address);
                Memory.putLong(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_OFF, request.length);
            }
            case POLL_END -> {
                // The kernel reports RDHUP in any case. If the request does not wait for it, the
                // poll has to be multishot to continue.
                boolean single = (request.flags & Readiness.END) != 0;
                int how = single ? 0 : IoUringAbi.IORING_POLL_ADD_MULTI;
                Memory.putInt(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_LEN, how);
                int events = single ? Linux.EPOLLRDHUP : 0;
                Memory.putInt(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_OP_FLAGS, events);
            }
            case FILE_OPEN -> {
                Memory.putInt(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_FD, Linux.AT_FDCWD);
                transfer(sqe, request.address, request.length, 0, request.flags);
            }
            case FILE_READ -> transfer(sqe, request.address, request.length, request.offset, 0);
            case FILE_WRITE -> {
                long done = request.transferred;
                transfer(
                        sqe,
                        request.address + done,
                        request.length - done,
                        request.offset + done,
                        0);
            }
            case FILE_SYNC ->
                    Memory.putInt(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_OP_FLAGS, request.flags);
            case FILE_STATUS ->
                    transfer(
                            sqe,
                            request.address,
                            Linux.STATX_BASIC_STATS,
                            request.address2,
                            request.flags);
            case FILE_CLOSE -> {}
            case READ_URGENT, SEND_FILE, SPLICE_FROM, SPLICE_TO ->
                    throw new AssertionError(request.opcode + " has no io_uring opcode");
        }
        return true;
    }

    /// Returns the `IORING_OP_*` of an opcode; -1 if absent.
    static int opcodeOf(Opcode opcode, boolean socket) {
        return switch (opcode) {
            case READ, RECEIVE -> socket ? IoUringAbi.IORING_OP_RECV : IoUringAbi.IORING_OP_READ;
            case WRITE -> socket ? IoUringAbi.IORING_OP_SEND : IoUringAbi.IORING_OP_WRITE;
            case READ_VECTOR -> IoUringAbi.IORING_OP_READV;
            case WRITE_VECTOR -> IoUringAbi.IORING_OP_WRITEV;
            case RECEIVE_MESSAGE -> IoUringAbi.IORING_OP_RECVMSG;
            case SEND_MESSAGE -> IoUringAbi.IORING_OP_SENDMSG;
            case ACCEPT -> IoUringAbi.IORING_OP_ACCEPT;
            case CONNECT -> IoUringAbi.IORING_OP_CONNECT;
            case POLL_END -> IoUringAbi.IORING_OP_POLL_ADD;
            case FILE_OPEN -> IoUringAbi.IORING_OP_OPENAT;
            case FILE_READ -> IoUringAbi.IORING_OP_READ;
            case FILE_WRITE -> IoUringAbi.IORING_OP_WRITE;
            case FILE_SYNC -> IoUringAbi.IORING_OP_FSYNC;
            case FILE_STATUS -> IoUringAbi.IORING_OP_STATX;
            case FILE_CLOSE -> IoUringAbi.IORING_OP_CLOSE;
            case READ_URGENT, SEND_FILE, SPLICE_FROM, SPLICE_TO -> -1;
        };
    }

    static boolean isSocket(Request request) {
        DescriptorState descriptor = request.descriptor;
        return descriptor != null && (descriptor.traits & Traits.SOCKET) != 0;
    }

    /// Sockets have no position, and other files accept no `MSG_*` flags.
    private static void stream(
            long sqe, Request request, long address, long length, int messageFlags) {
        if (isSocket(request)) {
            transfer(sqe, address, length, 0, messageFlags);
        } else {
            transfer(sqe, address, length, AT_POSITION, 0);
        }
    }

    private static void transfer(long sqe, long address, long length, long offset, int flags) {
        Memory.putLong(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_ADDR, address);
        Memory.putInt(
                sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_LEN, (int) Math.min(length, MAX_BYTES));
        Memory.putLong(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_OFF, offset);
        Memory.putInt(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_OP_FLAGS, flags);
    }

    private static void receive(long sqe, Request request, boolean multishot) {
        boolean socket = isSocket(request);
        Memory.putByte(
                sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_FLAGS, IoUringAbi.IOSQE_BUFFER_SELECT);
        Memory.putShort(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_BUF_GROUP, ProvidedBufferRing.GROUP);
        if (!socket) {
            Memory.putLong(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_OFF, AT_POSITION);
        } else if (multishot) {
            Memory.putShort(
                    sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_IOPRIO,
                    IoUringAbi.IORING_RECV_MULTISHOT);
        }
    }

    private static void accept(long sqe, Request request, boolean multishot) {
        if (request.address2 != 0) {
            Memory.putInt(request.address2, Linux.SIZEOF_SOCKADDR_STORAGE);
        }
        Memory.putLong(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_ADDR, request.address);
        Memory.putLong(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_OFF, request.address2);
        Memory.putInt(
                sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_OP_FLAGS,
                Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC);
        if (multishot) {
            Memory.putShort(
                    sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_IOPRIO,
                    IoUringAbi.IORING_ACCEPT_MULTISHOT);
        }
    }

    private long begin(int opcode, int fd, long userData) {
        long sqe = ring.nextSqe();
        if (sqe != 0) {
            Memory.putByte(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_OPCODE, opcode);
            Memory.putInt(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_FD, fd);
            Memory.putLong(sqe + IoUringAbi.OFFSETOF_IO_URING_SQE_USER_DATA, userData);
        }
        return sqe;
    }
}
