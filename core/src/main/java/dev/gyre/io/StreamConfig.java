package dev.gyre.io;

import dev.gyre.internal.base.Checks;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/// Configures a [Stream]. Immutable: each `with` method returns a changed copy.
///
/// ```java
/// var config = StreamConfig.DEFAULT.withIdleTimeout(Duration.ofSeconds(30)).withInputLimit(1_024);
/// ```
///
/// A `with` method throws an [IllegalArgumentException] for a value out of range, and a
/// [NullPointerException] for null, unless null is permitted.
///
/// **Threads.** Any.
public final class StreamConfig implements Cloneable {
    /// The default configuration.
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

    /// Returns the number of pending output bytes above which [Stream#write(Buffer)] returns false.
    /// Default 64 KiB.
    public int highWaterMark() {
        return highWaterMark;
    }

    /// Returns the number of pending output bytes below which the stream is writable again. Default
    /// 16 KiB.
    public int lowWaterMark() {
        return lowWaterMark;
    }

    /// Returns the maximum of pending output bytes. Beyond it the stream is closed with
    /// [CloseReason#OUTPUT_LIMIT]. A part of a file counts as 256 bytes. Default 16 MiB.
    public long outputLimit() {
        return outputLimit;
    }

    /// Returns the maximum of bytes that a protocol may leave unread. Beyond it the stream is
    /// closed with [CloseReason#INPUT_LIMIT]. Default 64 KiB.
    public int inputLimit() {
        return inputLimit;
    }

    /// Returns whether the stream reads while its output is above the high-water mark.
    ///
    /// Default: an accepted stream stops reading, so a client that ignores responses cannot send
    /// more requests. A connected stream keeps reading: two peers that both stopped would deadlock.
    public Optional<Boolean> readsUnderBackpressure() {
        return readsUnderBackpressure;
    }

    /// Returns the time without a byte in either direction after which the stream is closed; zero
    /// for no timeout. Default zero.
    public Duration idleTimeout() {
        return idleTimeout;
    }

    /// Returns the time without input after which a stream that reads is closed; zero for no
    /// timeout. Default zero.
    public Duration readTimeout() {
        return readTimeout;
    }

    /// Returns the time after which the stream is closed if the peer accepts none of the pending
    /// output; zero for no timeout. Default 60 seconds.
    public Duration writeTimeout() {
        return writeTimeout;
    }

    /// Returns how long [Stream#close()] waits for the peer to accept the last output, and then to
    /// close its side. Restarts whenever the peer accepts some output. Default 5 seconds.
    public Duration lingerTimeout() {
        return lingerTimeout;
    }

    /// Returns the timeout of [Stream#connect], including name resolution. Default 10 seconds.
    public Duration connectTimeout() {
        return connectTimeout;
    }

    /// Returns the options of the kernel socket. Default [SocketOptions#DEFAULT].
    public SocketOptions socket() {
        return socket;
    }

    /// Returns the resolver of host names. Default [Resolver#system()].
    public Resolver resolver() {
        return resolver;
    }

    /// Returns the TLS configuration; null for plaintext. Default null.
    public @Nullable Tls tls() {
        return tls;
    }

    /// Returns a copy with these [#lowWaterMark()] and [#highWaterMark()]: `0 <= low < high`.
    public StreamConfig withWaterMarks(int low, int high) {
        if (low < 0 || high <= low) {
            throw new IllegalArgumentException(
                    "lowWaterMark must be from 0 to below highWaterMark, but they are "
                            + low
                            + " and "
                            + high);
        }
        return with(
                copy -> {
                    copy.lowWaterMark = low;
                    copy.highWaterMark = high;
                });
    }

    /// Returns a copy with this [#outputLimit()], at least 1.
    public StreamConfig withOutputLimit(long bytes) {
        Checks.range("outputLimit", bytes, 1, Long.MAX_VALUE);
        return with(copy -> copy.outputLimit = bytes);
    }

    /// Returns a copy with this [#inputLimit()], at least 1.
    public StreamConfig withInputLimit(int bytes) {
        Checks.range("inputLimit", bytes, 1, Integer.MAX_VALUE);
        return with(copy -> copy.inputLimit = bytes);
    }

    /// Returns a copy with this [#readsUnderBackpressure()].
    public StreamConfig withReadsUnderBackpressure(boolean reads) {
        return with(copy -> copy.readsUnderBackpressure = Optional.of(reads));
    }

    /// Returns a copy with this [#idleTimeout()], zero or more.
    public StreamConfig withIdleTimeout(Duration timeout) {
        Checks.notNegative("idleTimeout", timeout);
        return with(copy -> copy.idleTimeout = timeout);
    }

    /// Returns a copy with this [#readTimeout()], zero or more.
    public StreamConfig withReadTimeout(Duration timeout) {
        Checks.notNegative("readTimeout", timeout);
        return with(copy -> copy.readTimeout = timeout);
    }

    /// Returns a copy with this [#writeTimeout()], zero or more.
    public StreamConfig withWriteTimeout(Duration timeout) {
        Checks.notNegative("writeTimeout", timeout);
        return with(copy -> copy.writeTimeout = timeout);
    }

    /// Returns a copy with this [#lingerTimeout()], zero or more.
    public StreamConfig withLingerTimeout(Duration timeout) {
        Checks.notNegative("lingerTimeout", timeout);
        return with(copy -> copy.lingerTimeout = timeout);
    }

    /// Returns a copy with this [#connectTimeout()], above zero.
    public StreamConfig withConnectTimeout(Duration timeout) {
        Checks.range("connectTimeout", timeout, Duration.ofNanos(1), null);
        return with(copy -> copy.connectTimeout = timeout);
    }

    /// Returns a copy with this [#socket()].
    public StreamConfig withSocket(SocketOptions options) {
        Objects.requireNonNull(options, "options");
        return with(copy -> copy.socket = options);
    }

    /// Returns a copy with this [#resolver()].
    public StreamConfig withResolver(Resolver resolver) {
        Objects.requireNonNull(resolver, "resolver");
        return with(copy -> copy.resolver = resolver);
    }

    /// Returns a copy with this [#tls()]; null for plaintext.
    public StreamConfig withTls(@Nullable Tls tls) {
        return with(copy -> copy.tls = tls);
    }

    private StreamConfig with(Consumer<StreamConfig> change) {
        try {
            StreamConfig copy = (StreamConfig) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("StreamConfig is Cloneable", e);
        }
    }
}
