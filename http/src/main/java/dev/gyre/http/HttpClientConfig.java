package dev.gyre.http;

import dev.gyre.io.StreamConfig;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.Objects;

/// Configures an [HttpClient]. Immutable: each `with` method returns a changed copy.
///
/// A `with` method throws an [IllegalArgumentException] for a value out of range, and a
/// [NullPointerException] for null.
///
/// **Threads.** Any.
public final class HttpClientConfig extends Settings<HttpClientConfig> {
    /// The default configuration.
    public static final HttpClientConfig DEFAULT = new HttpClientConfig();

    private int maxConnections = 16;
    private int maxPending = 1_024;
    private int maxHeaderBytes = 64 << 10;
    private int maxHeaderCount = 200;
    private long maxBody = 16L << 20;
    private Duration timeout = Duration.ofSeconds(30);
    private Duration stallTimeout = Duration.ZERO;
    private Duration idleTimeout = Duration.ofSeconds(30);
    private StreamConfig streams = StreamConfig.DEFAULT;
    private JsonMapper jsonMapper = JsonMapper.writeOnly();
    private @Nullable SocketAddress address;

    private HttpClientConfig() {}

    /// Returns the maximum of open connections to one host and port. Default 16.
    public int maxConnections() {
        return maxConnections;
    }

    /// Returns the maximum of requests to one host and port that wait for a connection. Further
    /// requests are rejected. Default 1 024.
    public int maxPending() {
        return maxPending;
    }

    /// Returns the maximum size of a response's head in bytes. Default 64 KiB.
    public int maxHeaderBytes() {
        return maxHeaderBytes;
    }

    /// Returns the maximum number of a response's headers. Default 200.
    public int maxHeaderCount() {
        return maxHeaderCount;
    }

    /// Returns the maximum size of a collected response body in bytes. A larger one rejects the
    /// request, unless [ClientRequest#onData] streams it. Default 16 MiB.
    public long maxBody() {
        return maxBody;
    }

    /// Returns the time from sending a request to the last byte of its response, including
    /// redirects. Zero for no timeout. Default 30 seconds.
    public Duration timeout() {
        return timeout;
    }

    /// Returns the time without progress after which a request with a connection is rejected.
    /// Progress is a byte that the server accepts or sends, or a write to the body. The timeout is
    /// suspended while the request is paused. For transfers of any length, set [#timeout()] to zero
    /// and this to a few seconds. Default zero: no timeout.
    public Duration stallTimeout() {
        return stallTimeout;
    }

    /// Returns how long an unused connection stays open. Default 30 seconds.
    public Duration idleTimeout() {
        return idleTimeout;
    }

    /// Returns the configuration of streams. Its TLS is for `https`; without TLS, the system's
    /// certificate authorities are trusted. Default [StreamConfig#DEFAULT].
    public StreamConfig streams() {
        return streams;
    }

    /// Returns the mapper of [ClientRequest#sendJson] and [ClientResponse#json(Class)]. Default
    /// [JsonMapper#writeOnly()], which cannot read.
    public JsonMapper jsonMapper() {
        return jsonMapper;
    }

    /// Returns the address to connect to instead of the host and port of a URI, such as that of a
    /// Unix domain socket. Default `null`: the URI's.
    public @Nullable SocketAddress address() {
        return address;
    }

    /// Returns a copy with this [#maxConnections()], at least 1.
    public HttpClientConfig withMaxConnections(int connections) {
        return with(copy -> copy.maxConnections = Limits.positive("maxConnections", connections));
    }

    /// Returns a copy with this [#maxPending()], at least 1.
    public HttpClientConfig withMaxPending(int requests) {
        return with(copy -> copy.maxPending = Limits.positive("maxPending", requests));
    }

    /// Returns a copy with this [#maxHeaderBytes()], at least 1.
    public HttpClientConfig withMaxHeaderBytes(int bytes) {
        return with(copy -> copy.maxHeaderBytes = Limits.positive("maxHeaderBytes", bytes));
    }

    /// Returns a copy with this [#maxHeaderCount()], at least 1.
    public HttpClientConfig withMaxHeaderCount(int headers) {
        return with(copy -> copy.maxHeaderCount = Limits.positive("maxHeaderCount", headers));
    }

    /// Returns a copy with this [#maxBody()], at least 1.
    public HttpClientConfig withMaxBody(long bytes) {
        return with(copy -> copy.maxBody = Limits.positive("maxBody", bytes));
    }

    /// Returns a copy with this [#timeout()], not negative.
    public HttpClientConfig withTimeout(Duration timeout) {
        return with(copy -> copy.timeout = Limits.zeroOrMore("timeout", timeout));
    }

    /// Returns a copy with this [#stallTimeout()], not negative.
    public HttpClientConfig withStallTimeout(Duration timeout) {
        return with(copy -> copy.stallTimeout = Limits.zeroOrMore("stallTimeout", timeout));
    }

    /// Returns a copy with this [#idleTimeout()], positive.
    public HttpClientConfig withIdleTimeout(Duration timeout) {
        return with(copy -> copy.idleTimeout = Limits.positive("idleTimeout", timeout));
    }

    /// Returns a copy with these [#streams()].
    public HttpClientConfig withStreams(StreamConfig streams) {
        return with(copy -> copy.streams = Objects.requireNonNull(streams, "streams"));
    }

    /// Returns a copy with this [#jsonMapper()].
    public HttpClientConfig withJsonMapper(JsonMapper mapper) {
        return with(copy -> copy.jsonMapper = Objects.requireNonNull(mapper, "mapper"));
    }

    /// Returns a copy with this [#address()]. The `Host` header still names the URI's host.
    public HttpClientConfig withAddress(SocketAddress address) {
        return with(copy -> copy.address = Objects.requireNonNull(address, "address"));
    }
}
