package dev.gyre.http;

import dev.gyre.http.internal.message.FieldList;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;

/// The limits and times of an [HttpServer]. Immutable: each `with` method returns a changed copy.
///
/// ```java
/// HttpServer.on(loop, HttpConfig.DEFAULT.withMaxBody(64 << 20).withIdleTimeout(Duration.ofSeconds(15)))
/// ```
public final class HttpConfig implements Cloneable {
    /// The configuration of servers that are given none.
    public static final HttpConfig DEFAULT = new HttpConfig();

    private static final int MOST_NAME = 256;

    private int maxTarget = 8 << 10;
    private int maxHead = 16 << 10;
    private int maxFields = 100;
    private long maxBody = 1 << 20;
    private int maxBlocking = 256;
    private Duration idleTimeout = Duration.ofSeconds(60);
    private Duration headTimeout = Duration.ofSeconds(10);
    private Duration bodyTimeout = Duration.ofSeconds(30);
    private int leastBodyRate = 1_000;
    private Duration writeTimeout = Duration.ofSeconds(30);
    private int leastWriteRate = 100;
    private String serverName = "gyre";
    private InstantSource clock = InstantSource.system();

    private HttpConfig() {}

    /// How many bytes the target of a request may have: more is answered with 414. Default 8 KiB.
    public int maxTarget() {
        return maxTarget;
    }

    /// How many bytes the head of a request may have, request line and header: more is answered with 431. Default 16 KiB.
    public int maxHead() {
        return maxHead;
    }

    /// How many header fields a request may have, and how many trailer fields: more is answered with 431. Default 100.
    public int maxFields() {
        return maxFields;
    }

    /// How many bytes of content a request may have: more is answered with 413. Default 1 MiB. [HttpServer#maxBody]
    /// changes it for one route.
    public long maxBody() {
        return maxBody;
    }

    /// How many [BlockingHandler]s run at a time for each loop, not counting those that wait for their peers: for more
    /// the answer is 503. Default 256.
    public int maxBlocking() {
        return maxBlocking;
    }

    /// How long a connection is kept on which nobody asks for anything. Default 60 seconds.
    public Duration idleTimeout() {
        return idleTimeout;
    }

    /// How long the head of a request may take from its first byte to its last: longer is answered with 408. Default 10 seconds.
    public Duration headTimeout() {
        return headTimeout;
    }

    /// How long the content of a request may take, plus the time that [#leastBodyRate()] allows for what has
    /// arrived: longer is answered with 408. Default 30 seconds.
    public Duration bodyTimeout() {
        return bodyTimeout;
    }

    /// How many bytes a second of a request's content have to arrive in the long run. Default 1 000.
    public int leastBodyRate() {
        return leastBodyRate;
    }

    /// How long a peer may take nothing of what is sent to it, before the connection is closed. Default 30 seconds.
    public Duration writeTimeout() {
        return writeTimeout;
    }

    /// How many bytes a second a peer has to take while something waits for it, on average over [#writeTimeout()]:
    /// the connection of one that takes less is closed, as if it had taken nothing, also after it became a WebSocket. Zero
    /// for any. Default 100.
    public int leastWriteRate() {
        return leastWriteRate;
    }

    /// What the `Server` field of responses says; empty for no such field. Default `gyre`.
    public String serverName() {
        return serverName;
    }

    /// Where the `Date` field of responses comes from. Default: the system.
    public InstantSource clock() {
        return clock;
    }

    /// Changes [#maxTarget()].
    public HttpConfig withMaxTarget(int bytes) {
        HttpConfig changed = copy();
        changed.maxTarget = Limits.positive("maxTarget", bytes);
        return changed;
    }

    /// Changes [#maxHead()].
    ///
    /// @throws IllegalArgumentException if it is below one byte, or above 64 KiB
    public HttpConfig withMaxHead(int bytes) {
        if (Limits.positive("maxHead", bytes) > 64 << 10) {
            throw new IllegalArgumentException("maxHead is at most 64 KiB, not " + bytes);
        }
        HttpConfig changed = copy();
        changed.maxHead = bytes;
        return changed;
    }

    /// Changes [#maxFields()].
    ///
    /// @throws IllegalArgumentException if it is below one, or above 10 000
    public HttpConfig withMaxFields(int fields) {
        if (Limits.positive("maxFields", fields) > 10_000) {
            throw new IllegalArgumentException("maxFields is at most 10 000, not " + fields);
        }
        HttpConfig changed = copy();
        changed.maxFields = fields;
        return changed;
    }

    /// Changes [#maxBody()].
    public HttpConfig withMaxBody(long bytes) {
        HttpConfig changed = copy();
        changed.maxBody = Limits.positive("maxBody", bytes);
        return changed;
    }

    /// Changes [#maxBlocking()].
    public HttpConfig withMaxBlocking(int handlers) {
        HttpConfig changed = copy();
        changed.maxBlocking = Limits.positive("maxBlocking", handlers);
        return changed;
    }

    /// Changes [#idleTimeout()].
    public HttpConfig withIdleTimeout(Duration timeout) {
        HttpConfig changed = copy();
        changed.idleTimeout = Limits.positive("idleTimeout", timeout);
        return changed;
    }

    /// Changes [#headTimeout()].
    public HttpConfig withHeadTimeout(Duration timeout) {
        HttpConfig changed = copy();
        changed.headTimeout = Limits.positive("headTimeout", timeout);
        return changed;
    }

    /// Changes [#bodyTimeout()] and [#leastBodyRate()].
    public HttpConfig withBodyTimeout(Duration timeout, int leastBytesPerSecond) {
        HttpConfig changed = copy();
        changed.bodyTimeout = Limits.positive("bodyTimeout", timeout);
        changed.leastBodyRate = Limits.positive("leastBytesPerSecond", leastBytesPerSecond);
        return changed;
    }

    /// Changes [#writeTimeout()].
    public HttpConfig withWriteTimeout(Duration timeout) {
        HttpConfig changed = copy();
        changed.writeTimeout = Limits.positive("writeTimeout", timeout);
        return changed;
    }

    /// Changes [#writeTimeout()] and [#leastWriteRate()].
    ///
    /// @throws IllegalArgumentException if the time is not positive, or the rate is negative
    public HttpConfig withWriteTimeout(Duration timeout, int leastBytesPerSecond) {
        HttpConfig changed = withWriteTimeout(timeout);
        changed.leastWriteRate = Limits.zeroOrMore("leastBytesPerSecond", leastBytesPerSecond);
        return changed;
    }

    /// Changes [#serverName()].
    ///
    /// @throws IllegalArgumentException if it is no value of a field, or has more than 256 characters
    public HttpConfig withServerName(String name) {
        FieldList.requireValue("Server", name);
        if (name.length() > MOST_NAME) {
            throw new IllegalArgumentException(
                    "serverName has at most " + MOST_NAME + " characters, not " + name.length());
        }
        HttpConfig changed = copy();
        changed.serverName = name;
        return changed;
    }

    /// Changes [#clock()].
    public HttpConfig withClock(InstantSource clock) {
        HttpConfig changed = copy();
        changed.clock = Objects.requireNonNull(clock, "clock");
        return changed;
    }

    private HttpConfig copy() {
        try {
            return (HttpConfig) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
