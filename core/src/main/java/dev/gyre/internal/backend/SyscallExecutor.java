package dev.gyre.internal.backend;

import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.PollCalls;
import dev.gyre.internal.sys.SocketCalls;

import java.lang.foreign.MemorySegment;

/// Executes requests by system calls on non-blocking descriptors. A request keeps its progress, for
/// example of a large write, and is executed again when the descriptor is ready.
///
/// Loop thread only.
public final class SyscallExecutor {
    /// Not a result: execute the request again when the descriptor is ready. Distinct from
    /// `-EAGAIN`, a real failure of connecting to a Unix socket whose backlog is full.
    public static final long WOULD_BLOCK = Long.MIN_VALUE;

    /// How many connections that were aborted before the accept are skipped in one call.
    private static final int MAX_ABORTED_ACCEPTS = 64;

    /// The stage of a CONNECT in progress.
    public static final int CONNECTING = 1;

    private final PollCalls calls;
    private final SocketCalls sockets;
    private final MemorySegment scratch =
            Memory.allocate(Linux.SIZEOF_SOCKADDR_STORAGE + 2 * Long.BYTES);

    public SyscallExecutor(PollCalls calls, SocketCalls sockets) {
        this.calls = calls;
        this.sockets = sockets;
    }

    /// Executes a request as far as possible without waiting.
    ///
    /// @return the result, `-errno`, or [#WOULD_BLOCK]
    public long execute(Request request, int traits) {
        boolean socket = (traits & Traits.SOCKET) != 0;
        while (true) {
            long result =
                    switch (request.opcode) {
                        case READ -> read(request.fd, request.address, request.length, socket);
                        case WRITE -> write(request, socket);
                        case READ_VECTOR ->
                                sockets.readv(request.fd, request.address, (int) request.length);
                        case WRITE_VECTOR -> writeVector(request);
                        case RECEIVE_MESSAGE ->
                                sockets.recvmsg(request.fd, request.address, request.flags);
                        case SEND_MESSAGE ->
                                sockets.sendmsg(
                                        request.fd,
                                        request.address,
                                        request.flags | Linux.MSG_NOSIGNAL);
                        case READ_URGENT -> readUrgent(request);
                        case ACCEPT -> accept(request);
                        case CONNECT -> connect(request);
                        case SEND_FILE -> sendFile(request);
                        case SPLICE_FROM -> splice(request, request.fd, request.fd2);
                        case SPLICE_TO -> splice(request, request.fd2, request.fd);
                        default ->
                                throw new AssertionError(
                                        request.opcode + " is not executed by system calls");
                    };
            if (result == -Errno.EAGAIN && request.opcode != Opcode.CONNECT) {
                return WOULD_BLOCK;
            }
            if (result != -Errno.EINTR) {
                return result;
            }
        }
    }

    /// Reads into a receive buffer of the loop.
    ///
    /// @return the number of bytes, `-errno`, or [#WOULD_BLOCK]
    public long receive(int fd, long address, int size, int traits) {
        long result;
        do {
            result = read(fd, address, size, (traits & Traits.SOCKET) != 0);
        } while (result == -Errno.EINTR);
        return result == -Errno.EAGAIN ? WOULD_BLOCK : result;
    }

    private long read(int fd, long address, long length, boolean socket) {
        return socket ? sockets.recv(fd, address, length, 0) : calls.read(fd, address, length);
    }

    private long write(Request request, boolean socket) {
        while (true) {
            long address = request.address + request.transferred;
            long left = request.length - request.transferred;
            long result =
                    socket
                            ? sockets.send(
                                    request.fd, address, left, request.flags | Linux.MSG_NOSIGNAL)
                            : calls.write(request.fd, address, left);
            if (result < 0) {
                return result;
            }
            request.transferred += result;
            if (result == left) {
                return request.transferred;
            }
            if (result == 0) {
                return -Errno.EIO; // No progress and no error: a retry would not end.
            }
            request.reportProgress();
        }
    }

    /// Writes the iovecs that are left.
    private long writeVector(Request request) {
        while (true) {
            int done = (int) request.offset;
            long vectors = request.address + (long) done * Linux.SIZEOF_IOVEC;
            long result = sockets.writev(request.fd, vectors, (int) request.length - done);
            if (result < 0) {
                return result;
            }
            request.transferred += result;
            if (advanceIovecs(request, result)) {
                return request.transferred;
            }
            if (result == 0) {
                return -Errno.EIO;
            }
            request.reportProgress();
        }
    }

