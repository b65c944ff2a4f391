package dev.gyre.http.internal.server;

import dev.gyre.http.HttpException;
import dev.gyre.http.internal.message.ParseError;
import dev.gyre.http.internal.time.Deadline;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// The idle, header and body timeouts of a connection. The state of the connection decides which
/// one counts. A handler that works on a response has no timeout here.
///
/// Loop thread only.
final class ConnectionTimeouts {
    /// Exceeds a packet's time around the world. A draining server waits no longer for a client's
    /// end once the kernel has all output: a request that crosses the close must not destroy the
    /// last response on its way.
    private static final Duration DRAIN_LINGER = Duration.ofMillis(500);

    private final ServerContext context;
    private final HttpConnection connection;
    private final Deadline deadline;

    // Loop thread only.
    private boolean awaitingBody;
    private long bodySinceNanos;

    /// The time spent waiting for the body before `bodySinceNanos`.
    private long bodyNanos;

    /// The timeout that closes the connection; CLOSED if none does.
    private CloseReason closeReason = CloseReason.CLOSED;

    ConnectionTimeouts(ServerContext context, HttpConnection connection) {
        this.context = context;
        this.connection = connection;
        deadline = new Deadline(context.loop, this::expire);
        entered(ExchangeState.IDLE);
    }

    /// Called when the connection enters a state, which is a constant in the compiled code.
    void entered(ExchangeState state) {
        if (state == ExchangeState.IDLE) {
            deadline.in(context.server.idleNanos());
        } else if (state == ExchangeState.READING_HEAD) {
            deadline.disarm();
        } else if (state == ExchangeState.HANDLING) {
            bodyNanos = 0;
            awaitingBody = false;
            deadline.disarm();
        } else if (state == ExchangeState.UPGRADED || state.isClosed()) {
            deadline.cancel();
        }
    }

    /// Starts the header timeout. More bytes of the head do not extend it.
    void head() {
        if (!deadline.isArmed()) {
            deadline.in(Deadline.nanos(context.config.headerTimeout()));
        }
    }

    /// Starts the body timeout while the handler waits for the body, and stops it otherwise.
    void bodyOrWork(@Nullable RequestBody body) {
        if (body == null || !body.isWanted()) {
            work();
        } else {
            body(body.received());
        }
    }

    /// Each byte extends the timeout, so that a large body may take long, and a small one may not.
    /// The timeout covers the whole body, however often reading pauses.
    private void body(long received) {
        long now = context.loop.nowNanos();
        if (!awaitingBody) {
            awaitingBody = true;
            bodySinceNanos = now;
        }
        long earned = TimeUnit.SECONDS.toNanos(received / context.config.minBodyBytesPerSecond());
        long allowed = Deadline.nanos(context.config.bodyTimeout()) + earned;
        deadline.in(Math.max(0, allowed - bodyNanos - (now - bodySinceNanos)));
    }

    /// Stops all timeouts while the client need not send anything.
    void work() {
        if (awaitingBody) {
            awaitingBody = false;
            bodyNanos += context.loop.nowNanos() - bodySinceNanos;
        }
        deadline.disarm();
    }

    private void expire() {
        if (connection.stream().pending() > 0) {
            // The server does not read while the client does not: the write timeout covers that.
            deadline.in(TimeUnit.SECONDS.toNanos(1));
            return;
        }
        switch (connection.state()) {
            case IDLE -> {
                timedOut(CloseReason.IDLE_TIMEOUT);
                connection.closeNow();
            }
            case READING_HEAD -> {
                timedOut(CloseReason.HEADER_TIMEOUT);
                connection.giveUp(ParseError.HEAD_TOO_SLOW);
            }
            default -> {
                assert awaitingBody : "no timeout counts in " + connection.state();
                timedOut(CloseReason.BODY_TIMEOUT);
                connection.failBody(new HttpException(408, "the body arrived too slowly"));
            }
        }
    }

    /// Shortens the wait for the client's end if the server drains.
    void limitLinger() {
        if (context.server.isDraining()) {
            connection.stream().lingerAtMost(DRAIN_LINGER);
        }
    }

    /// Makes this timeout the reason for which the connection closes.
    void timedOut(CloseReason timeout) {
        closeReason = timeout;
    }

    /// Returns the reason to close the connection with.
    CloseReason closeReason() {
        return closeReason;
    }
}
