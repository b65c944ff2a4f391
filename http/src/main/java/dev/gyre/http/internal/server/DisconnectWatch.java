package dev.gyre.http.internal.server;

import dev.gyre.Cancellation;
import dev.gyre.CancellationSource;
import dev.gyre.http.internal.time.Deadline;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;

/// Cancels the work for a client that has left. A client that has ended its side may still wait for
/// the response, or have left: only a rejected write distinguishes them. So the end cancels
/// [dev.gyre.http.Request#cancellation()], and the handler may respond nevertheless.
///
/// A streamed response whose handler has returned depends on callbacks, and no callback may be left
/// to end it. No other timeout covers a client that has ended its side. So the response is
/// truncated if nothing was written for the idle timeout.
///
/// Loop thread only.
final class DisconnectWatch {
    private final Exchange exchange;

    // Loop thread only.
    private @Nullable CancellationSource source;
    private @Nullable String reason;
    private @Nullable Deadline nextCheck;
    private int writesBefore;

    DisconnectWatch(Exchange exchange) {
        this.exchange = exchange;
        if (exchange.isLost()) {
            reason = closed(exchange.readerConnection().stream().closeReason());
        }
    }

    Cancellation cancellation() {
        CancellationSource known = source;
        if (known == null) {
            known = new CancellationSource();
            source = known;
            if (reason != null) {
                known.cancel(reason);
            }
        }
        return known.cancellation();
    }

    /// Called when the client has ended its side, and for every later request that is read.
    void ended() {
        if (reason == null) {
            cancel("the client has ended its side of the connection, and may have left");
            if (!exchange.isEnded()) {
                check();
            }
        }
    }

    /// The handler has not sent a response in time.
    void timedOut() {
        cancel("the timeout of the route has expired");
    }

    /// Called when the connection was closed.
    void lost(CloseReason closeReason) {
        stop();
        cancel(closed(closeReason));
    }

    private static String closed(@Nullable CloseReason closeReason) {
        return "the connection was closed before the response was complete: " + closeReason;
    }

    private void cancel(String cause) {
        CancellationSource known = source;
        if (reason == null) {
            reason = cause;
        }
        if (known != null) {
            UserCallbacks.guarded(() -> known.cancel(cause), exchange);
        }
    }

    /// Returns whether a failure follows from the cancellation: the cancellation itself, or an
    /// interrupt bound to it.
    @SuppressWarnings("ReferenceEquality") // A reason equals only itself.
    boolean isReason(Throwable cause) {
        CancellationSource known = source;
        return known != null
                && reason != null
                && (cause == known.cancellation().reason()
                        || cause instanceof InterruptedException
                        || cause instanceof InterruptedIOException
                        || cause instanceof ClosedByInterruptException);
    }

    /// Called when the exchange has ended.
    void stop() {
        Deadline known = nextCheck;
        if (known != null) {
            known.cancel();
        }
    }

    private void check() {
        int writes = exchange.response.writes();
        Deadline known = nextCheck;
        if (known == null) {
            known = new Deadline(exchange.context.loop, this::check);
            nextCheck = known;
        } else if (writes == writesBefore && isAbandoned()) {
            exchange.context.warnOnce(
                    ServerContext.Warning.LEFT_OPEN,
                    () ->
                            "the response to "
                                    + exchange.completion.describe()
                                    + " is truncated: its handler has completed, its client has"
                                    + " ended its side, and nothing was written since; call end()"
                                    + " when request.cancellation() is cancelled, or before");
            exchange.connection().timeouts.timedOut(CloseReason.IDLE_TIMEOUT);
            exchange.connection().truncate(exchange);
            return;
        }
        writesBefore = writes;
        known.in(exchange.context.server.idleNanos());
    }

    private boolean isAbandoned() {
        return exchange.completion.isSettled()
                && exchange.response.isLeftOpen()
                && exchange.connection().stream().pending() == 0;
    }
}
