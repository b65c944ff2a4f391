package dev.gyre.http;

import dev.gyre.http.internal.message.HeaderList;
import dev.gyre.http.internal.server.TrustedProxies;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;

/// Configures an [HttpServer]. Immutable: each `with` method returns a changed copy.
///
/// ```java
/// var config = HttpConfig.DEFAULT.withMaxBody(64 << 20).withIdleTimeout(Duration.ofSeconds(15));
/// ```
///
/// A `with` method throws an [IllegalArgumentException] for a value out of range, and a
/// [NullPointerException] for null.
///
/// **Threads.** Any.
public final class HttpConfig extends Settings<HttpConfig> {
    /// The default configuration, as used by [HttpServer#on(dev.gyre.EventLoop)].
    public static final HttpConfig DEFAULT = new HttpConfig();

    private int maxUriLength = 8 << 10;
    private int maxHeaderBytes = 16 << 10;
    private int maxHeaderCount = 100;
    private long maxBody = 1 << 20;
    private int maxBlocking = 256;
    private Duration idleTimeout = Duration.ofSeconds(60);
    private Duration headerTimeout = Duration.ofSeconds(10);
    private Duration bodyTimeout = Duration.ofSeconds(30);
    private int minBodyBytesPerSecond = 1_000;
    private Duration writeTimeout = Duration.ofSeconds(30);
    private int minWriteBytesPerSecond = 100;
    private Duration drainDelay = Duration.ZERO;
    private List<String> trustedProxies = List.of();
    private ForwardedHeaders forwardedHeaders = ForwardedHeaders.X_FORWARDED;
    private boolean forwardedHost;
    private String serverName = "gyre";
    private InstantSource clock = InstantSource.system();

    private HttpConfig() {}

    /// Returns the maximum length of a request's target in bytes. Longer ones get 414. Default 8
    /// KiB.
    public int maxUriLength() {
        return maxUriLength;
    }

    /// Returns the maximum size of a request's head: request line and headers. Larger ones get 431.
    /// Default 16 KiB.
    public int maxHeaderBytes() {
        return maxHeaderBytes;
    }

    /// Returns the maximum number of headers of a request, and of trailers. More get 431. Default
    /// 100.
    public int maxHeaderCount() {
        return maxHeaderCount;
    }

    /// Returns the maximum size of a request's body. Larger ones get 413. [Routes#maxBody] changes
    /// it for some routes. Default 1 MiB.
    public long maxBody() {
        return maxBody;
    }

    /// Returns the maximum number of [BlockingHandler]s that run at a time per loop, except those
    /// that wait for their clients. Further requests get 503. Default 256.
    public int maxBlocking() {
        return maxBlocking;
    }

    /// Returns the time after which a connection without a request is closed. Default 60 seconds.
    public Duration idleTimeout() {
        return idleTimeout;
    }

    /// Returns the maximum time from the first to the last byte of a request's head. Slower ones
    /// get 408. Default 10 seconds.
    public Duration headerTimeout() {
        return headerTimeout;
    }

    /// Returns the maximum time for a request's body, to which [#minBodyBytesPerSecond()] adds time
    /// for the bytes received. Slower ones get 408. Default 30 seconds.
    public Duration bodyTimeout() {
        return bodyTimeout;
    }

    /// Returns the minimum average rate of a request's body. Default 1 000.
    public int minBodyBytesPerSecond() {
        return minBodyBytesPerSecond;
    }

    /// Returns the time after which a connection is closed whose client reads nothing of its
    /// responses. Default 30 seconds.
    public Duration writeTimeout() {
        return writeTimeout;
    }

    /// Returns the minimum rate at which a client must read pending output, on average over
    /// [#writeTimeout()]. Slower connections are closed, also WebSockets. Zero for no minimum.
    /// Default 100.
    public int minWriteBytesPerSecond() {
        return minWriteBytesPerSecond;
    }

    /// Returns the time that [HttpServer#drain] keeps listening and serving, while
    /// [HttpServer#health] responds with 503. Load balancers need it to take the server out of
    /// rotation: with zero they only see refused connections. Default zero.
    public Duration drainDelay() {
        return drainDelay;
    }

    /// Returns the proxies whose forwarding headers count for [Request#clientAddress()] and
    /// [Request#scheme()], and for [Request#host()] with [#forwardedHost()]. Default none.
    ///
    /// The client's address is the last one that is no trusted proxy: addresses before it may be
    /// forged. A proxy must replace the headers that clients send, or append to them.
    public List<String> trustedProxies() {
        return trustedProxies;
    }

    /// Returns the kind of headers that [#trustedProxies()] write. The other kind is ignored: a
    /// proxy passes it on as the client sent it. Default [ForwardedHeaders#X_FORWARDED].
    public ForwardedHeaders forwardedHeaders() {
        return forwardedHeaders;
    }

