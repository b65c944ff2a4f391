package dev.gyre.http.internal.server;

import dev.gyre.Cancellation;
import dev.gyre.CancellationSource;
import dev.gyre.io.CloseReason;

import org.jspecify.annotations.Nullable;

import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;

/// Whether the peer still waits for the answer to its request, as far as can be known. That it has ended its side says that it asks
/// nothing more: it may wait for what it has asked, or have left, and only an answer that comes back refused tells the
/// one from the other. So the handler hears of it, and may answer all the same.
///
/// An answer bit by bit, whose handler is done, is in the hands of callbacks, if there are any left: that nobody will ever end it is
/// known of none of them. But of a peer that has ended its side nothing else will ever come, not even the time between requests
/// counts, and so it would be held for good. It is given up if nothing was written for as long as a connection may be idle.
///
/// Loop thread only.
final class Interest {
    private final Exchange exchange;
    private @Nullable CancellationSource source;
    private @Nullable String lost;
    private @Nullable Deadline nextLook;
    private int writesBefore;
    private boolean peerEnded;

    Interest(Exchange exchange) {
        this.exchange = exchange;
        if (exchange.isLost()) {
            lost = closed(exchange.lostConnection().stream().closeReason());
        }
    }

    Cancellation cancellation() {
        CancellationSource known = source;
        if (known == null) {
            known = new CancellationSource();
            source = known;
            if (lost != null) {
                known.cancel(lost);
            }
        }
        return known.cancellation();
    }

    /// The peer has ended its side.
    void ended() {
        if (peerEnded) {
            return;
        }
        peerEnded = true;
        cancel("the peer has ended its side of the connection, and may have left");
        if (!exchange.isOver()) {
            look();
        }
    }

    /// Whether a failure comes of its being cancelled: by that itself, or as an interrupt that somebody has bound to it.
    @SuppressWarnings("ReferenceEquality") // a reason is only itself
    boolean isReason(Throwable cause) {
        CancellationSource known = source;
        return known != null
                && lost != null
                && (cause == known.cancellation().reason()
                        || cause instanceof InterruptedException
                        || cause instanceof InterruptedIOException
                        || cause instanceof ClosedByInterruptException);
    }

    /// The connection was closed.
    void lost(CloseReason reason) {
        over();
        cancel(closed(reason));
    }

    private static String closed(@Nullable CloseReason reason) {
        return "the connection was closed before the answer was complete: " + reason;
    }

    private void cancel(String reason) {
        CancellationSource known = source;
        if (lost == null) {
            lost = reason;
        }
        if (known != null) {
            UserCallbacks.guarded(() -> known.cancel(reason));
        }
    }

    /// The answer is complete, or nobody is left to have it.
    void over() {
        Deadline known = nextLook;
        if (known != null) {
            known.cancel();
        }
    }

    // ------------------------------------------------------------------ answers that nobody ends

    private void look() {
        int writes = exchange.response.writes();
        if (nextLook != null && writes == writesBefore && isLeftBehind()) {
            exchange.bench.leftOpen.warn(
                    () ->
                            "the answer to "
                                    + exchange.outcome.describe()
                                    + " is cut off: its handler is done, its peer has ended its"
                                    + " side, and nothing was written since; call end(), at the"
                                    + " latest when request.cancellation() is cancelled");
            exchange.connection().pace.timedOut(CloseReason.IDLE_TIMEOUT);
            exchange.connection().cutOff(exchange);
            return;
        }
        writesBefore = writes;
        Deadline known = nextLook;
        if (known == null) {
            known = new Deadline(exchange.bench.loop, this::look);
            nextLook = known;
        }
        known.in(exchange.bench.server.idleNanos());
    }

    private boolean isLeftBehind() {
        return exchange.outcome.isSettled()
                && exchange.response.isLeftOpen()
                && exchange.connection().stream().pending() == 0;
    }
}