    /// Advances the iovecs of a request by `bytes`. Its `offset` counts the iovecs that are
    /// written.
    ///
    /// @return whether all are written
    public static boolean advanceIovecs(Request request, long bytes) {
        long left = bytes;
        while (request.offset < request.length) {
            long vector = request.address + request.offset * Linux.SIZEOF_IOVEC;
            long size = Memory.getLong(vector + Linux.OFFSETOF_IOVEC_LEN);
            if (left < size) {
                Memory.putLong(vector, Memory.getLong(vector) + left);
                Memory.putLong(vector + Linux.OFFSETOF_IOVEC_LEN, size - left);
                return false;
            }
            left -= size;
            request.offset++;
        }
        return true;
    }

    private long readUrgent(Request request) {
        long result = sockets.recv(request.fd, request.address, 1, Linux.MSG_OOB);
        return result == -Errno.EINVAL ? -Errno.EAGAIN : result; // Not arrived yet.
    }

    private long accept(Request request) {
        long result = -Errno.EAGAIN;
        for (int i = 0; i < MAX_ABORTED_ACCEPTS; i++) {
            if (request.address2 != 0) {
                Memory.putInt(request.address2, Linux.SIZEOF_SOCKADDR_STORAGE);
            }
            result =
                    sockets.accept4(
                            request.fd,
                            request.address,
                            request.address2,
                            Linux.SOCK_NONBLOCK | Linux.SOCK_CLOEXEC);
            if (!Errno.isOfAcceptedPeer((int) -result)) {
                return result;
            }
        }
        return result;
    }

    private long connect(Request request) {
        if (request.stage != CONNECTING) {
            int result = sockets.connect(request.fd, request.address, (int) request.length);
            switch (-result) {
                // An interrupted connect continues too.
                case Errno.EINPROGRESS, Errno.EINTR, Errno.EALREADY -> request.stage = CONNECTING;
                default -> {
                    return result;
                }
            }
            return WOULD_BLOCK;
        }
        int error = socketError(request.fd);
        if (error != 0) {
            return error < 0 ? error : -error;
        }
        // No error, but possibly not connected: the event may be older than the attempt.
        long length = scratch.address();
        Memory.putInt(length, Linux.SIZEOF_SOCKADDR_STORAGE);
        int peer = sockets.getpeername(request.fd, length + Long.BYTES, length);
        return peer == -Errno.ENOTCONN ? WOULD_BLOCK : peer;
    }

    public boolean hasUrgentData(int fd) {
        int ready = sockets.pollOne(fd, Linux.EPOLLPRI);
        return ready > 0 && (ready & Linux.EPOLLPRI) != 0;
    }

    /// Returns and clears the pending error of a socket; or `-errno`.
    public int socketError(int fd) {
        long value = scratch.address();
        long length = value + Long.BYTES;
        Memory.putInt(value, 0);
        Memory.putInt(length, Integer.BYTES);
        int result = sockets.getsockopt(fd, Linux.SOL_SOCKET, Linux.SO_ERROR, value, length);
        return result < 0 ? result : Memory.getInt(value);
    }

    private long sendFile(Request request) {
        while (true) {
            long left = request.length - request.transferred;
            long result =
                    sockets.sendfile(
                            request.fd, request.fd2, request.offset + request.transferred, left);
            if (result < 0) {
                return result;
            }
            request.transferred += result;
            if (result == left || result == 0) {
                return request.transferred;
            }
            request.reportProgress();
        }
    }

    private long splice(Request request, int from, int to) {
        int flags = Linux.SPLICE_F_MOVE | Linux.SPLICE_F_NONBLOCK;
        long result = sockets.splice(from, to, request.length, flags);
        if (result != -Errno.EAGAIN) {
            return result;
        }
        // One of the two is not ready. Only the descriptor of the request can be waited for.
        int asked = request.opcode == Opcode.SPLICE_FROM ? Linux.POLLOUT : Linux.POLLIN;
        int ready = sockets.pollOne(request.fd2, asked);
        if (ready < 0) {
            return ready;
        }
        return (ready & asked) != 0 ? WOULD_BLOCK : -Errno.ENOBUFS;
    }
}
