package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Timer;
import dev.gyre.internal.base.Checks;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.internal.tls.TlsEngine.Next;
import dev.gyre.io.CloseReason;
import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;

import javax.net.ssl.SSLException;

/// TLS over another transport. A [TlsEngine] transforms the bytes, fed by [TlsInput] and drained by
/// [TlsOutput].
///
/// ```
///     start ──▶ handshake ──▶ open ──▶ ended, each direction with its close_notify
///                   │           │
///                   └───────────┴──▶ failing: sends the alert, then the end; discards input
///                                    until the peer's end or one second ──▶ failed
/// ```
///
/// Delegated handshake tasks run on other threads. Until they complete, the engine is not used and
/// input is held.
///
/// Loop thread only.
final class TlsTransport implements Transport, Transport.Handler {
    /// How long a failed connection waits for the peer to read the alert and close. Closing earlier
    /// with unread input would cause a reset, which destroys the alert.
    private static final Duration ALERT_TIMEOUT = Duration.ofSeconds(1);

    private Streams streams;
    private EventLoop loop;
    LoopOperations operations;
    final TlsEngine engine;
    private Transport below;
    private final Duration timeout;
    private final Deferred<TlsSession> handshake;
    final TlsInput input;
    final TlsOutput output;

    private @Nullable Handler handler;
    private @Nullable Timer timer;
    private boolean started;
    private boolean open;
    private boolean wanted;
    private boolean reading;
    private boolean inputEndNotified;
    private boolean resumeScheduled;

    /// Whether the output ends once the handshake is complete. It cannot end before.
    private boolean endRequested;

    private boolean belowEnded;

    /// The reason of a failure; null if none. Reported after the alert is sent.
    private @Nullable CloseReason failing;

    private @Nullable Throwable failure;
    private boolean endedByFailure;
    private boolean failureNotified;
    private boolean closed;

    /// @param carried output from before TLS, sent as it is
    TlsTransport(
            Streams streams,
            Transport below,
            OutputQueue carried,
            TlsEngine engine,
            Duration timeout,
            Deferred<TlsSession> handshake) {
        this.streams = streams;
        loop = streams.loop();
        operations = streams.operations();
        this.below = below;
        this.engine = engine;
        this.timeout = timeout;
        this.handshake = handshake;
        input = new TlsInput(this);
        output = new TlsOutput(this, below, carried);
        below.setHandler(this);
    }

    @Override
    public void setHandler(Handler handler) {
        this.handler = handler;
    }

    Handler handler() {
        return Objects.requireNonNull(handler);
    }

    /// @param first input that was received before; released here
    void start(@Nullable NativeBuffer first) {
        if (first != null && isDone()) {
            first.release();
        } else if (first != null) {
            input.prepend(first);
        }
        if (isDone()) {
            return;
        }
        started = true;
        timer = loop.after(timeout, _ -> handshakeTimedOut()).unreference();
        pump();
        if (!isDone()) {
            below.setReading(reading); // The previous handler may have left it reading.
        }
    }

    /// Whether the engine is no longer used.
    boolean isDone() {
        return closed || failing != null;
    }

    /// Whether input may be decrypted: after the handshake only on demand.
    boolean mayReceive() {
        return started && !isDone() && (!open || wanted);
    }

    private void pump() {
        if (isDone()) {
            return;
        }
        output.pump();
        input.resume();
        updateReading();
    }

    void react(Next next) {
        TlsSession agreed = engine.session();
        if (!open && agreed != null) {
            open = true;
            cancelTimer();
            handshake.resolve(agreed);
            loop.microtask(this::handshakeCompleted);
        }
        switch (next) {
            case TASKS -> runTasks();
            case FAILURE -> fail(CloseReason.TLS_FAILED, engine.failure());
            case END -> {
                if (engine.inputEnded() && !inputEndNotified && !isDone()) {
                    inputEndNotified = true;
                    loop.microtask(
                            () -> {
                                if (!isDone()) {
                                    handler().onInputEnded();
                                }
                            });
                }
            }
            default -> {}
        }
    }

    /// Resumes work that waited for the handshake. No other event may follow that would do so.
    private void handshakeCompleted() {
        if (endRequested) {
            engine.end();
            output.end();
        }
        pump();
    }

    private void runTasks() {
        Runnable tasks = engine.tasks();
        if (tasks == null) {
            return; // They are running.
        }
        streams.handshakes()
                .submit(this, tasks, this::tasksDone, why -> fail(CloseReason.TLS_FAILED, why));
    }

    private void tasksDone() {
        engine.tasksDone();
        pump();
        onStopped();
    }

    private void updateReading() {
        if (!started || isDone()) {
            return; // Not started, or the failure controls reading.
        }
        setBelowReading(!inputEndNotified && input.hasRoom() && (!open || wanted));
    }

    private void setBelowReading(boolean wants) {
        if (wants != reading) {
            reading = wants;
            below.setReading(wants);
        }
    }

    @Override
    public void setReading(boolean wanted) {
        this.wanted = wanted;
        if (wanted && open && !resumeScheduled && input.hasPending()) {
            resumeScheduled = true;
            loop.microtask(
                    () -> {
                        resumeScheduled = false;
                        pump();
                    });
        }
        updateReading();
    }

