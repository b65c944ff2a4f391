package dev.gyre.internal.net;

import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.StreamClosedException;
import dev.gyre.io.StreamState;
import dev.gyre.io.TimeoutKind;
import dev.gyre.metrics.TraceEvent.Kind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// The states of a stream from open to closed, the close reason, and the close listeners.
///
/// ```
///      open ──── end() ──▶ output ends after pending data ──┐
///       │                                                   ├──▶ both ended: closed (ENDED)
///       ├─────── the peer's end, delivered ─────────────────┘
///       ├─────── close() ──▶ draining: output ends, input is discarded
///       │                    until the peer's end ──▶ closed (CLOSED)
///       └─────── abort(), reset, timeout, limit, a callback that throws ──▶ closed (…)
/// ```
///
/// Loop thread only.
final class StreamLifecycle {
    private final Connection connection;
    private boolean draining;
    private boolean shuttingDown;
    private @Nullable CloseReason reason;
    private @Nullable Throwable failure;

    /// Set by the protocol. Reported instead of the actual reason.
    private @Nullable CloseReason reportedReason;

    private List<Consumer<? super CloseReason>> onClose = List.of();

    /// Of pipes.
    private @Nullable Consumer<? super Connection> closeListener;

    private boolean notified;

    /// How many unfinished pipes read from this stream or write to it.
    private int pipes;

    private boolean transferring;

    StreamLifecycle(Connection connection) {
        this.connection = connection;
    }

    /// Neither closed nor draining.
    boolean isOpen() {
        return reason == null && !draining;
    }

    boolean isClosed() {
        return reason != null;
    }

    @Nullable CloseReason reason() {
        return reason;
    }

    @Nullable Throwable failure() {
        return failure;
    }

    StreamState state() {
        StreamInput input = connection.input;
        StreamOutput output = connection.output;
        if (reason != null) {
            return StreamState.CLOSING;
        }
        if (draining || (output.isEnding() && !output.isEmpty())) {
            return StreamState.DRAINING;
        }
        if (!output.isEmpty()) {
            return StreamState.WRITING;
        }
        if (input.isPaused()) {
            return StreamState.PROCESSING;
        }
        boolean used = input.received() > 0 || output.sent() > 0;
        return used ? StreamState.READING : StreamState.ACCEPTED;
    }

    StreamClosedException closedException() {
        CloseReason why = reason == null ? CloseReason.CLOSED : reason;
        return new StreamClosedException(connection + " is closed: " + why, why, failure);
    }

    void onClose(Consumer<? super CloseReason> callback) {
        CloseReason why = reason;
        if (notified && why != null) {
            connection.streams.notifyLater(() -> callback.accept(why));
        } else if (onClose.isEmpty()) {
            onClose = List.of(callback); // Less memory than a growable list.
        } else {
            onClose = onClose.size() == 1 ? new ArrayList<>(onClose) : onClose;
            onClose.add(callback);
        }
    }

    /// Adds a listener besides the user's. It is notified later if the others already were.
    void addCloseListener(Consumer<? super Connection> listener) {
        if (notified) {
            connection.streams.notifyLater(() -> listener.accept(connection));
            return;
        }
        Consumer<? super Connection> before = closeListener;
        closeListener =
                before == null
                        ? listener
                        : gone -> {
                            before.accept(gone);
                            listener.accept(gone);
                        };
    }

    /// Registers a pipe from or to this stream. Until it ends, a graceful shutdown lets the stream
    /// continue to read.
    void pipeStarted() {
        if (pipes++ == 0 && !isClosed()) {
            transferring = true;
            connection.streams.operations().beginTransfer(connection.socket.socket);
        }
    }

    void pipeEnded() {
        if (--pipes == 0 && transferring) {
            transferring = false;
            connection.streams.operations().endTransfer(connection.socket.socket);
        }
    }

    boolean isPiped() {
        return pipes > 0 || connection.output.hadPipe();
    }

    /// The stream leaves a loop, which may be shutting down.
    void leave() {
        shuttingDown = false;
    }

    /// Notifies the protocol, the user and the other listeners, even if one of them throws.
    private void notifyClosed(CloseReason why) {
        Protocol current = connection.input.protocol();
        try {
            if (current != null) {
                current.onClose(connection.stream, why);
            }
        } finally {
            notifyFrom(0, why);
        }
    }

