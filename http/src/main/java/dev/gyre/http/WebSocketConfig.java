package dev.gyre.http;

import dev.gyre.http.internal.message.FieldList;
import dev.gyre.io.StreamConfig;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/// How a [WebSocket] behaves. Immutable: each `with` method returns a changed copy.
public final class WebSocketConfig implements Cloneable {
    /// The configuration of sockets that are given none.
    public static final WebSocketConfig DEFAULT = new WebSocketConfig();

    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    /// What a client's request has in any case, or must not have.
    private static final Pattern OWN_FIELD =
            Pattern.compile(
                    "(?i)host|upgrade|connection|content-length|transfer-encoding|sec-websocket-.*");

    private int maxMessage = 1 << 20;
    private boolean compression = true;
    private WhenSlow whenSlow = WhenSlow.WAIT;
    private List<String> protocols = List.of();
    private List<String> origins = List.of();
    private Duration pingInterval = Duration.ofSeconds(30);
    private Duration messageTimeout = Duration.ofSeconds(60);
    private Duration closeTimeout = Duration.ofSeconds(5);
    private List<Map.Entry<String, String>> headers = List.of();
    private StreamConfig streams = StreamConfig.DEFAULT;

    private WebSocketConfig() {}

    /// How many bytes a message that arrives may have, inflated: more closes with 1009. Compressed it may have an eighth
    /// more. Default 1 MiB.
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

    /// Of which origins' pages a server accepts sockets: `https://example.org`, or `*` for all. Empty for its own only,
    /// those whose `Origin` names the host that the request is for, and by `https` if it came over TLS. Others are
    /// answered with 403, so that no page of somebody else's can talk in the name of whoever looks at it. Who sends no
    /// `Origin` is no browser, and accepted. Default empty.
    public List<String> origins() {
        return origins;
    }

    /// After how long without a byte from the peer it is pinged; after as long again it is taken for gone. Default 30
    /// seconds.
    public Duration pingInterval() {
        return pingInterval;
    }

    /// How long a message may take from its first byte to its last, plus a second for each 1000 bytes of it that have
    /// arrived: more closes with 1008. Default 60 seconds.
    public Duration messageTimeout() {
        return messageTimeout;
    }

    /// How long the peer may take for its part of the closing handshake. Default 5 seconds.
    public Duration closeTimeout() {
        return closeTimeout;
    }

    /// What a client's request says beside what the upgrade needs, such as `Authorization`, `Cookie` or `Origin`. Default
    /// nothing.
    public List<Map.Entry<String, String>> headers() {
        return headers;
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

    /// Changes [#origins()]. These and no others: one's own has to be among them.
    ///
    /// @param origins as browsers send them, scheme and host and, if it is not the usual one, port; `*` for all
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

    /// Changes [#messageTimeout()].
    ///
    /// @param timeout zero for as long as it likes
    public WebSocketConfig withMessageTimeout(Duration timeout) {
        WebSocketConfig changed = copy();
        changed.messageTimeout = Limits.zeroOrMore("messageTimeout", timeout);
        return changed;
    }

    /// Adds to [#headers()].
    ///
    /// @throws IllegalArgumentException if it is no header field, or one that the upgrade has itself
    public WebSocketConfig withHeader(String name, String value) {
        if (OWN_FIELD.matcher(name).matches()) {
            throw new IllegalArgumentException(name + " is seen to: leave it alone");
        }
        List<Map.Entry<String, String>> more = new ArrayList<>(headers);
        more.add(Map.entry(name, value));
        FieldList checked = new FieldList();
        more.forEach(each -> checked.add(each.getKey(), each.getValue()));
        WebSocketConfig changed = copy();
        changed.headers = List.copyOf(more);
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
