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
final class Connection implements Transport.Handler {
    final SocketTransport socket;
    final StreamInput input;
    final StreamOutput output;
    final StreamTimeouts timeouts;
    final StreamLifecycle lifecycle;
    final Streams streams;
    final StreamConfig config;
    final SocketAddress peer;
    final LoopStream stream;
    private final @Nullable LoopListener acceptedBy;
    private Transport transport;

    /// What TLS was begun with; null without.
    private @Nullable TlsEngine tlsEngine;

    /// Whether what is unread belongs to TLS, which has not taken it yet.
    private boolean securing;

    /// What was connected to, as it was given: the name that TLS asks for and verifies.
    private SocketAddress target;

    /// Whether the wire has been told to read.
    private boolean reading;

    private boolean readsUnderPressure;

    /// Pending [#caughtUp()]; null if none.
    private @Nullable Deferred<@Nullable Void> barrier;

    /// How many unfinished pipes read here or write here.
    private int pipes;

    private boolean transferring;
    private long partiallySentAtClose;

    // Its place among the connections of the loop.
    @Nullable Connection next;
    @Nullable Connection previous;

    /// @param acceptedBy null for a stream that was connected
    Connection(
            Streams streams,
            OpenDescriptor socket,
            SocketAddress peer,
            StreamConfig config,
            @Nullable LoopListener acceptedBy) {
        this.streams = streams;
        this.config = config;
        this.peer = peer;
        this.acceptedBy = acceptedBy;
        target = peer;
        readsUnderPressure = config.readsUnderPressure().orElse(acceptedBy == null);
        this.socket = new SocketTransport(streams, socket);
        transport = this.socket;
        transport.setHandler(this);
        lifecycle = new StreamLifecycle(this);
        input = new StreamInput(this);
        output = new StreamOutput(this, streams.operations());
        timeouts = new StreamTimeouts(this);
        stream = new LoopStream(this);
        streams.add(this);
        timeouts.start();
    }

    // ------------------------------------------------------------------ for its parts

    EventLoop loop() {
        return streams.loop();
    }

    Transport transport() {
        return transport;
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
        return output.isBackpressured() && !readsUnderPressure;
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
                timeouts.readingStarted();
            }
            transport.setReading(wants);
        }
    }

    IllegalStateException bufferMemoryExhausted() {
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
                new TlsTransport(
                        streams, transport, output.detachQueue(), machine, timeout, outcome);
        over.setHandler(this);
        this.tlsEngine = machine;
        transport = over;
        securing = true;
        loop().microtask(
                        () -> {
                            securing = false;
                            over.begin(input.detachUnread());
                            reading = false;
                            updateReading();
                        });
        return outcome.promise();
    }

    SocketAddress target() {
        return target;
    }

    void target(SocketAddress name) {
        target = name;
    }

    boolean isSecuring() {
        return securing;
    }

    boolean isSecured() {
        return tlsEngine != null;
    }

    @Nullable TlsSession session() {
        return tlsEngine == null ? null : tlsEngine.session();
    }

    // ------------------------------------------------------------------ as the wire's user

    @Override
    public void onReceived(NativeBuffer data) {
        timeouts.received();
        input.receive(data);
    }

    @Override
    public void onInputEnded() {
        reading = false;
        timeouts.received();
        input.receiveEnd();
        onInputBarrier();
    }

    @Override
    public void onEndPending() {
        input.endPending();
    }

    Promise<@Nullable Void> caughtUp() {
        Deferred<@Nullable Void> outcome = barrier;
        if (outcome != null) {
            return outcome.promise(); // The kernel has not been polled yet.
        }
        outcome = loop().deferred();
        if (!isOpen()) {
            outcome.reject(closedException());
        } else if (input.hasEnded()) {
            outcome.resolve(null);
        } else {
            barrier = outcome;
            transport.requestInputBarrier();
        }
        return outcome.promise();
    }

    @Override
    public void onInputBarrier() {
        Deferred<@Nullable Void> outcome = barrier;
        barrier = null;
        if (outcome != null) {
            outcome.resolve(null);
        }
    }

    @Override
    public void onSent(long bytes) {
        timeouts.sent();
        output.onSent(bytes);
    }

    /// How much of what is being sent the kernel has, before [#onSent] tells of it.
    long partiallySent() {
        return isOpenOrDraining() ? transport.partiallySent() : partiallySentAtClose;
    }

    @Override
    public void onOutputEnded() {
        output.transportEnded();
        lifecycle.outputEnded();
    }

    @Override
    public void onFailed(CloseReason why, @Nullable Throwable cause) {
        lifecycle.transportFailed(why, cause);
    }

    @Override
    public void onProgress() {
        timeouts.sent();
    }

    @Override
    public void onActivity() {
        timeouts.received();
        timeouts.sent();
    }

    @Override
    public void onShutdown() {
        reading = false;
        lifecycle.shutDown();
    }

    @Override
    public void onReleased() {
        output.release();
    }

    // ------------------------------------------------------------------ pipes

    /// Registers a pipe from or to this stream. Until it ends, a graceful shutdown lets the stream
    /// read on.
    void pipeStarted() {
        if (pipes++ == 0 && isOpenOrDraining()) {
            transferring = true;
            streams.operations().beginTransfer(socket.socket);
        }
    }

    void pipeEnded() {
        if (--pipes == 0 && transferring) {
            transferring = false;
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

    void addCloseListener(Consumer<? super Connection> listener) {
        lifecycle.addCloseListener(listener);
    }

    void closeWith(CloseReason why, @Nullable Throwable cause) {
        lifecycle.close(why, cause);
    }

    /// Closes the stream after a callback threw. The caller rethrows, which reports it to the loop.
    void callbackFailed(Throwable thrown) {
        lifecycle.close(CloseReason.HANDLER_FAILED, thrown);
    }

    /// Closes the parts and the wire. Called once, by [StreamLifecycle#close].
    void closeParts(CloseReason why) {
        partiallySentAtClose = transport.partiallySent(); // onSent is not called any more.
        reading = false;
        timeouts.cancel();
        input.close();
        if (barrier != null) {
            barrier.reject(closedException());
            barrier = null;
        }
        output.rejectFlushWaiters();
        boolean reset = !output.isEmpty() || mustReset(why);
        if (why == CloseReason.LOOP_ENDED && !reset) {
            socket.discardUnread();
        }
        transport.close(reset);
    }

    /// Whether an orderly end would tell the peer that all is well although it is not.
    private boolean mustReset(CloseReason why) {
        return switch (why) {
            case ENDED, CLOSED, RESET -> false;
            case IDLE_TIMEOUT, READ_TIMEOUT, LOOP_ENDED -> output.isMissingEnd();
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
