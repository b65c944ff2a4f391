package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.io.BufferPool;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.io.CloseReason;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.time.Duration;

/// The implementation of a stream. Owns its transport, input, output, timeouts and lifecycle.
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

    /// The address as given to `connect`. TLS requests and verifies its host name.
    final SocketAddress target;

    final LoopStream stream;
    private final @Nullable LoopListener acceptedBy;
    private Transport transport;

    /// Null on plaintext connections.
    private @Nullable TlsEngine tlsEngine;

    /// Whether unread input belongs to TLS, which has not started yet.
    private boolean securing;

    private boolean reading;
    private boolean readsUnderPressure;

    /// The pending promise of [#inputDelivered()]; null if none.
    private @Nullable Deferred<@Nullable Void> barrier;

    /// How many unfinished pipes read from this stream or write to it.
    private int pipes;

    private boolean transferring;
    private long partiallySentAtClose;

    // Links of the loop's list of connections.
    @Nullable Connection next;
    @Nullable Connection previous;

    /// @param acceptedBy null for an outgoing connection
    Connection(
            Streams streams,
            OpenDescriptor socket,
            SocketAddress peer,
            SocketAddress target,
            StreamConfig config,
            @Nullable LoopListener acceptedBy) {
        this.streams = streams;
        this.config = config;
        this.peer = peer;
        this.acceptedBy = acceptedBy;
        this.target = target;
        readsUnderPressure = config.readsUnderBackpressure().orElse(acceptedBy == null);
        this.socket = new SocketTransport(streams, socket);
        transport = this.socket;
        transport.setHandler(this);
        lifecycle = new StreamLifecycle(this);
        input = new StreamInput(this);
        output = new StreamOutput(this, streams.operations());
        timeouts = new StreamTimeouts(this);
        stream = new LoopStream(this);
        streams.add(this);
        timeouts.reschedule();
    }

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

    @SuppressWarnings("ReferenceEquality") // compares identity
    boolean isAcceptedBy(LoopListener listener) {
        return acceptedBy == listener;
    }

    boolean isUnderPressure() {
        return output.isBackpressured() && !readsUnderPressure;
    }

    /// Reads even under backpressure: the input does not cause output on this stream.
    void readUnderPressure() {
        readsUnderPressure = true;
    }

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

    /// Inserts TLS above the transport. TLS receives all unread input first, including the rest of
    /// the current callback's buffer. So plaintext cannot pass for decrypted input.
    Promise<TlsSession> secure(TlsEngine engine, Duration timeout) {
        Deferred<TlsSession> outcome = loop().deferred();
        TlsTransport over =
                new TlsTransport(
                        streams, transport, output.detachQueue(), engine, timeout, outcome);
        over.setHandler(this);
        tlsEngine = engine;
        transport = over;
        securing = true;
        loop().microtask(
                        () -> {
                            securing = false;
                            over.start(input.detachUnread());
                            reading = false;
                            updateReading();
                        });
        return outcome.promise();
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

    Promise<@Nullable Void> inputDelivered() {
        Deferred<@Nullable Void> outcome = barrier;
        if (outcome != null) {
            return outcome.promise(); // The kernel has not been polled yet.
        }
        outcome = loop().deferred();
        if (!isOpen()) {
            outcome.reject(lifecycle.closedException());
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

    /// How many bytes of the current batch the kernel has, before [#onSent] reports the batch.
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

    /// Registers a pipe from or to this stream. Until it ends, a graceful shutdown lets the stream
    /// continue to read.
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

    boolean isOpen() {
        return lifecycle.isOpen();
    }

    boolean isOpenOrDraining() {
        return !lifecycle.isClosed();
    }

    /// Closes the stream after a callback threw. The caller rethrows to the loop.
    void callbackFailed(Throwable thrown) {
        lifecycle.close(CloseReason.HANDLER_FAILED, thrown);
    }

    /// Closes the parts and the transport. Called once, by [StreamLifecycle#close].
    void closeParts(CloseReason why) {
        partiallySentAtClose = transport.partiallySent(); // No onSent follows.
        reading = false;
        timeouts.cancel();
        input.close();
        if (barrier != null) {
            barrier.reject(lifecycle.closedException());
            barrier = null;
        }
        output.rejectFlushWaiters();
        boolean reset = !output.isEmpty() || mustReset(why);
        if (why == CloseReason.LOOP_ENDED && !reset) {
            socket.discardUnread();
        }
        transport.close(reset);
    }

    /// Whether the peer must see a reset, because an orderly end would hide that data is missing.
    private boolean mustReset(CloseReason why) {
        return switch (why) {
            case ENDED, CLOSED, RESET -> false;
            case IDLE_TIMEOUT, READ_TIMEOUT, LOOP_ENDED -> output.isMissingEnd();
            // The alert with the cause is in flight.
            case TLS_FAILED, HANDSHAKE_TIMEOUT -> false;
            // A reset would destroy output that the peer has not read yet.
            case LINGER_TIMEOUT -> !output.hasEnded();
            default -> true;
        };
    }

    @Override
    public String toString() {
        return "Stream[" + peer + ", " + lifecycle.state() + "]";
    }
}
