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
    private static final Duration GOODBYE = Duration.ofSeconds(1);

    final EventLoop loop;
    final LoopOperations operations;
    final TlsEngine machine;
    private final Transport below;
    private final Duration timeout;
    private final Deferred<TlsSession> handshake;
    private final HandshakeExecutor work;
    private final TlsInput input;
    private final TlsOutput output;

    private @Nullable Handler user;
    private @Nullable Timer timer;
    private boolean begun;
    private boolean open;
    private boolean wanted;
    private boolean belowReads;
    private boolean inputToldEnded;
    private boolean resuming;

    /// Whether the output is to end when the handshake is over: it cannot before.
    private boolean endAsked;

    /// Whether nothing comes from below any more.
    private boolean belowEnded;

    /// Why it is over, once it is; told when the alert is sent.
    private @Nullable CloseReason failing;

    private @Nullable Throwable failure;
    private boolean endedByFailure;
    private boolean failureTold;
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
        this.machine = machine;
        this.timeout = timeout;
        this.handshake = handshake;
        work = streams.handshakes();
        input = new TlsInput(this);
        output = new TlsOutput(this, below, carried);
        below.serve(this);
    }

    @Override
    public void serve(Handler user) {
        this.user = user;
    }

    Handler user() {
        return Objects.requireNonNull(user);
    }

    /// Begins the handshake.
    ///
    /// @param first what arrived before, and belongs to it; released here
    void begin(@Nullable NativeBuffer first) {
        if (isOver()) {
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
        turn();
        if (!isOver()) {
            below.read(belowReads); // Whoever had it before may have left it reading.
        }
    }

    // ------------------------------------------------------------------ going on

    /// Nothing is given to the machine, or handed on, any more.
    boolean isOver() {
        return closed || failing != null;
    }

    /// Whether what arrives may be decrypted: not faster than it is wanted.
    boolean mayReceive() {
        return begun && !isOver() && (!open || wanted);
    }

    /// Does all that can be done now.
    private void turn() {
        if (isOver()) {
            return;
        }
        output.pump();
        input.goOn();
        updateBelow();
    }

    /// The machine wants to send before it receives more.
    ///
    /// @return whether it could
    boolean answer() {
        return output.pump();
    }

    /// The machine was at work: sees what has come of it.
    void noticed(Next next) {
        TlsSession agreed = machine.session();
        if (!open && agreed != null) {
            open = true;
            cancelTimer();
            handshake.resolve(agreed);
            loop.microtask(this::handshakeOver);
        }
        switch (next) {
            case TASKS -> runTasks();
            case FAILURE -> fail(CloseReason.TLS_FAILED, machine.failure());
            case END -> {
                if (machine.inputEnded() && !inputToldEnded && !isOver()) {
                    inputToldEnded = true;
                    loop.microtask(this::tellInputEnded);
                }
            }
            default -> {}
        }
    }

    /// What had to wait for it goes on: nothing else may happen that would be a reason to.
    private void handshakeOver() {
        if (endAsked) {
            machine.end();
            output.end();
        }
        turn();
    }

    private void runTasks() {
        Runnable tasks = machine.tasks();
        if (tasks == null) {
            return; // They are being run.
        }
        Consumer<Throwable> refused = why -> fail(CloseReason.TLS_FAILED, why);
        work.submit(this, tasks, this::tasksDone, refused);
    }

    private void tasksDone() {
        machine.tasksDone();
        turn();
    }

    private void updateBelow() {
        if (!begun || isOver()) {
            return; // It is somebody else's still, or the end has its own wishes.
        }
        boolean wants = !inputToldEnded && input.hasRoom() && (!open || wanted);
        readBelow(wants);
    }

    private void readBelow(boolean wants) {
        if (wants != belowReads) {
            belowReads = wants;
            below.read(wants);
        }
    }

    // ------------------------------------------------------------------ as a wire

    @Override
    public void read(boolean wanted) {
        this.wanted = wanted;
        if (wanted && open && !resuming && input.holds()) {
            resuming = true;
            loop.microtask(this::resume);
        }
        updateBelow();
    }

    private void resume() {
        resuming = false;
        turn();
    }

    @Override
    public void catchUp() {
        below.catchUp();
    }

    @Override
    public void flush(OutputQueue queue) {
        output.offer(queue);
        if (!isOver()) {
            output.pump();
        }
    }

    @Override
    public long partlySent() {
        return output.partlySent(below);
    }

    @Override
    public void endOutput() {
        if (open) {
            machine.end();
            output.end();
        } else {
            endAsked = true;
        }
    }

    @Override
    public void close(boolean reset) {
        if (closed) {
            return;
        }
        closed = true;
        cancelTimer();
        work.leave(this);
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
        if (isOver()) {
            data.clear();
            return;
        }
        if (!open) {
            user().onActivity();
        }
        input.arrived(data);
        if (isOver()) {
            data.clear();
        } else {
            output.pump();
            updateBelow();
        }
    }

    @Override
    public void onCaughtUp() {
        if (!isOver()) {
            user().onCaughtUp();
        }
    }

    @Override
    public void onInputEnded() {
        belowReads = false;
        belowEnded = true;
        if (failing != null) {
            leaveIfSaid();
        } else if (!isOver()) {
            input.ended();
        }
    }

    @Override
    public void onEndPending() {
        if (open && !isOver()) {
            user().onEndPending();
        }
    }

    @Override
    public void onSent(long bytes) {
        if (open) {
            user().onProgress(); // Also if more of the batch is left.
        } else {
            user().onActivity();
        }
        output.sent(bytes);
        if (failing != null) {
            leaveIfSaid();
        } else {
            turn();
        }
    }

    @Override
    public void onProgress() {
        user().onProgress();
    }

    @Override
    public void onOutputEnded() {
        if (!endedByFailure) {
            user().onOutputEnded();
        }
    }

    @Override
    public void onFailed(CloseReason reason, @Nullable Throwable cause) {
        if (failing == null) {
            failing = reason;
            failure = cause;
        }
        tellFailure();
    }

    @Override
    public void onLoopEnding() {
        belowReads = false;
        if (failing != null) {
            tellFailure(); // Nobody would hear the peer hang up.
        } else if (!open) {
            onFailed(CloseReason.LOOP_ENDED, null); // What is missing of the handshake never comes.
        } else if (!isOver()) {
            user().onLoopEnding();
        }
    }

    @Override
    public void onReleased() {
        output.release();
        if (output.isReleased()) {
            user().onReleased();
        }
    }

    private void tellInputEnded() {
        if (!isOver()) {
            user().onInputEnded();
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
        if (isOver()) {
            return;
        }
        failing = reason;
        failure = cause;
        cancelTimer();
        work.leave(this);
        output.sayGoodbye();
        if (output.isEmpty() || reason != CloseReason.TLS_FAILED) {
            readBelow(false);
            loop.microtask(this::tellFailure);
        } else {
            readBelow(!belowEnded);
            timer = loop.after(GOODBYE, _ -> tellFailure()).unreference();
        }
    }

    /// Once the alert is gone the peer is told that nothing follows, and once it hangs up too there is nothing left
    /// to wait for.
    private void leaveIfSaid() {
        if (!output.isEmpty()) {
            output.sayOn();
            return;
        }
        endedByFailure |= output.endBelow();
        if (belowEnded) {
            loop.microtask(this::tellFailure);
        }
    }

    private void tellFailure() {
        if (!failureTold && !closed) {
            failureTold = true;
            cancelTimer();
            user().onFailed(Objects.requireNonNull(failing), failure);
        }
    }

    private void cancelTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
