package dev.gyre.testkit.internal;

import static dev.gyre.internal.sys.Linux.EPOLLERR;
import static dev.gyre.internal.sys.Linux.EPOLLHUP;
import static dev.gyre.internal.sys.Linux.EPOLLIN;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.testkit.internal.SimulatedSocket.Message;

import org.jspecify.annotations.Nullable;

/// Implements [SocketCalls] on a simulated kernel.
public final class NetworkCalls implements SocketCalls {
    private static final int TYPE_BITS = 0xf;
    private static final int POLLNVAL = 0x20;
    private static final int OFFSETOF_MSGHDR_CONTROLLEN = 40;
    private static final int KNOWN_FLAGS =
            Linux.MSG_DONTWAIT | Linux.MSG_NOSIGNAL | Linux.MSG_OOB | Linux.MSG_TRUNC;

    private final SimulatedKernel kernel;

    public NetworkCalls(SimulatedKernel kernel) {
        this.kernel = kernel;
    }

    private @Nullable SimulatedSocket find(int fd) {
        return kernel.descriptors.find(fd) instanceof SimulatedSocket socket ? socket : null;
    }

    private int traced(String call, int fd, int result) {
        return kernel.transfers.traced(call, fd, result);
    }

    private int notSocket(String call, int fd) {
        boolean open = kernel.descriptors.find(fd) != null;
        return traced(call, fd, open ? -Errno.ENOTSOCK : -Errno.EBADF);
    }

    // ------------------------------------------------------------------ connecting

    @Override
    public int socket(int domain, int type, int protocol) {
        synchronized (kernel) {
            int status = type & Linux.SOCK_NONBLOCK;
            int kind = type & TYPE_BITS;
            boolean inet = domain == Linux.AF_INET || domain == Linux.AF_INET6;
            SimulatedSocket made;
            if (inet && kind == Linux.SOCK_STREAM) {
                made = new TcpSocket(kernel, domain, status);
            } else if (inet && kind == Linux.SOCK_DGRAM) {
                made = new UdpSocket(kernel, domain, status);
            } else if (domain == Linux.AF_UNIX && kind == Linux.SOCK_STREAM) {
                made = new UnixSocket(kernel, status);
            } else {
                return traced("socket", -1, -Errno.EAFNOSUPPORT);
            }
            return traced("socket", -1, kernel.number(made));
        }
    }

