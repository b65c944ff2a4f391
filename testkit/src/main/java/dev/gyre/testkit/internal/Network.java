package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.testkit.internal.Address.Inet;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/// The bound addresses, and the latency of packets between them.
final class Network {
    private static final int FIRST_EPHEMERAL = 32_768;
    private static final int LAST_EPHEMERAL = 60_999;

    private final SimulatedKernel kernel;

    // Guarded by the kernel's lock.
    private final Map<Integer, List<SimulatedSocket>> streams = new TreeMap<>();
    private final Map<Integer, List<SimulatedSocket>> datagrams = new TreeMap<>();
    private final Map<String, UnixSocket> unix = new TreeMap<>();
    private int nextEphemeral = FIRST_EPHEMERAL;

    /// Hosts that drop all packets.
    private final Set<String> silent = new TreeSet<>();

    private final Set<String> unreachable = new TreeSet<>();

    /// The latency of a packet, and the maximum of its random addition. If both are zero, a packet
    /// arrives before the sending call returns, as over a real loopback.
    long latencyNanos = 50_000;

    long jitterNanos = 50_000;

    Network(SimulatedKernel kernel) {
        this.kernel = kernel;
    }

    // ------------------------------------------------------------------ hosts

    void blackhole(String host) {
        silent.add(host);
    }

    void unreachable(String host) {
        unreachable.add(host);
    }

    boolean isSilent(Inet to) {
        return silent.contains(to.unmapped().host());
    }

    boolean isUnreachable(Inet to) {
        return unreachable.contains(to.unmapped().host());
    }

    // ------------------------------------------------------------------ ports

    private Map<Integer, List<SimulatedSocket>> ports(SimulatedSocket socket) {
        return socket instanceof UdpSocket ? datagrams : streams;
    }

    /// Binds a socket.
    ///
    /// @param bound receives the address, with an ephemeral port if it had none
    int bind(SimulatedSocket socket, Inet wanted, java.util.function.Consumer<Inet> bound) {
        if (wanted.isV6() != (socket.domain == Linux.AF_INET6)) {
            return -Errno.EAFNOSUPPORT;
        }
        if (!wanted.isLocal()) {
            return -Errno.EADDRNOTAVAIL;
        }
        Inet address = wanted;
        if (wanted.port() == 0) {
            int port = freePort(socket, wanted);
            if (port < 0) {
                return -Errno.EADDRINUSE;
            }
            address = wanted.withPort(port);
        } else if (isTaken(socket, wanted, false)) {
            return -Errno.EADDRINUSE;
        }
        hold(socket, address.port());
        bound.accept(address);
        return 0;
    }

    void hold(SimulatedSocket socket, int port) {
        ports(socket).computeIfAbsent(port, absent -> new ArrayList<>()).add(socket);
    }

    void release(SimulatedSocket socket, int port) {
        List<SimulatedSocket> holders = ports(socket).get(port);
        if (holders != null && holders.remove(socket) && holders.isEmpty()) {
            ports(socket).remove(port);
        }
    }

    private int freePort(SimulatedSocket socket, Inet wanted) {
        for (int i = FIRST_EPHEMERAL; i <= LAST_EPHEMERAL; i++) {
            int port = nextEphemeral;
            nextEphemeral = port == LAST_EPHEMERAL ? FIRST_EPHEMERAL : port + 1;
            if (!isTaken(socket, wanted.withPort(port), false)) {
                return port;
            }
        }
        return -1;
    }

    /// Returns whether another socket holds the address and does not share it.
    ///
    /// @param listening whether the socket is about to listen
    boolean isTaken(SimulatedSocket socket, Inet address, boolean listening) {
        for (SimulatedSocket other : ports(socket).getOrDefault(address.port(), List.of())) {
            if (other != socket
                    && overlap(socket, address, other)
                    && !share(socket, other, listening)) {
                return true;
            }
        }
        return false;
    }

