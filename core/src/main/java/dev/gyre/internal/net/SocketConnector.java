package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.time.Durations;
import dev.gyre.io.Descriptor;
import dev.gyre.io.Resolver;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/// Connects stream sockets.
///
/// Loop thread only.
public final class SocketConnector {
    private SocketConnector() {}

    /// The same, with names looked up by the system.
    public static Promise<Descriptor> connect(
            EventLoop loop, SocketAddress to, SocketSettings options, Duration timeout) {
        return connect(loop, to, options, timeout, Resolver.system());
    }

    /// Connects to an address, or to the first of a host's addresses that answers.
    ///
    /// The promise is rejected with a [SystemCallException], a [java.net.UnknownHostException] or whatever else the
    /// resolver throws, or a [java.net.SocketTimeoutException]; and only when nothing of the attempts is left. When the loop
    /// ends, what is under way is closed.
    ///
    /// @param timeout for all of it, looking the name up included; zero for as long as the system tries
    /// @throws IllegalArgumentException for an address that cannot be connected to, or a negative timeout
    public static Promise<Descriptor> connect(
            EventLoop loop,
            SocketAddress to,
            SocketSettings options,
            Duration timeout,
            Resolver resolver) {
        Objects.requireNonNull(to, "to");
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(resolver, "resolver");
        long timeoutNanos = Durations.saturatedNanos("timeout", timeout);
        ConnectRace race = new ConnectRace(loop, to, options);
        if (to instanceof InetSocketAddress internet && internet.isUnresolved()) {
            requirePort(internet);
            return race.begin(timeoutNanos, resolver, internet);
        }
        SocketAddresses.requireEncodable(to);
        if (to instanceof InetSocketAddress internet) {
            requirePort(internet);
        }
        return race.begin(timeoutNanos, List.of(to));
    }

    private static void requirePort(InetSocketAddress to) {
        if (to.getPort() == 0) {
            throw new IllegalArgumentException("port 0 is nobody's, to connect to: " + to);
        }
    }
}
