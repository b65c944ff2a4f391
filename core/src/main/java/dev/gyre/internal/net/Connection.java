package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.io.BufferPool;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.tls.TlsMachine;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Protocol;
import dev.gyre.io.StreamClosedException;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.StreamState;
import dev.gyre.io.Timeout;
import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.function.Consumer;

/// What is behind a stream: puts its input, its output, its times and its wire together, and knows how it ends.
///
/// ```
///      open ──── end() ────▶ output ends behind what was written ─┐
///       │                                                         ├──▶ both ended: closed (ENDED)
///       ├─────── the peer's end, told ────────────────────────────┘
///       ├─────── close() ──▶ draining: output ends, input is discarded until the peer's end ──▶ closed (CLOSED)
///       └─────── abort(), reset, timeout, limit, a callback that throws ──▶ closed (…)
/// ```
///
/// Loop thread only.
final class Connection implements Wire.User {
    final SocketWire socket;
    final StreamInput input;
    final StreamOutput output;
    final StreamTimes times;
    private final Streams streams;
    private final StreamConfig config;
    private final SocketAddress peer;
    private final LoopStream face;
    private final @Nullable LoopListener acceptedBy;
    private Wire wire;

    /// What TLS was begun with; null without.
    private @Nullable TlsMachine machine;

    /// Whether what is unread belongs to TLS, which has not taken it yet.
    private boolean securing;

    /// What was connected to, as it was given: the name that TLS asks for and verifies.
    private SocketAddress calledAs;

    /// Whether the wire has been told to read.
    private boolean reading;

    private boolean readsUnderPressure;

    /// Made when it is asked for, which few streams ever are.
    private @Nullable CatchingUp catchingUp;

    private final EndListeners listeners = new EndListeners();

    // How it ends.
    private boolean draining;
    private boolean endsWithLoop;

    /// How many unfinished pipes read here or write here.
    private int pipes;

    private boolean transfers;
    private @Nullable CloseReason reason;
    private @Nullable Throwable failure;

    /// What the protocol gave as the cause, which is reported in place of how the stream then came to its end.
    private @Nullable CloseReason cause;

    private long partlySentAtEnd;

    // Its place among the connections of the loop.
    @Nullable Connection next;
    @Nullable Connection previous;

    private Connection(
            Streams streams,
            OpenDescriptor socket,
            SocketAddress peer,
            StreamConfig config,
            @Nullable LoopListener acceptedBy) {
        this.streams = streams;
        this.config = config;
        this.peer = peer;
        this.acceptedBy = acceptedBy;
        calledAs = peer;
        readsUnderPressure = config.readsUnderPressure().orElse(acceptedBy == null);
        this.socket = new SocketWire(streams, socket);
        wire = this.socket;
        wire.serve(this);
        input = new StreamInput(this);
        output = new StreamOutput(this, streams.operations());
        times = new StreamTimes(this);
        face = new LoopStream(this);
        streams.add(this);
        times.begin();
    }

    static Connection accepted(
            Streams streams,
            OpenDescriptor socket,
            SocketAddress peer,
            StreamConfig config,
            LoopListener by) {
        return new Connection(streams, socket, peer, config, by);
    }

    static Connection connected(
            Streams streams, OpenDescriptor socket, SocketAddress peer, StreamConfig config) {
        return new Connection(streams, socket, peer, config, null);
    }

    // ------------------------------------------------------------------ for its parts

    LoopStream face() {
        return face;
    }

    EventLoop loop() {
        return streams.loop();
    }

    Streams streams() {
        return streams;
    }

    StreamConfig config() {
        return config;
    }

    SocketAddress peer() {
        return peer;
    }

    Wire wire() {
        return wire;
    }

    BufferPool pool() {
        return streams.operations().pool();
    }

    long nowNanos() {
        return streams.loop().nowNanos();
    }

    boolean isReading() {
        return reading;
    }

    @SuppressWarnings("ReferenceEquality") // a listener is only itself
    boolean isAcceptedBy(LoopListener listener) {
        return acceptedBy == listener;
    }

    boolean isUnderPressure() {
        return output.isUnderPressure() && !readsUnderPressure;
    }

    /// What arrives here leads to no output here.
    void readUnderPressure() {
        readsUnderPressure = true;
    }

