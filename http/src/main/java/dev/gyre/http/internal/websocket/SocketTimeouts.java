package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.internal.time.Deadline;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Stream;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// The timeouts of a socket, with one timer that is rarely rescheduled. Input only records the
/// time. When the timer fires, it computes the next deadline.
///
/// Loop thread only.
final class SocketTimeouts {
    private static final long NEVER = Long.MAX_VALUE;

    /// The bytes of a message that extend its timeout by a second, as for request bodies.
    private static final int MIN_BYTES_PER_SECOND = 1_000;

    private final Stream stream;
    private final LoopWebSocket socket;
    private final Duration pingInterval;
    private final Duration messageTimeout;
    private final Duration closeTimeout;

    // Loop thread only.
    private EventLoop loop;
    private Deadline deadline;
    private long lastInputNanos;
    private boolean pinged;
    private long pingedNanos;
    private boolean closing;
    private long sentWhenClosing;
    private boolean ended;

    /// Whether a message has arrived partly.
    private boolean inMessage;

    private long messageStartNanos;
    private long messageBytes;

    SocketTimeouts(Stream stream, WebSocketConfig config, LoopWebSocket socket) {
        this.stream = stream;
        loop = stream.loop();
        deadline = new Deadline(loop, this::fire);
        this.socket = socket;
        pingInterval = config.pingInterval();
        messageTimeout = config.messageTimeout();
        closeTimeout = config.closeTimeout();
    }

    void begin() {
        lastInputNanos = loop.nowNanos();
        if (!pingInterval.isZero()) {
            deadline.in(pingInterval.toNanos());
        }
    }

    void inputReceived() {
        lastInputNanos = loop.nowNanos();
        pinged = false;
    }

    /// Starts the timeout of a message.
    void messageBegins() {
        if (!messageTimeout.isZero()) {
            inMessage = true;
            messageBytes = 0;
            messageStartNanos = loop.nowNanos();
            long nanos = messageTimeout.toNanos();
            deadline.inAtMost(nanos);
        }
    }

    void messageGrows(int bytes) {
        messageBytes += bytes;
    }

    /// Called when the message is complete or dropped.
    void messageEnds() {
        inMessage = false;
    }

    /// Starts the timeout of the closing handshake.
    void closing() {
        if (!ended) {
            closing = true;
            sentWhenClosing = stream.sent();
            deadline.in(closeTimeout.toNanos());
        }
    }

    /// Called when the stream is closed.
    void end() {
        ended = true;
        deadline.cancel();
    }

    /// Stops the timer before the socket moves to another loop.
    void suspend() {
        deadline.cancel();
    }

    /// Continues on the loop that the socket has moved to.
    void moveTo(EventLoop loop) {
        this.loop = loop;
        deadline = new Deadline(loop, this::fire);
        fire();
    }

    private void fire() {
        if (closing) {
            if (socket.sender.pendingBytes() > 0 && stream.sent() != sentWhenClosing) {
                closing(); // The peer accepts output. The close frame follows it.
            } else {
                socket.closing.lost(
                        "the peer sent no close frame in time", CloseReason.LINGER_TIMEOUT);
            }
            return;
        }
        long nextNanos = checkMessage();
        if (socket.isOpen() && !pingInterval.isZero()) {
            nextNanos = Math.min(nextNanos, checkInput());
        }
        if (socket.isOpen() && nextNanos != NEVER) {
            deadline.in(nextNanos);
        }
    }

    /// @return the time until the next check
    private long checkMessage() {
        if (!inMessage || !socket.isOpen()) {
            return NEVER;
        }
        long now = loop.nowNanos();
        long earnedNanos = TimeUnit.SECONDS.toNanos(messageBytes / MIN_BYTES_PER_SECOND);
        long leftNanos = messageTimeout.toNanos() + earnedNanos - (now - messageStartNanos);
        if (leftNanos > 0) {
            return leftNanos;
        }
        if (!socket.expectsInput()) { // This side does not read: restart the timeout.
            messageStartNanos = now;
            messageBytes = 0;
            return messageTimeout.toNanos();
        }
        socket.closing.fail(
                CloseHandshake.POLICY_VIOLATION,
                "a message arrived too slowly",
                CloseReason.BODY_TIMEOUT);
        return NEVER;
    }

    /// @return the time until the next check
    private long checkInput() {
        long leftNanos = pingInterval.toNanos() - (loop.nowNanos() - lastInputNanos);
        if (leftNanos > 0) {
            return leftNanos;
        }
        if (!socket.expectsInput()) {
            return pingInterval.toNanos();
        }
        if (!pinged) {
            pinged = true;
            pingedNanos = loop.nowNanos();
            socket.sendKeepAlivePing();
        }
        long waitNanos = pingInterval.toNanos() - (loop.nowNanos() - pingedNanos);
        if (waitNanos > 0) {
            return waitNanos;
        }
        socket.closing.lost("the peer sent no pong in time", CloseReason.IDLE_TIMEOUT);
        return NEVER;
    }
}
