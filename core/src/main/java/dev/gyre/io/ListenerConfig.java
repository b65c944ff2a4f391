package dev.gyre.io;

import java.util.Objects;

/// How a [Listener] behaves. Immutable: each `with` method returns a changed copy.
public final class ListenerConfig implements Cloneable {
    /// The configuration of listeners that are given none.
    public static final ListenerConfig DEFAULT = new ListenerConfig();

    private int backlog = 4_096;
    private PortSharing portSharing = PortSharing.EXCLUSIVE;
    private int maxConnections = Integer.MAX_VALUE;
    private int maxConnectionsPerPeer = Integer.MAX_VALUE;
    private StreamConfig streams = StreamConfig.DEFAULT;

    private ListenerConfig() {}

    /// How many connections wait in the kernel until they are accepted; the system cuts it to what it allows. Default 4 096.
    public int backlog() {
        return backlog;
    }

    /// Whether several listeners share one address, and the kernel spreads connections over them. At first not.
    public PortSharing portSharing() {
        return portSharing;
    }

    /// How many of its connections may be open. Default: no limit but the system's.
    public int maxConnections() {
        return maxConnections;
    }

    /// How many connections of one peer address may be open. Default: no limit.
    public int maxConnectionsPerPeer() {
        return maxConnectionsPerPeer;
    }

    /// How its streams behave, TLS included.
    public StreamConfig streams() {
        return streams;
    }

    /// Changes [#backlog()].
    ///
    /// @throws IllegalArgumentException if it is below one
    public ListenerConfig withBacklog(int connections) {
        ListenerConfig changed = copy();
        changed.backlog = requirePositive("backlog", connections);
        return changed;
    }

    /// Changes [#portSharing()].
    public ListenerConfig withPortSharing(PortSharing sharing) {
        ListenerConfig changed = copy();
        changed.portSharing = Objects.requireNonNull(sharing, "sharing");
        return changed;
    }

    /// Changes [#maxConnections()].
    ///
    /// @throws IllegalArgumentException if it is below one
    public ListenerConfig withMaxConnections(int connections) {
        ListenerConfig changed = copy();
        changed.maxConnections = requirePositive("maxConnections", connections);
        return changed;
    }

    /// Changes [#maxConnectionsPerPeer()].
    ///
    /// @throws IllegalArgumentException if it is below one
    public ListenerConfig withMaxConnectionsPerPeer(int connections) {
        ListenerConfig changed = copy();
        changed.maxConnectionsPerPeer = requirePositive("maxPerPeer", connections);
        return changed;
    }

    /// Changes [#streams()].
    public ListenerConfig withStreams(StreamConfig streams) {
        ListenerConfig changed = copy();
        changed.streams = Objects.requireNonNull(streams, "streams");
        return changed;
    }

    /// The same with TLS from the first byte on: changes [#streams()].
    ///
    /// @param tls a server's: a listener refuses a client's
    public ListenerConfig withTls(Tls tls) {
        return withStreams(streams.withTls(Objects.requireNonNull(tls, "tls")));
    }

    private static int requirePositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " is at least one, not " + value);
        }
        return value;
    }

    private ListenerConfig copy() {
        try {
            return (ListenerConfig) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
