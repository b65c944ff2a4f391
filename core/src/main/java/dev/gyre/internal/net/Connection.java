package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.io.BufferPool;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.io.CloseReason;
import dev.gyre.io.StreamClosedException;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.function.Consumer;

/// The implementation of a stream: connects its input, its output, its times, its lifecycle and its
/// wire.
///
/// Loop thread only.
final class Connection implements Transport.User {
    final SocketTransport socket;
    final StreamInput input;
    final StreamOutput output;
    final StreamTimeouts times;
    final StreamLifecycle lifecycle;
    private final Streams streams;
    private final StreamConfig config;
    private final SocketAddress peer;
    private final LoopStream face;
    private final @Nullable LoopListener acceptedBy;
    private Transport wire;

    /// What TLS was begun with; null without.
    private @Nullable TlsEngine machine;

    /// Whether what is unread belongs to TLS, which has not taken it yet.
    private boolean securing;

    /// What was connected to, as it was given: the name that TLS asks for and verifies.
    private SocketAddress calledAs;

    /// Whether the wire has been told to read.
    private boolean reading;

    private boolean readsUnderPressure;

    /// Made when it is asked for, which few streams ever are.
    private @Nullable InputBarrier catchingUp;

    /// How many unfinished pipes read here or write here.
    private int pipes;

    private boolean transfers;
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
        readsUnderPressure = config.readsUnderBackpressure().orElse(acceptedBy == null);
        this.socket = new SocketTransport(streams, socket);
        wire = this.socket;
        wire.serve(this);
        lifecycle = new StreamLifecycle(this);
        input = new StreamInput(this);
        output = new StreamOutput(this, streams.operations());
        times = new StreamTimeouts(this);
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

    Transport wire() {
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
        boolean wants = isOpenOrDraining() && input.wantsMore();
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

    /// Inserts TLS above the wire. TLS gets all unread input first, including the rest of the
    /// running callback's: no plaintext is mistaken for decrypted input.
    Promise<TlsSession> secure(TlsEngine machine, Duration timeout) {
        Deferred<TlsSession> outcome = loop().deferred();
        TlsTransport over =
                new TlsTransport(streams, wire, output.giveWay(), machine, timeout, outcome);
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
            catchingUp = new InputBarrier(this);
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
        return isOpenOrDraining() ? wire.partlySent() : partlySentAtEnd;
    }

    @Override
    public void onOutputEnded() {
        output.wireEnded();
        lifecycle.outputEnded();
    }

    @Override
    public void onFailed(CloseReason why, @Nullable Throwable cause) {
        lifecycle.wireFailed(why, cause);
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
        lifecycle.endWithLoop();
    }

    @Override
    public void onReleased() {
        output.release();
    }

    // ------------------------------------------------------------------ pipes

    /// Registers a pipe from or to this stream. Until it ends, a graceful shutdown lets the stream
    /// read on.
    void pipeBegins() {
        if (pipes++ == 0 && isOpenOrDraining()) {
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

    // ------------------------------------------------------------------ closing

    boolean isOpen() {
        return lifecycle.isOpen();
    }

    boolean isOpenOrDraining() {
        return !lifecycle.isClosed();
    }

    StreamClosedException closedException() {
        return lifecycle.closedException();
    }

    void onGone(Consumer<? super Connection> listener) {
        lifecycle.onGone(listener);
    }

    void closeWith(CloseReason why, @Nullable Throwable cause) {
        lifecycle.close(why, cause);
    }

    /// Closes the stream after a callback threw. The caller rethrows, which reports it to the loop.
    void failedIn(Throwable thrown) {
        lifecycle.close(CloseReason.HANDLER_FAILED, thrown);
    }

    /// Closes the parts and the wire. Called once, by [StreamLifecycle#close].
    void closeParts(CloseReason why) {
        partlySentAtEnd = wire.partlySent(); // onSent is not called any more.
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

    @Override
    public String toString() {
        return "Stream[" + peer + ", " + lifecycle.state() + "]";
    }
}