    private void notifyFrom(int first, CloseReason why) {
        int next = first;
        try {
            while (next < onClose.size()) { // A callback may add another one.
                onClose.get(next++).accept(why);
            }
        } finally {
            int rest = next;
            if (rest < onClose.size()) {
                connection.streams.notifyLater(() -> notifyFrom(rest, why)); // One has thrown.
            } else {
                notified = true;
                LoopListener listener = connection.acceptedBy();
                if (listener != null) {
                    listener.connectionClosed(connection);
                }
                if (closeListener != null) {
                    closeListener.accept(connection);
                }
            }
        }
    }

    /// Ends the output after pending data, and waits for the peer's end.
    ///
    /// @param cause CLOSED, or the timeout that the protocol decided on
    void drain(CloseReason cause) {
        if (cause != CloseReason.CLOSED && isOpen()) {
            this.reportedReason = cause;
        }
        drain(true);
    }

    /// Drains at the end of a pipe: the linger timeout starts only once all output is sent. Until
    /// then only the write timeout applies.
    void drainForPipe() {
        drain(false);
    }

    private void drain(boolean lingerNow) {
        if (!isOpen()) {
            return;
        }
        StreamOutput output = connection.output;
        if (output.hasUnfinishedPipe()) {
            // The peer would take an orderly end of partial data for the end of all of it.
            close(CloseReason.ABORTED, null);
        } else {
            draining = true;
            connection.trace(Kind.STATE, "draining");
            output.end();
            if (lingerNow || output.hasEnded()) {
                connection.timeouts.linger();
            }
            connection.input.discard();
            closeIfBothEnded();
        }
    }

    /// Ends the output when the loop shuts down. The stream closes after that.
    void shutDown() {
        shuttingDown = true;
        connection.output.endWhenEmpty();
    }

    void outputEnded() {
        if (draining) {
            connection.timeouts.linger(); // Only the peer's end is missing.
        }
        if (shuttingDown) {
            close(CloseReason.LOOP_ENDED, null);
        }
        closeIfBothEnded();
    }

    void closeIfBothEnded() {
        if (connection.input.isFinished() && connection.output.hasEnded()) {
            close(draining ? CloseReason.CLOSED : CloseReason.ENDED, null);
        }
    }

    /// @param cause ABORTED, or the timeout that the protocol decided on
    void abort(CloseReason cause) {
        if (cause != CloseReason.ABORTED && this.reportedReason == null) {
            this.reportedReason = cause;
        }
        close(CloseReason.ABORTED, null);
    }

    void transportFailed(CloseReason why, @Nullable Throwable cause) {
        // Many peers end TLS without close_notify. After close() no input is lost.
        boolean ofTls = why == CloseReason.TLS_TRUNCATED || why == CloseReason.TLS_FAILED;
        boolean done = ofTls && draining && connection.output.hasEnded();
        close(done ? CloseReason.CLOSED : why, done ? null : cause);
    }

    /// Closes the stream unless the protocol decides to continue.
    void timedOut(TimeoutKind timeout) {
        Protocol current = connection.input.protocol();
        boolean continues = false;
        if (current != null && !draining) {
            try {
                continues = current.onTimeout(connection.stream, timeout);
            } catch (RuntimeException | Error e) {
                connection.callbackFailed(e);
                throw e;
            }
        }
        if (connection.isTraced()) {
            connection.trace(Kind.TIMEOUT, timeout + (continues ? ", continues" : ", closes"));
        }
        if (!continues) {
            close(timeout.reason(), null);
        }
    }

    /// Whether the peer must see a reset, because an orderly end would hide that data is missing.
    boolean mustReset(CloseReason why) {
        StreamOutput output = connection.output;
        return switch (why) {
            case ENDED, CLOSED, RESET -> false;
            case IDLE_TIMEOUT, READ_TIMEOUT, LOOP_ENDED -> output.isMissingEnd();
            // The alert with the cause is in flight.
            case TLS_HANDSHAKE_FAILED, TLS_TRUNCATED, TLS_FAILED, HANDSHAKE_TIMEOUT -> false;
            // A reset would destroy output that the peer has not read yet.
            case LINGER_TIMEOUT -> !output.hasEnded();
            default -> true;
        };
    }

    /// Closes the stream at once. Listeners are notified before the loop waits again, and never
    /// inside a call of theirs.
    void close(CloseReason why, @Nullable Throwable cause) {
        if (reason != null) {
            return;
        }
        CloseReason reported = this.reportedReason == null ? why : this.reportedReason;
        reason = reported;
        failure = cause;
        try {
            connection.closeParts(why);
        } finally {
            // A connection that stayed in the list would keep the loop from closing.
            connection.streams.remove(connection, reported);
            connection.streams.notifyLater(() -> notifyClosed(reported));
        }
    }
}
