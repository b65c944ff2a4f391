package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Timer;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.internal.tls.TlsEngine.Next;
import dev.gyre.io.CloseReason;
import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

import javax.net.ssl.SSLException;

/// TLS over another wire: a [TlsEngine], with what comes from below in [TlsInput] and what goes there in
/// [TlsOutput].
///
/// ```
///     begin ──▶ handshake ──▶ open ──▶ ended, each direction with its close_notify
///                   │           │
///                   └───────────┴──▶ failing: the alert is sent, then the end; until the peer's end, or for a
///                                    second, what arrives is thrown away ──▶ failed
/// ```
///
/// What takes long in a handshake is done elsewhere; until it is back nobody here touches the machine's engine, and what
/// arrives is kept.
///
/// Loop thread only.
final class TlsTransport implements Transport, Transport.Handler {
    /// How long a failed connection waits for the peer to take the alert that tells it why, and to hang up: closed
    /// before, with something unread, it would be reset, and the alert with it.
    private static final Duration ALERT_TIMEOUT = Duration.ofSeconds(1);

    final EventLoop loop;
    final LoopOperations operations;
    final TlsEngine engine;
    private final Transport below;
    private final Duration timeout;
    private final Deferred<TlsSession> handshake;
    private final HandshakeExecutor executor;
    private final TlsInput input;
    private final TlsOutput output;

    private @Nullable Handler handler;
    private @Nullable Timer timer;
    private boolean begun;
    private boolean open;
    private boolean wanted;
    private boolean reading;
    private boolean inputEndNotified;
    private boolean resumeScheduled;

    /// Whether the output is to end when the handshake is over: it cannot before.
    private boolean endRequested;

    /// Whether nothing comes from below any more.
    private boolean belowEnded;

    /// Why it is over, once it is; told when the alert is sent.
    private @Nullable CloseReason failing;

    private @Nullable Throwable failure;
    private boolean endedByFailure;
    private boolean failureNotified;
    private boolean closed;

    /// @param carried what was written before, and goes out as it is
    TlsTransport(
            Streams streams,
            Transport below,
            OutputQueue carried,
            TlsEngine machine,
            Duration timeout,
            Deferred<TlsSession> handshake) {
        this.loop = streams.loop();
        this.operations = streams.operations();
        this.below = below;
        this.engine = machine;
        this.timeout = timeout;
        this.handshake = handshake;
        executor = streams.handshakes();
        input = new TlsInput(this);
        output = new TlsOutput(this, below, carried);
        below.setHandler(this);
    }

    @Override
    public void setHandler(Handler user) {
        this.handler = user;
    }

    Handler handler() {
        return Objects.requireNonNull(handler);
    }

    /// Begins the handshake.
    ///
    /// @param first what arrived before, and belongs to it; released here
    void begin(@Nullable NativeBuffer first) {
        if (isDone()) {
            if (first != null) {
                first.release();
            }
            return;
        }
        begun = true;
        timer = loop.after(timeout, _ -> handshakeTimedOut()).unreference();
        if (first != null) {
            input.prepend(first);
        }
        pump();
        if (!isDone()) {
            below.setReading(reading); // Whoever had it before may have left it reading.
        }
    }

    // ------------------------------------------------------------------ going on

    /// Nothing is given to the machine, or handed on, any more.
    boolean isDone() {
        return closed || failing != null;
    }

    /// Whether what arrives may be decrypted: not faster than it is wanted.
    boolean mayReceive() {
        return begun && !isDone() && (!open || wanted);
    }

    /// Does all that can be done now.
    private void pump() {
        if (isDone()) {
            return;
        }
        output.pump();
        input.resume();
        updateReading();
    }

    /// The machine wants to send before it receives more.
    ///
    /// @return whether it could
    boolean sendPending() {
        return output.pump();
    }

    /// The machine was at work: sees what has come of it.
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
                    loop.microtask(this::notifyInputEnded);
                }
            }
            default -> {}
        }
    }

    /// What had to wait for it goes on: nothing else may happen that would be a reason to.
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
            return; // They are being run.
        }
        Consumer<Throwable> refused = why -> fail(CloseReason.TLS_FAILED, why);
        executor.submit(this, tasks, this::tasksDone, refused);
    }

    private void tasksDone() {
        engine.tasksDone();
        pump();
    }

    private void updateReading() {
        if (!begun || isDone()) {
            return; // It is somebody else's still, or the end has its own wishes.
        }
        boolean wants = !inputEndNotified && input.hasRoom() && (!open || wanted);
        setBelowReading(wants);
    }

    private void setBelowReading(boolean wants) {
        if (wants != reading) {
            reading = wants;
            below.setReading(wants);
        }
    }

    // ------------------------------------------------------------------ as a wire

    @Override
    public void setReading(boolean wanted) {
        this.wanted = wanted;
        if (wanted && open && !resumeScheduled && input.hasPending()) {
            resumeScheduled = true;
            loop.microtask(this::resume);
        }
        updateReading();
    }

    private void resume() {
        resumeScheduled = false;
        pump();
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
        return output.partiallySent(below);
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
    public void close(boolean reset) {
        if (closed) {
            return;
        }
        closed = true;
        cancelTimer();
        executor.cancel(this);
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

    // ------------------------------------------------------------------ as the lower wire's user

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
            handler().onProgress(); // Also if more of the batch is left.
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
            notifyFailure(); // Nobody would hear the peer hang up.
        } else if (!open) {
            onFailed(CloseReason.LOOP_ENDED, null); // What is missing of the handshake never comes.
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

    private void notifyInputEnded() {
        if (!isDone()) {
            handler().onInputEnded();
        }
    }

    // ------------------------------------------------------------------ failing

    private void handshakeTimedOut() {
        timer = null;
        fail(
                CloseReason.HANDSHAKE_TIMEOUT,
                new SSLException("the TLS handshake took longer than " + timeout));
    }

    /// It is over, but for the last word to the peer.
    void fail(CloseReason reason, @Nullable Throwable cause) {
        if (isDone()) {
            return;
        }
        failing = reason;
        failure = cause;
        cancelTimer();
        executor.cancel(this);
        output.sendAlert();
        if (output.isEmpty() || reason != CloseReason.TLS_FAILED) {
            setBelowReading(false);
            loop.microtask(this::notifyFailure);
        } else {
            setBelowReading(!belowEnded);
            timer = loop.after(ALERT_TIMEOUT, _ -> notifyFailure()).unreference();
        }
    }

    /// Once the alert is gone the peer is told that nothing follows, and once it hangs up too there is nothing left
    /// to wait for.
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