    @Override
    public int bind(int fd, long address, int length) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            if (socket == null) {
                return notSocket("bind", fd);
            }
            Address wanted = Address.load(address, length);
            return traced("bind", fd, wanted == null ? -Errno.EINVAL : socket.bind(wanted));
        }
    }

    @Override
    public int listen(int fd, int backlog) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            return socket == null
                    ? notSocket("listen", fd)
                    : traced("listen", fd, socket.listen(backlog));
        }
    }

    @Override
    public int accept4(int fd, long address, long lengthAddress, int flags) {
        synchronized (kernel) {
            SimulatedSocket listener = find(fd);
            if (listener == null) {
                return notSocket("accept4", fd);
            }
            int refusal = refusal(listener);
            if (refusal != 0) {
                return traced("accept4", fd, -refusal);
            }
            SimulatedSocket accepted = listener.accept();
            if (accepted == null) {
                kernel.unlessBlocking("accept4", fd, listener, -Errno.EAGAIN, 0);
                return traced("accept4", fd, -Errno.EAGAIN);
            }
            int aborted = kernel.injector.acceptError();
            if (aborted != 0) {
                abort(accepted);
                return traced("accept4", fd, -aborted);
            }
            accepted.statusFlags = flags & Linux.SOCK_NONBLOCK;
            int number = kernel.descriptors.add(accepted);
            Address from = accepted.acceptedFrom();
            if (from != null) {
                from.store(address, lengthAddress);
            } else if (lengthAddress != 0) {
                Memory.putInt(lengthAddress, 0);
            }
            return traced("accept4", fd, number);
        }
    }

    /// Returns the error that precedes any attempt to accept, or zero.
    private int refusal(SimulatedSocket listener) {
        if (listener instanceof UdpSocket) {
            return Errno.EOPNOTSUPP;
        }
        if (!listener.isListening()) {
            return Errno.EINVAL;
        }
        if (kernel.injector.interrupts()) {
            return Errno.EINTR;
        }
        if (!kernel.descriptors.hasRoomFor(1)) {
            return Errno.EMFILE;
        }
        boolean ready = (listener.ready() & EPOLLIN) != 0;
        int exhausted = ready ? kernel.injector.exhaustion() : 0;
        if (exhausted == 0 && ready && kernel.injector.blocks()) {
            kernel.schedule.after(
                    kernel.injector.delayNanos(),
                    () -> listener.wake(SimulatedSocket.READABLE_KEY));
            return Errno.EAGAIN;
        }
        return exhausted;
    }

    private static void abort(SimulatedSocket accepted) {
        if (accepted instanceof TcpSocket tcp) {
            tcp.abort();
        } else {
            accepted.closed();
        }
    }

    @Override
    public int connect(int fd, long address, int length) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            if (socket == null) {
                return notSocket("connect", fd);
            }
            Address to = Address.load(address, length);
            if (to == null) {
                return traced("connect", fd, -Errno.EINVAL);
            }
            int result = socket.connect(to);
            if (result == -Errno.EINPROGRESS && kernel.injector.interrupts()) {
                result = -Errno.EINTR; // The connection attempt continues.
            }
            if (result == -Errno.EINPROGRESS && socket.isBlocking()) {
                throw kernel.failure(
                        "connect of descriptor "
                                + fd
                                + " would block: make it non-blocking (Descriptor.nonBlocking)");
            }
            return traced("connect", fd, result);
        }
    }

    // ------------------------------------------------------------------ names and options

    @Override
    public int getsockname(int fd, long address, long lengthAddress) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            if (socket == null) {
                return notSocket("getsockname", fd);
            }
            Address local = socket.local();
            return local == null ? -Errno.EINVAL : local.store(address, lengthAddress);
        }
    }

    @Override
    public int getpeername(int fd, long address, long lengthAddress) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            if (socket == null) {
                return notSocket("getpeername", fd);
            }
            Address remote = socket.remote();
            return remote == null ? -Errno.ENOTCONN : remote.store(address, lengthAddress);
        }
    }

    @Override
    public int getsockopt(int fd, int level, int option, long valueAddress, long lengthAddress) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            if (socket == null) {
                return notSocket("getsockopt", fd);
            }
            if (Memory.getInt(lengthAddress) < Integer.BYTES) {
                return -Errno.EINVAL;
            }
            Memory.putInt(valueAddress, socket.option(level, option));
            Memory.putInt(lengthAddress, Integer.BYTES);
            return 0;
        }
    }

    @Override
    public int setsockopt(int fd, int level, int option, long valueAddress, int length) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            if (socket == null) {
                return notSocket("setsockopt", fd);
            }
            if (length < Integer.BYTES) {
                return -Errno.EINVAL;
            }
            int value = Memory.getInt(valueAddress);
            if (level == Linux.SOL_SOCKET && option == Linux.SO_LINGER) {
                // Only a zero linger time has an effect here: it makes close reset the connection.
                boolean noTime =
                        length >= 2 * Integer.BYTES
                                && Memory.getInt(valueAddress + Integer.BYTES) == 0;
                value = value != 0 && noTime ? 1 : 0;
            }
            return socket.setOption(level, option, value);
        }
    }

    @Override
    public int shutdown(int fd, int how) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            return socket == null
                    ? notSocket("shutdown", fd)
                    : traced("shutdown", fd, socket.shutdown(how));
        }
    }

    // ------------------------------------------------------------------ bytes

    @Override
    public long recv(int fd, long address, long count, int flags) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            if (socket == null) {
                return notSocket("recv", fd);
            }
            if ((flags & ~KNOWN_FLAGS) != 0) {
                return traced("recv", fd, -Errno.EOPNOTSUPP);
            }
            return kernel.transfers.read(
                    "recv",
                    fd,
                    socket,
                    address,
                    count,
                    flags,
                    (bytes, length) -> socket.receive(bytes, length, flags, new Message()));
        }
    }

    @Override
    public long send(int fd, long address, long count, int flags) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            if (socket == null) {
                return notSocket("send", fd);
            }
            if ((flags & ~KNOWN_FLAGS) != 0) {
                return traced("send", fd, -Errno.EOPNOTSUPP);
            }
            return kernel.transfers.write(
                    "send",
                    fd,
                    socket,
                    address,
                    count,
                    flags,
                    (bytes, length) -> socket.send(bytes, length, flags, null));
        }
    }

    @Override
    public long recvmsg(int fd, long messageAddress, int flags) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            if (socket == null) {
                return notSocket("recvmsg", fd);
            }
            if ((flags & ~KNOWN_FLAGS) != 0) {
                return traced("recvmsg", fd, -Errno.EOPNOTSUPP);
            }
            Message message = new Message();
            long result =
                    kernel.transfers.readVectors(
                            "recvmsg",
                            fd,
                            socket,
                            Memory.getLong(messageAddress + Linux.OFFSETOF_MSGHDR_IOV),
                            (int) Memory.getLong(messageAddress + Linux.OFFSETOF_MSGHDR_IOVLEN),
                            flags,
                            (bytes, length) -> socket.receive(bytes, length, flags, message));
            if (result >= 0) {
                long name = Memory.getLong(messageAddress + Linux.OFFSETOF_MSGHDR_NAME);
                long lengthAddress = messageAddress + Linux.OFFSETOF_MSGHDR_NAMELEN;
                if (message.from != null) {
                    message.from.store(name, lengthAddress);
                } else {
                    Memory.putInt(lengthAddress, 0);
                }
                Memory.putLong(messageAddress + OFFSETOF_MSGHDR_CONTROLLEN, 0);
                Memory.putInt(messageAddress + Linux.OFFSETOF_MSGHDR_FLAGS, message.flags);
            }
            return result;
        }
    }

    @Override
    public long sendmsg(int fd, long messageAddress, int flags) {
        synchronized (kernel) {
            SimulatedSocket socket = find(fd);
            if (socket == null) {
                return notSocket("sendmsg", fd);
            }
            boolean control = Memory.getLong(messageAddress + OFFSETOF_MSGHDR_CONTROLLEN) != 0;
            if (control || (flags & ~KNOWN_FLAGS) != 0) {
                return traced("sendmsg", fd, -Errno.EOPNOTSUPP);
            }
            long name = Memory.getLong(messageAddress + Linux.OFFSETOF_MSGHDR_NAME);
            int nameLength = Memory.getInt(messageAddress + Linux.OFFSETOF_MSGHDR_NAMELEN);
            Address to = name == 0 || nameLength == 0 ? null : Address.load(name, nameLength);
            if (to == null && name != 0 && nameLength != 0) {
                return traced("sendmsg", fd, -Errno.EINVAL);
            }
            return kernel.transfers.writeVectors(
                    "sendmsg",
                    fd,
                    socket,
                    Memory.getLong(messageAddress + Linux.OFFSETOF_MSGHDR_IOV),
                    (int) Memory.getLong(messageAddress + Linux.OFFSETOF_MSGHDR_IOVLEN),
                    flags,
                    (bytes, length) -> socket.send(bytes, length, flags, to));
        }
    }

    @Override
    public long readv(int fd, long iovecsAddress, int count) {
        synchronized (kernel) {
            OpenFile file = kernel.descriptors.find(fd);
            if (file == null) {
                return traced("readv", fd, -Errno.EBADF);
            }
            return kernel.transfers.readVectors(
                    "readv", fd, file, iovecsAddress, count, 0, file::read);
        }
    }

    @Override
    public long writev(int fd, long iovecsAddress, int count) {
        synchronized (kernel) {
            OpenFile file = kernel.descriptors.find(fd);
            if (file == null) {
                return traced("writev", fd, -Errno.EBADF);
            }
            return kernel.transfers.writeVectors(
                    "writev", fd, file, iovecsAddress, count, 0, file::write);
        }
    }

    @Override
    public long sendfile(int socket, int file, long offset, long count) {
        synchronized (kernel) {
            return kernel.transfers.traced(
                    "sendfile",
                    socket,
                    new SpliceCalls(kernel).sendFile(socket, file, offset, count));
        }
    }

    @Override
    public long splice(int from, int to, long count, int flags) {
        synchronized (kernel) {
            return kernel.transfers.traced(
                    "splice", from, new SpliceCalls(kernel).splice(from, to, count));
        }
    }

    @Override
    public int pollOne(int fd, int events) {
        synchronized (kernel) {
            OpenFile file = kernel.descriptors.find(fd);
            return file == null ? POLLNVAL : file.ready() & (events | EPOLLERR | EPOLLHUP);
        }
    }
}
