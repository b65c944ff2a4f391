package dev.gyre.io;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/// How a [Stream] behaves. Immutable: each `with` method returns a changed copy.
///
/// ```java
/// var config = StreamConfig.DEFAULT.withIdleTimeout(Duration.ofSeconds(30)).withNoDelay(false);
/// ```
public final class StreamConfig implements Cloneable {
    /// The configuration of streams that are given none.
    public static final StreamConfig DEFAULT = new StreamConfig();

    private int highWaterMark = 64 << 10;
    private int lowWaterMark = 16 << 10;
    private long outputLimit = 16L << 20;
    private int inputLimit = 64 << 10;
    private Optional<Boolean> readsUnderBackpressure = Optional.empty();
    private Duration idleTimeout = Duration.ZERO;
    private Duration readTimeout = Duration.ZERO;
    private Duration writeTimeout = Duration.ofSeconds(60);
    private Duration lingerTimeout = Duration.ofSeconds(5);
    private Duration connectTimeout = Duration.ofSeconds(10);
    private SocketOptions socket = SocketOptions.DEFAULT;
    private Resolver resolver = Resolver.system();
    private @Nullable Tls tls;

    private StreamConfig() {}

    /// Above how many waiting bytes [Stream#write(Buffer)] says no. Default 64 KiB.
    public int highWaterMark() {
        return highWaterMark;
    }

    /// Below how many waiting bytes there is room again. Default 16 KiB.
    public int lowWaterMark() {
        return lowWaterMark;
    }

    /// Above how many waiting bytes the stream is closed; a part of a file counts as 256. Default 16 MiB.
    public long outputLimit() {
        return outputLimit;
    }

    /// How many bytes a protocol may leave unread. Default 64 KiB.
    public int inputLimit() {
        return inputLimit;
    }

    /// Whether the stream goes on reading while more than the high-water mark waits to be sent. By default a stream that
    /// was accepted does not: a peer that does not take its answers may not ask for more. One that connected does: of two
    /// that wait for each other one has to go on.
    public Optional<Boolean> readsUnderBackpressure() {
        return readsUnderBackpressure;
    }

    /// After how long without a byte either way the stream is closed; zero for never. Default zero.
    public Duration idleTimeout() {
        return idleTimeout;
    }

    /// After how long without input that somebody wants the stream is closed; zero for never. Default zero.
    public Duration readTimeout() {
        return readTimeout;
    }

    /// After how long the stream is closed if the peer takes nothing of what waits; zero for never. Default 60 seconds.
    public Duration writeTimeout() {
        return writeTimeout;
    }

    /// How long [Stream#close()] waits for a peer that takes none of the last output, or, when all of it is sent, does
    /// not close its side. It begins anew whenever the peer takes some. Default 5 seconds.
    public Duration lingerTimeout() {
        return lingerTimeout;
    }

    /// How long [Stream#connect] may take, resolution included. Default 10 seconds.
    public Duration connectTimeout() {
        return connectTimeout;
    }

    /// What the kernel is told about the socket.
    public SocketOptions socket() {
        return socket;
    }

    /// How host names are looked up. Default: as the system does.
    public Resolver resolver() {
        return resolver;
    }

    /// TLS from the first byte on; null without. Default null.
    public @Nullable Tls tls() {
        return tls;
    }

    /// Changes [#highWaterMark()] and [#lowWaterMark()].
    ///
    /// @throws IllegalArgumentException unless `0 <= low < high`
    public StreamConfig withWaterMarks(int low, int high) {
        if (low < 0 || high <= low) {
            throw new IllegalArgumentException(
                    "the low-water mark is below the high one: not " + low + " and " + high);
        }
        StreamConfig changed = copy();
        changed.lowWaterMark = low;
        changed.highWaterMark = high;
        return changed;
    }

    /// Changes [#outputLimit()].
    ///
    /// @throws IllegalArgumentException if it is below one byte
    public StreamConfig withOutputLimit(long bytes) {
        requirePositive("outputLimit", bytes);
        StreamConfig changed = copy();
        changed.outputLimit = bytes;
        return changed;
    }

    /// Changes [#inputLimit()].
    ///
    /// @throws IllegalArgumentException if it is below one byte
    public StreamConfig withInputLimit(int bytes) {
        requirePositive("inputLimit", bytes);
        StreamConfig changed = copy();
        changed.inputLimit = bytes;
        return changed;
    }

    /// Changes [#readsUnderBackpressure()].
    public StreamConfig withReadsUnderBackpressure(boolean reads) {
        StreamConfig changed = copy();
        changed.readsUnderBackpressure = Optional.of(reads);
        return changed;
    }

    /// Changes [#idleTimeout()].
    public StreamConfig withIdleTimeout(Duration timeout) {
        StreamConfig changed = copy();
        changed.idleTimeout = requireTime("idleTimeout", timeout);
        return changed;
    }

    /// Changes [#readTimeout()].
    public StreamConfig withReadTimeout(Duration timeout) {
        StreamConfig changed = copy();
        changed.readTimeout = requireTime("readTimeout", timeout);
        return changed;
    }

    /// Changes [#writeTimeout()].
    public StreamConfig withWriteTimeout(Duration timeout) {
        StreamConfig changed = copy();
        changed.writeTimeout = requireTime("writeTimeout", timeout);
        return changed;
    }

    /// Changes [#lingerTimeout()].
    public StreamConfig withLingerTimeout(Duration timeout) {
        StreamConfig changed = copy();
        changed.lingerTimeout = requireTime("lingerTimeout", timeout);
        return changed;
    }

    /// Changes [#connectTimeout()].
    ///
    /// @throws IllegalArgumentException if it is zero or negative
    public StreamConfig withConnectTimeout(Duration timeout) {
        if (requireTime("connectTimeout", timeout).isZero()) {
            throw new IllegalArgumentException("connectTimeout must be positive, not zero");
        }
        StreamConfig changed = copy();
        changed.connectTimeout = timeout;
        return changed;
    }

    /// Changes [#socket()].
    public StreamConfig withSocket(SocketOptions options) {
        StreamConfig changed = copy();
        changed.socket = Objects.requireNonNull(options, "options");
        return changed;
    }

    /// Changes [#resolver()].
    public StreamConfig withResolver(Resolver resolver) {
        StreamConfig changed = copy();
        changed.resolver = Objects.requireNonNull(resolver, "resolver");
        return changed;
    }

    /// Changes [#tls()].
    public StreamConfig withTls(@Nullable Tls tls) {
        StreamConfig changed = copy();
        changed.tls = tls;
        return changed;
    }

    private static Duration requireTime(String name, Duration timeout) {
        Objects.requireNonNull(timeout, name);
        if (timeout.isNegative()) {
            throw new IllegalArgumentException(name + " is never negative: " + timeout);
        }
        return timeout;
    }

    private static void requirePositive(String name, long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException(name + " is at least one byte, not " + bytes);
        }
    }

    private StreamConfig copy() {
        try {
            return (StreamConfig) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
