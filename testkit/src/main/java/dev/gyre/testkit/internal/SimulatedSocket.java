package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.Map;

/// The common parts of sockets. Results are those of the calls: zero or more, or `-errno`.
abstract sealed class SimulatedSocket extends OpenFile permits TcpSocket, UdpSocket, UnixSocket {
    /// The readiness for which Linux wakes pollers when input arrives.
    static final int READABLE_KEY = Linux.EPOLLIN | Linux.EPOLLPRI;

    static final int SO_ACCEPTCONN = 30;
    private static final int MIN_BUFFER_BYTES = 2_304;

    final int domain;
    final int type;

    /// The pending error. Reading it clears it.
    int error;

    int sendLimit;
    int receiveLimit;

    private final Map<Long, Integer> options = new HashMap<>();

    SimulatedSocket(SimulatedKernel kernel, int domain, int type, int flags) {
        super(kernel, flags);
        this.domain = domain;
        this.type = type;
        sendLimit = kernel.bufferBytes;
        receiveLimit = kernel.bufferBytes;
    }

    /// The metadata of a received message.
    static final class Message {
        @Nullable Address from;
        int flags;
    }

    abstract int bind(Address address);

    abstract int listen(int backlog);

    /// Removes the next pending connection, which has no number yet.
    abstract @Nullable SimulatedSocket accept();

    abstract boolean isListening();

    abstract int connect(Address address);

    abstract int shutdown(int how);

    abstract @Nullable Address local();

    /// Returns the address of the peer; `null` if not connected.
    abstract @Nullable Address remote();

    /// Returns the address of the accepted peer, even after it has disconnected.
    @Nullable Address acceptedFrom() {
        return remote();
    }

    abstract long receive(byte[] into, int length, int flags, Message message);

    /// Sends bytes.
    ///
    /// @param to the destination; `null` for the connected peer
    abstract long send(byte[] from, int length, int flags, @Nullable Address to);

    @Override
    final long read(byte[] into, int length) {
        return receive(into, length, 0, new Message());
    }

    @Override
    final long write(byte[] from, int length) {
        return send(from, length, 0, null);
    }

    final int takeError() {
        int taken = error;
        error = 0;
        return taken;
    }

    final int option(int level, int name) {
        if (level == Linux.SOL_SOCKET) {
            switch (name) {
                case Linux.SO_ERROR -> {
                    return takeError();
                }
                case Linux.SO_TYPE -> {
                    return type;
                }
                case Linux.SO_SNDBUF -> {
                    return sendLimit;
                }
                case Linux.SO_RCVBUF -> {
                    return receiveLimit;
                }
                case SO_ACCEPTCONN -> {
                    return isListening() ? 1 : 0;
                }
                default -> {}
            }
        }
        return options.getOrDefault(key(level, name), 0);
    }

    final int setOption(int level, int name, int value) {
        if (level == Linux.SOL_SOCKET) {
            switch (name) {
                case Linux.SO_SNDBUF -> sendLimit = Math.max(MIN_BUFFER_BYTES, 2 * value);
                case Linux.SO_RCVBUF -> receiveLimit = Math.max(MIN_BUFFER_BYTES, 2 * value);
                case Linux.SO_ERROR, Linux.SO_TYPE, SO_ACCEPTCONN -> {
                    return -Errno.EINVAL;
                }
                default -> {}
            }
        }
        int refused = refusal(level, name, value);
        if (refused == 0) {
            options.put(key(level, name), value);
        }
        return refused;
    }

    /// Returns the error for an invalid option, or zero.
    private int refusal(int level, int name, int value) {
        if (level != Linux.IPPROTO_TCP) {
            boolean inet = domain != Linux.AF_UNIX;
            return level == Linux.IPPROTO_IPV6 && !inet ? -Errno.EOPNOTSUPP : 0;
        }
        if (!(this instanceof TcpSocket)) {
            return domain == Linux.AF_UNIX ? -Errno.EOPNOTSUPP : -Errno.ENOPROTOOPT;
        }
        boolean sensible =
                switch (name) {
                    case Linux.TCP_KEEPIDLE, Linux.TCP_KEEPINTVL -> value >= 1 && value <= 32_767;
                    case Linux.TCP_KEEPCNT -> value >= 1 && value <= 127;
                    case Linux.TCP_USER_TIMEOUT -> value >= 0;
                    default -> true;
                };
        return sensible ? 0 : -Errno.EINVAL;
    }

    final boolean has(int level, int name) {
        return options.getOrDefault(key(level, name), 0) != 0;
    }

    final void inherit(SimulatedSocket listener) {
        options.putAll(listener.options);
        sendLimit = listener.sendLimit;
        receiveLimit = listener.receiveLimit;
    }

    private static long key(int level, int name) {
        return (long) level << 32 | name;
    }
}