    /// Returns whether [Request#host()] is the host that [#trustedProxies()] forward. Set it only
    /// if the proxy replaces the forwarded host: many pass on the one that the client sent.
    /// Virtual hosts are always selected by the `Host` header. Default false.
    public boolean forwardedHost() {
        return forwardedHost;
    }

    /// Returns the `Server` header of responses; empty for none. Default `gyre`.
    public String serverName() {
        return serverName;
    }

    /// Returns the clock of the `Date` header. Default: the system's.
    public InstantSource clock() {
        return clock;
    }

    /// Returns a copy with this [#maxUriLength()], at least 1.
    public HttpConfig withMaxUriLength(int bytes) {
        return with(copy -> copy.maxUriLength = Limits.positive("maxUriLength", bytes));
    }

    /// Returns a copy with this [#maxHeaderBytes()], from 1 to 64 KiB.
    public HttpConfig withMaxHeaderBytes(int bytes) {
        Limits.range("maxHeaderBytes", bytes, 1, 64 << 10);
        return with(copy -> copy.maxHeaderBytes = bytes);
    }

    /// Returns a copy with this [#maxHeaderCount()], from 1 to 10 000.
    public HttpConfig withMaxHeaderCount(int headers) {
        Limits.range("maxHeaderCount", headers, 1, 10_000);
        return with(copy -> copy.maxHeaderCount = headers);
    }

    /// Returns a copy with this [#maxBody()], at least 1.
    public HttpConfig withMaxBody(long bytes) {
        return with(copy -> copy.maxBody = Limits.positive("maxBody", bytes));
    }

    /// Returns a copy with this [#maxBlocking()], at least 1.
    public HttpConfig withMaxBlocking(int handlers) {
        return with(copy -> copy.maxBlocking = Limits.positive("maxBlocking", handlers));
    }

    /// Returns a copy with this positive [#idleTimeout()].
    public HttpConfig withIdleTimeout(Duration timeout) {
        return with(copy -> copy.idleTimeout = Limits.positive("idleTimeout", timeout));
    }

    /// Returns a copy with this positive [#headerTimeout()].
    public HttpConfig withHeaderTimeout(Duration timeout) {
        return with(copy -> copy.headerTimeout = Limits.positive("headerTimeout", timeout));
    }

    /// Returns a copy with this positive [#bodyTimeout()] and these [#minBodyBytesPerSecond()], at
    /// least 1.
    public HttpConfig withBodyTimeout(Duration timeout, int minBytesPerSecond) {
        Limits.positive("bodyTimeout", timeout);
        Limits.positive("minBodyBytesPerSecond", minBytesPerSecond);
        return with(
                copy -> {
                    copy.bodyTimeout = timeout;
                    copy.minBodyBytesPerSecond = minBytesPerSecond;
                });
    }

    /// Returns a copy with this positive [#writeTimeout()].
    public HttpConfig withWriteTimeout(Duration timeout) {
        return withWriteTimeout(timeout, minWriteBytesPerSecond);
    }

    /// Returns a copy with this positive [#writeTimeout()] and these [#minWriteBytesPerSecond()],
    /// at least 0.
    public HttpConfig withWriteTimeout(Duration timeout, int minBytesPerSecond) {
        Limits.positive("writeTimeout", timeout);
        Limits.zeroOrMore("minWriteBytesPerSecond", minBytesPerSecond);
        return with(
                copy -> {
                    copy.writeTimeout = timeout;
                    copy.minWriteBytesPerSecond = minBytesPerSecond;
                });
    }

    /// Returns a copy with this [#drainDelay()], at least zero.
    public HttpConfig withDrainDelay(Duration delay) {
        return with(copy -> copy.drainDelay = Limits.zeroOrMore("drainDelay", delay));
    }

    /// Returns a copy with these [#trustedProxies()].
    ///
    /// @param proxies addresses such as `10.0.0.7`, CIDR ranges such as `10.0.0.0/8` or `fd00::/8`,
    ///     and `unix` for all clients of a Unix domain socket
    public HttpConfig withTrustedProxies(String... proxies) {
        List<String> checked = List.of(proxies);
        TrustedProxies _ = new TrustedProxies(checked);
        return with(copy -> copy.trustedProxies = checked);
    }

    /// Returns a copy with these [#forwardedHeaders()].
    public HttpConfig withForwardedHeaders(ForwardedHeaders headers) {
        return with(copy -> copy.forwardedHeaders = Objects.requireNonNull(headers, "headers"));
    }

    /// Returns a copy with this [#forwardedHost()].
    public HttpConfig withForwardedHost(boolean used) {
        return with(copy -> copy.forwardedHost = used);
    }

    /// Returns a copy with this [#serverName()], a header value of up to 256 characters.
    public HttpConfig withServerName(String name) {
        HeaderList.requireValue("Server", name);
        Limits.range("length of serverName", name.length(), 0, 256);
        return with(copy -> copy.serverName = name);
    }

    /// Returns a copy with this [#clock()].
    public HttpConfig withClock(InstantSource clock) {
        return with(copy -> copy.clock = Objects.requireNonNull(clock, "clock"));
    }
}
