package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;
import dev.gyre.Timer;
import dev.gyre.http.WebSocketConfig;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// The times of a socket: one timer for all of them, set rarely. What arrives notes the clock, and the timer finds out when it
/// fires how long to go on.
///
/// Loop thread only.
final class SocketTimes {
    private final EventLoop loop;
    private final Duration pingInterval;
    private final Duration closeTimeout;
    private final LoopSocket socket;

    // Loop thread only.
    private @Nullable Timer timer;
    private long heardNanos;
    private boolean pinged;
    private boolean closing;
    private boolean over;

    SocketTimes(EventLoop loop, WebSocketConfig config, LoopSocket socket) {
        this.loop = loop;
        this.socket = socket;
        pingInterval = config.pingInterval();
        closeTimeout = config.closeTimeout();
    }

    void begin() {
        heardNanos = loop.nowNanos();
        if (!pingInterval.isZero()) {
            schedule(pingInterval);
        }
    }

    /// Bytes have arrived.
    void heard() {
        heardNanos = loop.nowNanos();
        pinged = false;
    }

    /// From now on the peer has its time for the rest of the closing handshake.
    void closing() {
        if (!over) {
            closing = true;
            schedule(closeTimeout);
        }
    }

    /// The stream is closed.
    void end() {
        over = true;
        if (timer != null) {
            timer.cancel();
        }
    }

    private void schedule(Duration delay) {
        // From now on, and not from when the loop began to wait for what is told just now.
        Duration waited = Duration.ofNanos(loop.nanoTime() - loop.nowNanos());
        if (timer == null) {
            // What keeps the loop going is the stream.
            timer = loop.after(delay.plus(waited), _ -> fired()).unreference();
        } else {
            timer.reschedule(delay.plus(waited));
        }
    }

    private void fired() {
        if (closing) {
            socket.closeTimedOut();
            return;
        }
        long leftNanos = pingInterval.toNanos() - (loop.nowNanos() - heardNanos);
        if (!socket.isOpen()) {
            return;
        }
        if (leftNanos > 0) {
            schedule(Duration.ofNanos(leftNanos));
        } else if (!socket.expectsBytes()) {
            schedule(pingInterval); // Nobody listens: the peer's silence means nothing.
        } else if (pinged) {
            socket.silent();
        } else {
            pinged = true;
            socket.pingForLife();
            schedule(pingInterval);
        }
    }
}