    /// What is wanted of the input may have changed.
    void updateReading() {
        boolean wants = reason == null && input.wantsMore();
        if (wants != reading) {
            reading = wants;
            if (wants) {
                times.readingBegins();
            }
            wire.read(wants);
        }
    }

    IllegalStateException memoryUsedUp() {
        return new IllegalStateException(
                "the loop's memory for buffers is used up: "
                        + pool().limit()
                        + " bytes (LoopConfig.withBufferMemory)");
    }

    // ------------------------------------------------------------------ TLS

    /// Puts TLS between this and its wire. What is unread is the first that TLS gets, also what the callback leaves that
    /// is running just now: nothing that came in the clear is taken for what came after.
    Promise<TlsSession> secure(TlsMachine machine, Duration timeout) {
        Deferred<TlsSession> outcome = loop().deferred();
        TlsWire over = new TlsWire(streams, wire, output.giveWay(), machine, timeout, outcome);
        over.serve(this);
        this.machine = machine;
        wire = over;
        securing = true;
        loop().microtask(
                        () -> {
                            securing = false;
                            over.begin(input.takeUnread());
                            reading = false;
                            updateReading();
                        });
        return outcome.promise();
    }

    SocketAddress calledAs() {
        return calledAs;
    }

    void calledAs(SocketAddress name) {
        calledAs = name;
    }

    boolean isSecuring() {
        return securing;
    }

    boolean isSecured() {
        return machine != null;
    }

    @Nullable TlsSession session() {
        return machine == null ? null : machine.session();
    }

    // ------------------------------------------------------------------ as the wire's user

    @Override
    public void onReceived(NativeBuffer data) {
        times.received();
        input.arrived(data);
    }

    @Override
    public void onInputEnded() {
        reading = false;
        times.received();
        input.arrivedEnd();
        onCaughtUp();
    }

    @Override
    public void onEndPending() {
        input.endPending();
    }

    Promise<@Nullable Void> caughtUp() {
        if (catchingUp == null) {
            catchingUp = new CatchingUp(this);
        }
        return catchingUp.begin();
    }

    @Override
    public void onCaughtUp() {
        if (catchingUp != null) {
            catchingUp.done();
        }
    }

    @Override
    public void onSent(long bytes) {
        times.sent();
        output.taken(bytes);
    }

    /// How much of what is being sent the kernel has, before [#onSent] tells of it.
    long partlySent() {
        return reason == null ? wire.partlySent() : partlySentAtEnd;
    }

    @Override
    public void onOutputEnded() {
        output.wireEnded();
        if (draining) {
            times.linger(); // From here on it is only the peer's end that is missing.
        }
        if (endsWithLoop) {
            closeWith(CloseReason.LOOP_ENDED, null);
        }
        closeIfBothEnded();
    }

    @Override
    public void onFailed(CloseReason why, @Nullable Throwable cause) {
        // Whoever closes does not miss what nobody would have read: many peers end without a word
        // then.
        boolean done = why == CloseReason.TLS_FAILED && draining && output.hasEnded();
        closeWith(done ? CloseReason.CLOSED : why, done ? null : cause);
    }

    @Override
    public void onProgress() {
        times.sent();
    }

    @Override
    public void onActivity() {
        times.received();
        times.sent();
    }

    @Override
    public void onLoopEnding() {
        reading = false;
        endsWithLoop = true;
        output.endWhenEmpty();
    }

    @Override
    public void onReleased() {
        output.release();
    }

    // ------------------------------------------------------------------ how it ends

    /// Neither closed nor about to be.
    boolean isOpen() {
        return reason == null && !draining;
    }

    /// Its wire is still there.
    boolean isOpenOrDraining() {
        return reason == null;
    }

    @Nullable CloseReason reason() {
        return reason;
    }

    @Nullable Throwable failure() {
        return failure;
    }

    void onClose(Consumer<? super CloseReason> callback) {
        listeners.user(callback);
    }

    /// Tells somebody beside the user of the end.
    void onGone(Consumer<? super Connection> told) {
        if (listeners.areTold()) {
            streams.tell(() -> told.accept(this));
        } else {
            listeners.add(told);
        }
    }

