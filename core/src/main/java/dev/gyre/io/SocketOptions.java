package dev.gyre.io;

import dev.gyre.internal.base.Checks;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.function.Consumer;

/// Configures the kernel socket of a stream. Immutable: each `with` method returns a changed copy.
/// TCP options are ignored on Unix domain sockets.
///
/// A `with` method throws an [IllegalArgumentException] for a value out of range, and a
/// [NullPointerException] for null, unless null is permitted.
///
/// **Threads.** Any.
public final class SocketOptions implements Cloneable {
    /// The default options.
    public static final SocketOptions DEFAULT = new SocketOptions();

    /// Linux doubles the sizes of kernel buffers: the result must fit into an int.
    private static final int MAX_BUFFER_BYTES = 1 << 29;

    private static final Duration MAX_USER_TIMEOUT = Duration.ofMillis(Integer.MAX_VALUE);

    private boolean noDelay = true;
    private @Nullable KeepAlive keepAlive;
    private Duration userTimeout = Duration.ZERO;
    private int receiveBufferBytes;
    private int sendBufferBytes;

    private SocketOptions() {}

    /// Returns whether small writes are sent at once (`TCP_NODELAY`). Default true.
    public boolean noDelay() {
        return noDelay;
    }

    /// Returns how the kernel probes a silent peer; null for no probes. Default null.
    public @Nullable KeepAlive keepAlive() {
        return keepAlive;
    }

    /// Returns how long sent bytes may stay unacknowledged (`TCP_USER_TIMEOUT`); zero for the
    /// system's default. Default zero.
    public Duration userTimeout() {
        return userTimeout;
    }

    /// Returns the size of the kernel's input buffer; zero for the system's default, which adapts.
    /// Default zero.
    public int receiveBufferBytes() {
        return receiveBufferBytes;
    }

    /// Returns the size of the kernel's output buffer; zero for the system's default, which adapts.
    /// Default zero.
    public int sendBufferBytes() {
        return sendBufferBytes;
    }

    /// Returns a copy with this [#noDelay()].
    public SocketOptions withNoDelay(boolean on) {
        return with(copy -> copy.noDelay = on);
    }

    /// Returns a copy with this [#keepAlive()]; null for no probes.
    public SocketOptions withKeepAlive(@Nullable KeepAlive keepAlive) {
        return with(copy -> copy.keepAlive = keepAlive);
    }

    /// Returns a copy with this [#userTimeout()], from zero to 2 147 483 647 ms (24 days).
    public SocketOptions withUserTimeout(Duration timeout) {
        Checks.range("userTimeout", timeout, Duration.ZERO, MAX_USER_TIMEOUT);
        return with(copy -> copy.userTimeout = timeout);
    }

    /// Returns a copy with these [#receiveBufferBytes()] and [#sendBufferBytes()], from 0 to 512
    /// MiB each.
    public SocketOptions withBuffers(int receiveBytes, int sendBytes) {
        Checks.range("receiveBufferBytes", receiveBytes, 0, MAX_BUFFER_BYTES);
        Checks.range("sendBufferBytes", sendBytes, 0, MAX_BUFFER_BYTES);
        return with(
                copy -> {
                    copy.receiveBufferBytes = receiveBytes;
                    copy.sendBufferBytes = sendBytes;
                });
    }

    private SocketOptions with(Consumer<SocketOptions> change) {
        try {
            SocketOptions copy = (SocketOptions) clone();
            change.accept(copy);
            return copy;
        } catch (CloneNotSupportedException e) {
            throw new AssertionError("SocketOptions is Cloneable", e);
        }
    }
}
