package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;
import dev.gyre.Timer;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// The times of a socket: one timer for all of them, set rarely. What arrives notes the clock, and the timer finds
/// out when it fires how long to go on.
///
/// Loop thread only.
final class SocketTimes {
    private static final long NEVER = Long.MAX_VALUE;

    /// How many bytes of a message buy it another second: a long one may take longer. As for the content of requests.
    private static final int LEAST_RATE = 1_000;

    private final EventLoop loop;
    private final Duration pingInterval;
    private final Duration messageTimeout;
    private final Duration closeTimeout;
    private final LoopSocket socket;

    // Loop thread only.
    private @Nullable Timer timer;
    private long heardNanos;
    private boolean pinged;
    private long pingedNanos;
    private boolean closing;
    private boolean over;

    /// Whether a message has begun to arrive, and is not whole.
    private boolean inMessage;

    private long messageSinceNanos;
    private long messageBytes;

    SocketTimes(EventLoop loop, WebSocketConfig config, LoopSocket socket) {
        this.loop = loop;
        this.socket = socket;
        pingInterval = config.pingInterval();
        messageTimeout = config.messageTimeout();
        closeTimeout = config.closeTimeout();
    }

    void begin() {
        heardNanos = loop.nowNanos();
        if (!pingInterval.isZero()) {
            schedule(pingInterval.toNanos());
        }
    }

    /// Bytes have arrived.
    void heard() {
        heardNanos = loop.nowNanos();
        pinged = false;
    }

    /// A message has begun to arrive. Its time counts from here, whatever else arrives meanwhile.
    void messageBegins() {
        if (!messageTimeout.isZero()) {
            inMessage = true;
            messageBytes = 0;
            messageSinceNanos = loop.nowNanos();
            long nanos = messageTimeout.toNanos();
            Timer known = timer;
            if (known == null
                    || !known.isScheduled()
                    || known.deadlineNanos() - (messageSinceNanos + nanos) > 0) {
                schedule(nanos);
            }
        }
    }

    void messageGrows(int bytes) {
        messageBytes += bytes;
    }

    /// It is whole, or nobody wants it any more.
    void messageEnds() {
        inMessage = false;
    }

    /// From now on the peer has its time for the rest of the closing handshake.
    void closing() {
        if (!over) {
            closing = true;
            schedule(closeTimeout.toNanos());
        }
    }

    /// The stream is closed.
    void end() {
        over = true;
        if (timer != null) {
            timer.cancel();
        }
    }

    private void schedule(long nanos) {
        Duration delay = Duration.ofNanos(nanos);
        if (timer == null) {
            // What keeps the loop going is the stream.
            timer = loop.after(delay, _ -> fired()).unreference();
        } else {
            timer.reschedule(delay);
        }
    }

    private void fired() {
        if (closing) {
            socket.closing().lost(Loss.CLOSE_UNANSWERED, CloseReason.LINGER_TIMEOUT);
            return;
        }
        long nextNanos = lookAtMessage();
        if (socket.isOpen() && !pingInterval.isZero()) {
            nextNanos = Math.min(nextNanos, lookForLife());
        }
        if (socket.isOpen() && nextNanos != NEVER) {
            schedule(nextNanos);
        }
    }

    /// @return when to look again
    private long lookAtMessage() {
        if (!inMessage || !socket.isOpen()) {
            return NEVER;
        }
        long now = loop.nowNanos();
        long earnedNanos = TimeUnit.SECONDS.toNanos(messageBytes / LEAST_RATE);
        long leftNanos = messageTimeout.toNanos() + earnedNanos - (now - messageSinceNanos);
        if (leftNanos > 0) {
            return leftNanos;
        }
        if (!socket.expectsBytes()) { // It is us who do not read: the time begins anew.
            messageSinceNanos = now;
            messageBytes = 0;
            return messageTimeout.toNanos();
        }
        socket.closing()
                .fail(CloseCode.POLICY, "a message that takes too long", CloseReason.BODY_TIMEOUT);
        return NEVER;
    }

    /// @return when to look again
    private long lookForLife() {
        long leftNanos = pingInterval.toNanos() - (loop.nowNanos() - heardNanos);
        if (leftNanos > 0) {
            return leftNanos;
        }
        if (!socket.expectsBytes()) {
            return pingInterval.toNanos(); // Nobody listens: the peer's silence means nothing.
        }
        if (!pinged) {
            pinged = true;
            pingedNanos = loop.nowNanos();
            socket.pingForLife();
        }
        long waitNanos = pingInterval.toNanos() - (loop.nowNanos() - pingedNanos);
        if (waitNanos > 0) {
            return waitNanos;
        }
        socket.closing().lost(Loss.NO_SIGN_OF_LIFE, CloseReason.IDLE_TIMEOUT);
        return NEVER;
    }
}
