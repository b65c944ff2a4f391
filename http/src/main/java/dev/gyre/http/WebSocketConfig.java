package dev.gyre.http;

import dev.gyre.http.internal.message.HeaderList;
import dev.gyre.io.StreamConfig;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/// Configures a [WebSocket]. Immutable: each `with` method returns a changed copy.
///
/// ```java
/// var config = WebSocketConfig.DEFAULT.withMaxMessage(64 << 10).withProtocols("chat.v2", "chat");
/// ```
///
/// A `with` method throws an [IllegalArgumentException] for a value out of range, and a
/// [NullPointerException] for null.
///
/// **Threads.** Any.
public final class WebSocketConfig extends Settings<WebSocketConfig> {
    /// The default configuration.
    public static final WebSocketConfig DEFAULT = new WebSocketConfig();

    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+");

    /// Headers that the upgrade sets, and those that it must not have.
    private static final Pattern RESERVED_HEADER =
            Pattern.compile(
                    "(?i)host|upgrade|connection|content-length|transfer-encoding"
                            + "|sec-websocket-.*");

    private int maxMessage = 1 << 20;
    private boolean compression = true;
    private SlowConsumerPolicy slowConsumerPolicy = SlowConsumerPolicy.WAIT;
    private List<String> protocols = List.of();
    private List<String> origins = List.of();
    private Duration pingInterval = Duration.ofSeconds(30);
    private Duration messageTimeout = Duration.ofSeconds(60);
    private Duration closeTimeout = Duration.ofSeconds(5);
    private List<Map.Entry<String, String>> headers = List.of();
    private StreamConfig streams = StreamConfig.DEFAULT;

    private WebSocketConfig() {}

    /// Returns the maximum length of a received message in bytes, after decompression. A longer one
    /// closes the socket with 1009. A compressed message may be an eighth longer on the wire.
    /// Default 1 MiB.
    ///
    /// A message of this length can also be sent whenever the last `send` returned true. A limit of
    /// many megabytes needs as much of the loop's share of the heap, and of its
    /// [buffer memory][dev.gyre.LoopConfig#bufferMemory()].
    public int maxMessage() {
        return maxMessage;
    }

    /// Returns whether permessage-deflate (RFC 7692) is negotiated. Default true.
    public boolean compression() {
        return compression;
    }

    /// Returns the policy for messages to a slow consumer. Default [SlowConsumerPolicy#WAIT].
    public SlowConsumerPolicy slowConsumerPolicy() {
        return slowConsumerPolicy;
    }

    /// Returns the supported subprotocols in order of preference: `Sec-WebSocket-Protocol`. Default
    /// empty.
    public List<String> protocols() {
        return protocols;
    }

    /// Returns the origins whose pages a server accepts, such as `https://example.org`; `*` for
    /// all. Other pages get 403, so they cannot use the sessions of their visitors.
    ///
    /// Default empty: the server accepts its own pages, whose `Origin` names the requested host.
    /// Over TLS the scheme must be `https`. A client without `Origin` is not a browser, and is
    /// accepted.
    public List<String> origins() {
        return origins;
    }

    /// Returns the time without input after which the peer is pinged; zero for no pings. After the
    /// same time again without input the connection is closed. Default 30 seconds.
    public Duration pingInterval() {
        return pingInterval;
    }

    /// Returns the timeout of a message from its first byte to its last; zero for no timeout. Each
    /// 1 000 bytes extend it by a second. A slower message closes the socket with 1008. Default 60
    /// seconds.
    public Duration messageTimeout() {
        return messageTimeout;
    }

    /// Returns how long [WebSocket#close()] waits for the peer's close frame. Restarts while the
    /// peer accepts earlier messages. Default 5 seconds.
    public Duration closeTimeout() {
        return closeTimeout;
    }

    /// Returns the additional headers of a client's request, such as `Authorization`, `Cookie` or
    /// `Origin`. Default empty.
    public List<Map.Entry<String, String>> headers() {
        return headers;
    }

    /// Returns the configuration of a client's stream, including TLS. A server's stream has that of
    /// its listener. Default [StreamConfig#DEFAULT].
    public StreamConfig streams() {
        return streams;
    }

    /// Returns a copy with this [#maxMessage()], at least 1.
    public WebSocketConfig withMaxMessage(int bytes) {
        return with(copy -> copy.maxMessage = Limits.positive("maxMessage", bytes));
    }

    /// Returns a copy with this [#compression()].
    public WebSocketConfig withCompression(boolean compression) {
        return with(copy -> copy.compression = compression);
    }

    /// Returns a copy with this [#slowConsumerPolicy()].
    public WebSocketConfig withSlowConsumerPolicy(SlowConsumerPolicy policy) {
        return with(copy -> copy.slowConsumerPolicy = Objects.requireNonNull(policy, "policy"));
    }

    /// Returns a copy with these [#protocols()].
    ///
    /// @throws IllegalArgumentException if one is not a token: letters, digits and some punctuation
    public WebSocketConfig withProtocols(String... protocols) {
        for (String each : protocols) {
            if (!TOKEN.matcher(each).matches()) {
                throw new IllegalArgumentException(
                        "a protocol has only letters, digits and !#$%&'*+-.^_`|~, but is '"
                                + each
                                + "'");
            }
        }
        List<String> all = List.of(protocols);
        return with(copy -> copy.protocols = all);
    }

    /// Returns a copy with these [#origins()]. No others are accepted, so include the server's own.
    ///
    /// @param origins as browsers send them: scheme, host, and the port unless it is the default
    ///     one; `*` for all
    public WebSocketConfig withOrigins(String... origins) {
        List<String> all = List.of(origins);
        return with(copy -> copy.origins = all);
    }

    /// Returns a copy with this [#pingInterval()], zero or more.
    public WebSocketConfig withPingInterval(Duration interval) {
        return with(copy -> copy.pingInterval = Limits.zeroOrMore("pingInterval", interval));
    }

    /// Returns a copy with this [#messageTimeout()], zero or more.
    public WebSocketConfig withMessageTimeout(Duration timeout) {
        return with(copy -> copy.messageTimeout = Limits.zeroOrMore("messageTimeout", timeout));
    }

    /// Returns a copy with this [#closeTimeout()], zero or more.
    public WebSocketConfig withCloseTimeout(Duration timeout) {
        return with(copy -> copy.closeTimeout = Limits.zeroOrMore("closeTimeout", timeout));
    }

    /// Returns a copy with one more of the [#headers()].
    ///
    /// @throws IllegalArgumentException if it is not a valid header, the upgrade sets it, or all
    ///     are too long together
    public WebSocketConfig withHeader(String name, String value) {
        if (RESERVED_HEADER.matcher(name).matches()) {
            throw new IllegalArgumentException(
                    "the upgrade sets the header " + name + " itself: remove it");
        }
        List<Map.Entry<String, String>> all = new ArrayList<>(headers);
        all.add(Map.entry(name, value));
        HeaderList checked = new HeaderList();
        all.forEach(each -> checked.add(each.getKey(), each.getValue()));
        return with(copy -> copy.headers = List.copyOf(all));
    }

    /// Returns a copy with these [#streams()].
    public WebSocketConfig withStreams(StreamConfig streams) {
        return with(copy -> copy.streams = Objects.requireNonNull(streams, "streams"));
    }
}