    private static boolean overlap(SimulatedSocket one, Inet address, SimulatedSocket other) {
        if (!(other.local() instanceof Inet held)) {
            return false;
        }
        if (address.isV6() != held.isV6()) {
            Inet six = address.isV6() ? address : held;
            SimulatedSocket sixth = address.isV6() ? one : other;
            boolean only = sixth.has(Linux.IPPROTO_IPV6, Linux.IPV6_V6ONLY);
            return !only && six.isAny();
        }
        return address.isAny() || held.isAny() || address.host().equals(held.host());
    }

    private static boolean share(SimulatedSocket one, SimulatedSocket other, boolean listening) {
        if (one.has(Linux.SOL_SOCKET, Linux.SO_REUSEPORT)
                && other.has(Linux.SOL_SOCKET, Linux.SO_REUSEPORT)) {
            return true;
        }
        boolean reuse =
                one.has(Linux.SOL_SOCKET, Linux.SO_REUSEADDR)
                        && other.has(Linux.SOL_SOCKET, Linux.SO_REUSEADDR);
        return reuse && !other.isListening() && !(listening && other.isListening());
    }

    /// Returns the listener at an address; `null` if absent. The seed decides among several that
    /// share a port.
    @Nullable TcpSocket listenerAt(Inet to) {
        List<TcpSocket> found = new ArrayList<>();
        for (SimulatedSocket socket : streams.getOrDefault(to.port(), List.of())) {
            if (socket instanceof TcpSocket tcp && tcp.isListening() && isFor(tcp, to)) {
                found.add(tcp);
            }
        }
        if (found.isEmpty()) {
            return null;
        }
        return found.size() == 1 ? found.getFirst() : found.get(kernel.random.below(found.size()));
    }

    @Nullable UdpSocket receiverAt(Inet to, Inet from) {
        UdpSocket best = null;
        for (SimulatedSocket socket : datagrams.getOrDefault(to.port(), List.of())) {
            if (socket instanceof UdpSocket udp && isFor(udp, to) && udp.takesFrom(from)) {
                // A socket connected to the sender takes precedence.
                best = best == null || udp.remote() != null ? udp : best;
            }
        }
        return best;
    }

    private static boolean isFor(SimulatedSocket socket, Inet to) {
        if (!(socket.local() instanceof Inet held)) {
            return false;
        }
        Inet plain = to.unmapped();
        if (held.isV6() == plain.isV6()) {
            return held.isAny() || held.host().equals(plain.host());
        }
        return held.host().equals(Inet.ANY6) && !socket.has(Linux.IPPROTO_IPV6, Linux.IPV6_V6ONLY);
    }

    // ------------------------------------------------------------------ names of Unix sockets

    int bindPath(UnixSocket socket, String path) {
        if (unix.containsKey(path) || kernel.files.exists(path)) {
            return -Errno.EADDRINUSE;
        }
        unix.put(path, socket);
        return 0;
    }

    @Nullable UnixSocket boundTo(String path) {
        return unix.get(path);
    }

    /// Removes an abstract name with its socket. The name of a file stays.
    void releasePath(String path) {
        if (path.startsWith("\0")) {
            unix.remove(path);
        }
    }

    /// Implements `unlink`.
    void removePath(String path) {
        unix.remove(path);
    }

    // ------------------------------------------------------------------ packets

    /// Schedules an arrival after those sent on the line before.
    void carry(Line line, Runnable arrival) {
        if (latencyNanos == 0 && jitterNanos == 0) {
            arrival.run();
            return;
        }
        long travel = latencyNanos;
        if (jitterNanos > 0) {
            travel += Long.remainderUnsigned(kernel.random.next(), jitterNanos + 1);
        }
        line.lastArrivalNanos =
                Math.max(line.lastArrivalNanos, kernel.schedule.nowNanos() + travel);
        kernel.schedule.at(line.lastArrivalNanos, arrival);
    }

    /// One direction between two sockets. Packets arrive in order.
    static final class Line {
        private long lastArrivalNanos;
    }
}
