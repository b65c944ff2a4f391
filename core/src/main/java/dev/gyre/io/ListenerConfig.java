package dev.gyre.io;

import dev.gyre.internal.base.Checks;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// Configures a [Listener] or a [GroupListener]. Immutable: each `with` method returns a changed
/// copy.
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
    private Distribution distribution = Distribution.REUSE_PORT;
    private Duration rebalanceInterval = Duration.ZERO;
    private boolean drainOnShutdown = true;
    private boolean reservedDescriptors;
    private int maxConnections = Integer.MAX_VALUE;
    private int maxConnectionsPerPeer = Integer.MAX_VALUE;
    private StreamConfig streams = StreamConfig.DEFAULT;
    private @Nullable BiConsumer<? super SocketAddress, ? super Throwable> onHandshakeFailed;

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

    /// Returns how a [GroupListener] distributes connections over its loops. Has no effect on a
    /// single loop. Default [Distribution#REUSE_PORT].
    public Distribution distribution() {
        return distribution;
    }

    /// Returns how often a [GroupListener] moves connections from loops with many to loops with
    /// few: see [Stream#moveTo]. It moves idle connections first, and none while the loops differ
    /// by at most 8 connections or an eighth of their average. Callbacks of a stream may run on
    /// another loop after a move, so they must not refer to state of one loop. A [Protocol] may
    /// refuse. Has no effect on a single loop. Default zero: never.
    public Duration rebalanceInterval() {
        return rebalanceInterval;
    }

    /// Returns whether [dev.gyre.LoopGroup#shutdown] drains a [GroupListener]. A server that drains
    /// its listeners itself sets it to false. Has no effect on a single loop. Default true.
    public boolean drainOnShutdown() {
        return drainOnShutdown;
    }

    /// Returns whether accepted connections may use the descriptors below the open-file limit that
    /// are reserved for files and outgoing connections. For a listener of a few connections that
    /// must work when other listeners have exhausted the limit, such as that of an admin address.
    /// Default false.
    public boolean reservedDescriptors() {
        return reservedDescriptors;
    }

    /// Returns the maximum of open connections, over all loops of a group. Default
    /// `Integer.MAX_VALUE`.
    public int maxConnections() {
        return maxConnections;
    }

    /// Returns the maximum of open connections from one peer address, over all loops of a group.
    /// Default `Integer.MAX_VALUE`.
    public int maxConnectionsPerPeer() {
        return maxConnectionsPerPeer;
    }

    /// Returns the configuration of accepted streams, including TLS. Default
    /// [StreamConfig#DEFAULT].
    public StreamConfig streams() {
        return streams;
    }

    /// Returns the callback for failed TLS handshakes. Default null: only
    /// [dev.gyre.metrics.LoopMetrics#streamsClosed] counts them.
    public @Nullable BiConsumer<? super SocketAddress, ? super Throwable> onHandshakeFailed() {
        return onHandshakeFailed;
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

    /// Returns a copy with this [#distribution()].
    public ListenerConfig withDistribution(Distribution distribution) {
        Objects.requireNonNull(distribution, "distribution");
        return with(copy -> copy.distribution = distribution);
    }

    /// Returns a copy with this [#rebalanceInterval()], zero or more.
    public ListenerConfig withRebalanceInterval(Duration interval) {
        Checks.notNegative("rebalanceInterval", interval);
        return with(copy -> copy.rebalanceInterval = interval);
    }

    /// Returns a copy with this [#drainOnShutdown()].
    public ListenerConfig withDrainOnShutdown(boolean drains) {
        return with(copy -> copy.drainOnShutdown = drains);
    }

    /// Returns a copy with this [#reservedDescriptors()].
    public ListenerConfig withReservedDescriptors(boolean used) {
        return with(copy -> copy.reservedDescriptors = used);
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

    /// Returns a copy with this [#onHandshakeFailed()]. The callback runs on the loop thread with
    /// the peer's address and the cause, whenever a connection is closed before its TLS handshake
    /// completes: an untrusted certificate, a timeout, a port scan. Port scans are frequent: log at
    /// a low level, or count.
    public ListenerConfig withOnHandshakeFailed(
            BiConsumer<? super SocketAddress, ? super Throwable> callback) {
        Objects.requireNonNull(callback, "callback");
        return with(copy -> copy.onHandshakeFailed = callback);
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
