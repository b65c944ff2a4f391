package dev.gyre.io;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;

/// What the kernel is told about a stream's socket. Immutable: each `with` method returns a changed copy. Options that a sort of
/// socket does not know, as TCP's on a Unix domain socket, are left out.
///
/// @param noDelay whether small writes go out at once (`TCP_NODELAY`)
/// @param keepAlive how the kernel asks a silent peer whether it is still there; null for not at all
/// @param userTimeout how long sent bytes may stay unacknowledged (`TCP_USER_TIMEOUT`); zero for the system's choice
/// @param receiveBuffer the kernel's buffer for input, in bytes; zero for the system's choice, which adapts
/// @param sendBuffer the kernel's buffer for output, in bytes; zero for the system's choice, which adapts
public record SocketOptions(
        boolean noDelay,
        @Nullable KeepAlive keepAlive,
        Duration userTimeout,
        int receiveBuffer,
        int sendBuffer) {
    /// Small writes go out at once; the rest as the system likes it.
    public static final SocketOptions DEFAULT = new SocketOptions(true, null, Duration.ZERO, 0, 0);

    /// So that doubling it, as Linux does, overflows nothing.
    private static final int MOST_BUFFER_BYTES = 1 << 29;

    /// Checks the values.
    ///
    /// @throws IllegalArgumentException if one is negative, or larger than any system allows
    public SocketOptions {
        Objects.requireNonNull(userTimeout, "userTimeout");
        if (userTimeout.isNegative()
                || userTimeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
            throw new IllegalArgumentException(
                    "userTimeout must be from zero to 24 days, but is " + userTimeout);
        }
        requireBytes("receiveBuffer", receiveBuffer);
        requireBytes("sendBuffer", sendBuffer);
    }

    private static void requireBytes(String name, int bytes) {
        if (bytes < 0 || bytes > MOST_BUFFER_BYTES) {
            throw new IllegalArgumentException(
                    name + " must be from 0 to " + MOST_BUFFER_BYTES + " bytes, but is " + bytes);
        }
    }

    /// Changes [#noDelay()].
    public SocketOptions withNoDelay(boolean on) {
        return new SocketOptions(on, keepAlive, userTimeout, receiveBuffer, sendBuffer);
    }

    /// Changes [#keepAlive()].
    public SocketOptions withKeepAlive(@Nullable KeepAlive how) {
        return new SocketOptions(noDelay, how, userTimeout, receiveBuffer, sendBuffer);
    }

    /// Changes [#userTimeout()].
    public SocketOptions withUserTimeout(Duration timeout) {
        return new SocketOptions(noDelay, keepAlive, timeout, receiveBuffer, sendBuffer);
    }

    /// Changes [#receiveBuffer()] and [#sendBuffer()].
    public SocketOptions withBuffers(int receiveBytes, int sendBytes) {
        return new SocketOptions(noDelay, keepAlive, userTimeout, receiveBytes, sendBytes);
    }
}
