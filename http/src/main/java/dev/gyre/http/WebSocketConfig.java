package dev.gyre.http;

import dev.gyre.io.StreamConfig;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

/// How a [WebSocket] behaves. Immutable: each `with` method returns a changed copy.
public final class WebSocketConfig implements Cloneable {
    /// The configuration of sockets that are given none.
    public static final WebSocketConfig DEFAULT = new WebSocketConfig();

    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    private int maxMessage = 1 << 20;
    private boolean compression = true;
    private WhenSlow whenSlow = WhenSlow.WAIT;
    private List<String> protocols = List.of();
    private List<String> origins = List.of();
    private Duration pingInterval = Duration.ofSeconds(30);
    private Duration closeTimeout = Duration.ofSeconds(5);
    private StreamConfig streams = StreamConfig.DEFAULT;

    private WebSocketConfig() {}

    /// How many bytes a message that arrives may have, inflated: more closes with 1009. Default 1 MiB.
    public int maxMessage() {
        return maxMessage;
    }

    /// Whether permessage-deflate (RFC 7692) is agreed on with peers that know it. Default true.
    public boolean compression() {
        return compression;
    }

    /// What becomes of messages that a peer does not take. Default [WhenSlow#WAIT].
    public WhenSlow whenSlow() {
        return whenSlow;
    }

    /// What is spoken, best first: `Sec-WebSocket-Protocol`. Default: nothing is said of it.
    public List<String> protocols() {
        return protocols;
    }

    /// Of which origins' pages a server accepts sockets; empty for all. Others are answered with 403. Default empty.
    public List<String> origins() {
        return origins;
    }

    /// After how long without a byte from the peer it is pinged; after as long again it is taken for gone. Default 30
    /// seconds.
    public Duration pingInterval() {
        return pingInterval;
    }

    /// How long the peer may take for its part of the closing handshake. Default 5 seconds.
    public Duration closeTimeout() {
        return closeTimeout;
    }

    /// How a client's stream behaves, TLS included.
    public StreamConfig streams() {
        return streams;
    }

    /// Changes [#maxMessage()].
    public WebSocketConfig withMaxMessage(int bytes) {
        WebSocketConfig changed = copy();
        changed.maxMessage = Limits.positive("maxMessage", bytes);
        return changed;
    }

    /// Changes [#compression()].
    public WebSocketConfig withCompression(boolean compression) {
        WebSocketConfig changed = copy();
        changed.compression = compression;
        return changed;
    }

    /// Changes [#whenSlow()].
    public WebSocketConfig withWhenSlow(WhenSlow policy) {
        WebSocketConfig changed = copy();
        changed.whenSlow = Objects.requireNonNull(policy, "policy");
        return changed;
    }

    /// Changes [#protocols()].
    ///
    /// @throws IllegalArgumentException if one is no token: letters, digits and some marks
    public WebSocketConfig withProtocols(String... protocols) {
        for (String each : protocols) {
            if (!TOKEN.matcher(each).matches()) {
                throw new IllegalArgumentException(
                        "a protocol's name is of letters, digits and !#$%&'*+-.^_`|~, not '"
                                + each
                                + "'");
            }
        }
        WebSocketConfig changed = copy();
        changed.protocols = List.of(protocols);
        return changed;
    }

    /// Changes [#origins()].
    public WebSocketConfig withOrigins(String... origins) {
        WebSocketConfig changed = copy();
        changed.origins = List.of(origins);
        return changed;
    }

    /// Changes [#pingInterval()].
    ///
    /// @param interval zero for never
    public WebSocketConfig withPingInterval(Duration interval) {
        WebSocketConfig changed = copy();
        changed.pingInterval = Limits.zeroOrMore("pingInterval", interval);
        return changed;
    }

    /// Changes [#closeTimeout()].
    public WebSocketConfig withCloseTimeout(Duration timeout) {
        WebSocketConfig changed = copy();
        changed.closeTimeout = Limits.zeroOrMore("closeTimeout", timeout);
        return changed;
    }

    /// Changes [#streams()].
    public WebSocketConfig withStreams(StreamConfig streams) {
        WebSocketConfig changed = copy();
        changed.streams = Objects.requireNonNull(streams, "streams");
        return changed;
    }

    private WebSocketConfig copy() {
        try {
            return (WebSocketConfig) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