    StreamClosedException closedException() {
        CloseReason why = reason == null ? CloseReason.CLOSED : reason;
        return new StreamClosedException(this + " is closed: " + why, why, failure);
    }

    /// Closes the stream once both directions have ended and no input is left to deliver.
    void closeIfBothEnded() {
        if (input.isFinished() && output.hasEnded()) {
            closeWith(draining ? CloseReason.CLOSED : CloseReason.ENDED, null);
        }
    }

    /// A pipe that reads here or writes here begins. Until it ends, a graceful shutdown lets the stream read on.
    void pipeBegins() {
        if (pipes++ == 0 && reason == null) {
            transfers = true;
            streams.operations().beginTransfer(socket.socket);
        }
    }

    void pipeEnds() {
        if (--pipes == 0 && transfers) {
            transfers = false;
            streams.operations().endTransfer(socket.socket);
        }
    }

    /// A callback threw: the stream is over, and the loop hears of it.
    void failedIn(Throwable thrown) {
        closeWith(CloseReason.HANDLER_FAILED, thrown);
    }

    void timedOut(Timeout timeout) {
        Protocol speaking = input.protocol();
        boolean goesOn = false;
        if (speaking != null && !draining) {
            try {
                goesOn = speaking.onTimeout(face, timeout);
            } catch (RuntimeException | Error e) {
                failedIn(e);
                throw e;
            }
        }
        if (!goesOn) {
            closeWith(timeout.reason(), null);
        }
    }

    /// Closes behind what was written, and waits for the peer to do so too.
    ///
    /// @param cause CLOSED, or the timeout that the protocol decided on
    void drain(CloseReason cause) {
        if (cause != CloseReason.CLOSED && isOpen()) {
            this.cause = cause;
        }
        drain(true);
    }

    /// @param cause ABORTED, or the timeout that the protocol decided on
    void abort(CloseReason cause) {
        if (cause != CloseReason.ABORTED && this.cause == null) {
            this.cause = cause;
        }
        closeWith(CloseReason.ABORTED, null);
    }

    /// The same at the end of a pipe, where nobody asked for haste: as long as output waits, only the write timeout
    /// ends it.
    void drainAtLeisure() {
        drain(false);
    }

    private void drain(boolean inHaste) {
        if (!isOpen()) {
            return;
        }
        if (output.isFed()) {
            // An orderly end would make the peer take a part of what is piped here for all of it.
            closeWith(CloseReason.ABORTED, null);
        } else {
            draining = true;
            output.end();
            if (inHaste || output.hasEnded()) {
                times.linger();
            }
            input.discard();
            closeIfBothEnded();
        }
    }

    /// Closes at once. Whoever set a callback hears of it before the loop waits again, never inside a call of its own.
    void closeWith(CloseReason why, @Nullable Throwable cause) {
        if (reason != null) {
            return;
        }
        partlySentAtEnd = wire.partlySent(); // Nobody is told of it any more.
        CloseReason reported = this.cause == null ? why : this.cause;
        reason = reported;
        failure = cause;
        reading = false;
        times.cancel();
        input.close();
        if (catchingUp != null) {
            catchingUp.closed();
        }
        output.abandon();
        boolean reset = !output.isEmpty() || resets(why);
        if (why == CloseReason.LOOP_ENDED && !reset) {
            socket.dropUnread();
        }
        wire.close(reset);
        streams.remove(this, reported);
        streams.tell(() -> listeners.tell(this, reported));
    }

    /// Whether an orderly end would tell the peer that all is well although it is not.
    private boolean resets(CloseReason why) {
        return switch (why) {
            case ENDED, CLOSED, RESET -> false;
            case IDLE_TIMEOUT, READ_TIMEOUT, LOOP_ENDED -> output.lacksEnd();
            // The alert that tells why is on its way.
            case TLS_FAILED, HANDSHAKE_TIMEOUT -> false;
            // A reset would destroy what the kernel has and the peer is still taking.
            case LINGER_TIMEOUT -> !output.hasEnded();
            default -> true;
        };
    }

    // ------------------------------------------------------------------ looking

    StreamState state() {
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

    @Override
    public String toString() {
        return "Stream[" + peer + ", " + state() + "]";
    }
}
