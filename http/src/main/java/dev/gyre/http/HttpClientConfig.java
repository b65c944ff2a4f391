package dev.gyre.http;

import dev.gyre.io.StreamConfig;

import java.time.Duration;
import java.util.Objects;

/// How an [HttpClient] behaves. Immutable: each `with` method returns a changed copy.
public final class HttpClientConfig implements Cloneable {
    /// The configuration of clients that are given none.
    public static final HttpClientConfig DEFAULT = new HttpClientConfig();

    private int maxConnections = 16;
    private int maxWaiting = 1_024;
    private int maxHead = 64 << 10;
    private int maxFields = 200;
    private long maxContent = 16L << 20;
    private Duration timeout = Duration.ofSeconds(30);
    private Duration stallTimeout = Duration.ZERO;
    private Duration idleTimeout = Duration.ofSeconds(30);
    private StreamConfig streams = StreamConfig.DEFAULT;

    private HttpClientConfig() {}

    /// How many connections to one host and port may be open. Default 16.
    public int maxConnections() {
        return maxConnections;
    }

    /// How many requests to one host and port may wait for a connection: more are rejected. Default 1 024.
    public int maxWaiting() {
        return maxWaiting;
    }

    /// How many bytes the head of an answer may have. Default 64 KiB.
    public int maxHead() {
        return maxHead;
    }

    /// How many header fields an answer may have. Default 200.
    public int maxFields() {
        return maxFields;
    }

    /// How many bytes of content are collected: more rejects the request. Default 16 MiB.
    public long maxContent() {
        return maxContent;
    }

    /// How long a request may take in all, from [HttpCall#send()] to the last byte of the answer, whatever happens meanwhile; zero for as long as
    /// it takes. Default 30 seconds.
    public Duration timeout() {
        return timeout;
    }

    /// How long nothing may move of a request that has a connection: no byte of it that the peer takes or its writer writes, and none of the answer.
    /// While the call is paused this does not run. Zero for never, as by default: the time in all is enough as long as there is one. For transfers
    /// of any length switch that off, and set this.
    public Duration stallTimeout() {
        return stallTimeout;
    }

    /// How long a connection is kept between requests, while nobody uses it. Default 30 seconds.
    public Duration idleTimeout() {
        return idleTimeout;
    }

    /// How its streams behave; its TLS is for `https`, by default the system's authorities.
    public StreamConfig streams() {
        return streams;
    }

    /// Changes [#maxConnections()].
    public HttpClientConfig withMaxConnections(int connections) {
        HttpClientConfig changed = copy();
        changed.maxConnections = Limits.positive("maxConnections", connections);
        return changed;
    }

    /// Changes [#maxWaiting()].
    public HttpClientConfig withMaxWaiting(int requests) {
        HttpClientConfig changed = copy();
        changed.maxWaiting = Limits.positive("maxWaiting", requests);
        return changed;
    }

    /// Changes [#maxHead()] and [#maxFields()].
    public HttpClientConfig withMaxHead(int bytes, int fields) {
        HttpClientConfig changed = copy();
        changed.maxHead = Limits.positive("bytes", bytes);
        changed.maxFields = Limits.positive("fields", fields);
        return changed;
    }

    /// Changes [#maxContent()].
    public HttpClientConfig withMaxContent(long bytes) {
        HttpClientConfig changed = copy();
        changed.maxContent = Limits.positive("maxContent", bytes);
        return changed;
    }

    /// Changes [#timeout()].
    ///
    /// @param timeout zero for never
    public HttpClientConfig withTimeout(Duration timeout) {
        HttpClientConfig changed = copy();
        changed.timeout = Limits.zeroOrMore("timeout", timeout);
        return changed;
    }

    /// Changes [#stallTimeout()].
    ///
    /// @param timeout zero for never
    public HttpClientConfig withStallTimeout(Duration timeout) {
        HttpClientConfig changed = copy();
        changed.stallTimeout = Limits.zeroOrMore("stallTimeout", timeout);
        return changed;
    }

    /// Changes [#idleTimeout()].
    public HttpClientConfig withIdleTimeout(Duration timeout) {
        HttpClientConfig changed = copy();
        changed.idleTimeout = Limits.positive("idleTimeout", timeout);
        return changed;
    }

    /// Changes [#streams()].
    public HttpClientConfig withStreams(StreamConfig streams) {
        HttpClientConfig changed = copy();
        changed.streams = Objects.requireNonNull(streams, "streams");
        return changed;
    }

    private HttpClientConfig copy() {
        try {
            return (HttpClientConfig) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
