package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;

import org.jspecify.annotations.Nullable;

import java.util.HashMap;
import java.util.Map;

/// What sockets have in common. Results are those of the calls: zero or more, or `-errno`.
abstract sealed class SimulatedSocket extends OpenFile permits TcpSocket, UdpSocket, UnixSocket {
    /// What Linux wakes a socket's pollers for when something has arrived.
    static final int READABLE_KEY = Linux.EPOLLIN | Linux.EPOLLPRI;

    static final int SO_ACCEPTCONN = 30;
    private static final int LEAST_BUFFER_BYTES = 2_304;

    final int domain;
    final int type;

    /// The error that is told to the next who asks, and then no more.
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

    /// What came with a received message.
    static final class Message {
        @Nullable Address from;
        int flags;
    }

    abstract int bind(Address address);

    abstract int listen(int backlog);

    /// Takes the next connection that waits, which has no number yet.
    abstract @Nullable SimulatedSocket accept();

    abstract boolean isListening();

    abstract int connect(Address address);

    abstract int shutdown(int how);

    abstract @Nullable Address local();

    /// Null if it is not connected.
    abstract @Nullable Address remote();

    /// Who it was accepted from, which is told even if they have hung up since.
    @Nullable Address acceptedFrom() {
        return remote();
    }

    abstract long receive(byte[] into, int length, int flags, Message message);

    /// Sends.
    ///
    /// @param to where to, or null for where it is connected to
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
                case Linux.SO_SNDBUF -> sendLimit = Math.max(LEAST_BUFFER_BYTES, 2 * value);
                case Linux.SO_RCVBUF -> receiveLimit = Math.max(LEAST_BUFFER_BYTES, 2 * value);
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

    /// What Linux says to an option that makes no sense, or zero.
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
