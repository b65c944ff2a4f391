package dev.gyre.io;

import dev.gyre.internal.base.Checks;

import java.util.Objects;
import java.util.function.Consumer;

/// Configures a [Listener]. Immutable: each `with` method returns a changed copy.
///
/// A `with` method throws an [IllegalArgumentException] for a value out of range, and a
/// [NullPointerException] for null.
///
/// **Threads.** Any.
public final class ListenerConfig implements Cloneable {
    /// The default configuration.
    public static final ListenerConfig DEFAULT = new ListenerConfig();

    private int backlog = 4_096;
    private PortSharing portSharing = PortSharing.EXCLUSIVE;
    private int maxConnections = Integer.MAX_VALUE;
    private int maxConnectionsPerPeer = Integer.MAX_VALUE;
    private StreamConfig streams = StreamConfig.DEFAULT;

    private ListenerConfig() {}

    /// Returns the maximum of connections that wait in the kernel to be accepted. The kernel lowers
    /// it to its own limit. Default 4 096.
    public int backlog() {
        return backlog;
    }

    /// Returns whether several listeners share one address, so that the kernel distributes the
    /// connections. Default [PortSharing#EXCLUSIVE].
    public PortSharing portSharing() {
        return portSharing;
    }

    /// Returns the maximum of open connections. Default `Integer.MAX_VALUE`.
    public int maxConnections() {
        return maxConnections;
    }

    /// Returns the maximum of open connections from one peer address. Default `Integer.MAX_VALUE`.
    public int maxConnectionsPerPeer() {
        return maxConnectionsPerPeer;
    }

    /// Returns the configuration of accepted streams, including TLS. Default
    /// [StreamConfig#DEFAULT].
    public StreamConfig streams() {
        return streams;
    }

    /// Returns a copy with this [#backlog()], at least 1.
    public ListenerConfig withBacklog(int connections) {
        Checks.range("backlog", connections, 1, Integer.MAX_VALUE);
        return with(copy -> copy.backlog = connections);
    }

    /// Returns a copy with this [#portSharing()].
    public ListenerConfig withPortSharing(PortSharing sharing) {
        Objects.requireNonNull(sharing, "sharing");
        return with(copy -> copy.portSharing = sharing);
    }

    /// Returns a copy with this [#maxConnections()], at least 1.
    public ListenerConfig withMaxConnections(int connections) {
        Checks.range("maxConnections", connections, 1, Integer.MAX_VALUE);
        return with(copy -> copy.maxConnections = connections);
    }

    /// Returns a copy with this [#maxConnectionsPerPeer()], at least 1.
    public ListenerConfig withMaxConnectionsPerPeer(int connections) {
        Checks.range("maxConnectionsPerPeer", connections, 1, Integer.MAX_VALUE);
        return with(copy -> copy.maxConnectionsPerPeer = connections);
    }

    /// Returns a copy with these [#streams()].
    public ListenerConfig withStreams(StreamConfig streams) {
        Objects.requireNonNull(streams, "streams");
        return with(copy -> copy.streams = streams);
    }

    /// Returns a copy whose [#streams()] use TLS from the first byte.
    ///
    /// @param tls for a server: opening a listener rejects a client's
    public ListenerConfig withTls(Tls tls) {
        return withStreams(streams.withTls(Objects.requireNonNull(tls, "tls")));
    }

    private ListenerConfig with(Consumer<ListenerConfig> change) {
        try {
            ListenerConfig copy = (ListenerConfig) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("ListenerConfig is Cloneable", e);
        }
    }
}