    @Override
    public void requestInputBarrier() {
        below.requestInputBarrier();
    }

    @Override
    public void flush(OutputQueue queue) {
        output.setSource(queue);
        if (!isDone()) {
            output.pump();
        }
    }

    @Override
    public long partiallySent() {
        return output.partiallySent();
    }

    @Override
    public void endOutput() {
        if (open) {
            engine.end();
            output.end();
        } else {
            endRequested = true;
        }
    }

    @Override
    public boolean isStopped() {
        return below.isStopped()
                && failing == null
                && !engine.areTasksRunning()
                && output.isReleased();
    }

    @Override
    public void onStopped() {
        if (!closed && isStopped()) {
            handler().onStopped();
        }
    }

    /// Continues over another transport, of the loop that the stream has moved to.
    void attach(Streams to, Transport below) {
        streams = to;
        loop = to.loop();
        operations = to.operations();
        this.below = below;
        engine.moveTo(to.records());
        below.setHandler(this);
        output.attach(below);
        input.attachMemory();
        operations.beforeFlush(this::pump);
    }

    @Override
    public void close(boolean reset) {
        if (closed) {
            return;
        }
        closed = true;
        cancelTimer();
        streams.handshakes().cancel(this);
        if (!open) {
            handshake.reject(
                    failure instanceof SSLException named
                            ? named
                            : new SSLException(
                                    "the connection was closed during the TLS handshake", failure));
        }
        input.release();
        below.close(reset);
    }

    @Override
    public void onReceived(NativeBuffer data) {
        if (isDone()) {
            data.clear();
            return;
        }
        if (!open) {
            handler().onActivity();
        }
        input.receive(data);
        if (isDone()) {
            data.clear();
        } else {
            output.pump();
            updateReading();
        }
    }

    @Override
    public void onInputBarrier() {
        if (!isDone()) {
            handler().onInputBarrier();
        }
    }

    @Override
    public void onInputEnded() {
        reading = false;
        belowEnded = true;
        if (failing != null) {
            finishIfAlertSent();
        } else if (!isDone()) {
            input.ended();
        }
    }

    @Override
    public void onEndPending() {
        if (open && !isDone()) {
            handler().onEndPending();
        }
    }

    @Override
    public void onSent(long bytes) {
        if (open) {
            handler().onProgress(); // Even if a part of the batch is left.
        } else {
            handler().onActivity();
        }
        output.sent(bytes);
        if (failing != null) {
            finishIfAlertSent();
        } else {
            pump();
        }
    }

    @Override
    public void onProgress() {
        handler().onProgress();
    }

    @Override
    public void onOutputEnded() {
        if (!endedByFailure) {
            handler().onOutputEnded();
        }
    }

    @Override
    public void onFailed(CloseReason reason, @Nullable Throwable cause) {
        if (failing == null) {
            failing = reason;
            failure = cause;
        }
        notifyFailure();
    }

    @Override
    public void onShutdown() {
        reading = false;
        if (failing != null) {
            notifyFailure(); // The loop reads no more, so the peer's end is not seen.
        } else if (!open) {
            onFailed(CloseReason.LOOP_ENDED, null); // The handshake cannot complete.
        } else if (!isDone()) {
            handler().onShutdown();
        }
    }

    @Override
    public void onReleased() {
        output.release();
        if (output.isReleased()) {
            handler().onReleased();
        }
    }

    private void handshakeTimedOut() {
        timer = null;
        fail(
                CloseReason.HANDSHAKE_TIMEOUT,
                new SSLException(
                        "the TLS handshake did not complete within " + Checks.format(timeout)));
    }

    void failForMemory() {
        fail(CloseReason.MEMORY_LIMIT, streams.bufferMemoryExhausted());
    }

    /// Fails the connection after a last attempt to send the alert. A failure of TLS before the
    /// handshake is complete is one of the handshake.
    void fail(CloseReason reason, @Nullable Throwable cause) {
        if (isDone()) {
            return;
        }
        boolean ofTls = reason == CloseReason.TLS_FAILED || reason == CloseReason.TLS_TRUNCATED;
        failing = ofTls && !open ? CloseReason.TLS_HANDSHAKE_FAILED : reason;
        failure = cause;
        cancelTimer();
        streams.handshakes().cancel(this);
        output.sendAlert();
        if (output.isEmpty() || !ofTls) {
            setBelowReading(false);
            loop.microtask(this::notifyFailure);
        } else {
            setBelowReading(!belowEnded);
            timer = loop.after(ALERT_TIMEOUT, _ -> notifyFailure()).unreference();
        }
    }

    /// Ends the output once the alert is sent, and reports the failure once the peer has closed.
    private void finishIfAlertSent() {
        if (!output.isEmpty()) {
            output.flushRecords();
            return;
        }
        endedByFailure |= output.endBelow();
        if (belowEnded) {
            loop.microtask(this::notifyFailure);
        }
    }

    private void notifyFailure() {
        if (!failureNotified && !closed) {
            failureNotified = true;
            cancelTimer();
            handler().onFailed(Objects.requireNonNull(failing), failure);
        }
    }

    private void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
