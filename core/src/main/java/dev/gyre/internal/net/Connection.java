package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.base.TraceRecorder;
import dev.gyre.internal.io.BufferPool;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.io.CloseReason;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.TlsSession;
import dev.gyre.metrics.TraceEvent.Kind;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.time.Duration;

/// The implementation of a stream. Owns its transport, input, output, timeouts and lifecycle.
///
/// Loop thread only, except where noted.
final class Connection extends StreamOwnership<Streams>
        implements Transport.Handler, OpenDescriptor.User {
    private static final int DISCARD_BYTES = 1 << 16;

    final StreamInput input;
    final StreamOutput output;
    final StreamTimeouts timeouts;
    final StreamLifecycle lifecycle;
    final StreamConfig config;
    final SocketAddress peer;

    /// The address as given to `connect`. TLS requests and verifies its host name.
    final SocketAddress target;

    final LoopStream stream;
    private @Nullable LoopListener acceptedBy;

    /// Unique in the process, and never reused.
    final long id;

    /// The route of the current exchange; null if unknown. For traces.
    private @Nullable String route;

    /// The streams of the current loop.
    Streams streams;

    SocketTransport socket;
    private Transport transport;

    /// The move to another loop in progress; null if none.
    private @Nullable StreamMove move;

    // Shared: written by the loop that the connection arrives on, read by any thread.
    private volatile EventLoop loop;

    /// Null on plaintext connections.
    private @Nullable TlsEngine tlsEngine;

    /// True while input must be held back: before TLS starts, and during a move.
    private boolean deliverySuspended;

    private boolean reading;
    private boolean readsUnderPressure;

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
        super(streams);
        this.streams = streams;
        id = streams.nextId();
        loop = streams.loop();
        this.config = config;
        this.peer = peer;
        this.acceptedBy = acceptedBy;
        this.target = target;
        readsUnderPressure = config.readsUnderBackpressure().orElse(acceptedBy == null);
        this.socket = new SocketTransport(streams, socket, null);
        transport = this.socket;
        transport.setHandler(this);
        lifecycle = new StreamLifecycle(this);
        input = new StreamInput(this);
        output = new StreamOutput(this, streams.operations());
        timeouts = new StreamTimeouts(this);
        stream = new LoopStream(this);
        socket.usedBy(this);
        timeouts.reschedule();
        streams.add(this); // Last: a constructor that throws leaves no stream to close.
    }

    /// Returns the loop that the connection belongs to. Any thread.
    EventLoop loop() {
        return loop;
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

    @Nullable LoopListener acceptedBy() {
        return acceptedBy;
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
        trace(Kind.STATE, "TLS handshake started");
        transport = over;
        deliverySuspended = true;
        loop().microtask(
                        () -> {
                            deliverySuspended = false;
                            over.start(input.detachUnread());
                            reading = false;
                            updateReading();
                        });
        return outcome.promise();
    }

    boolean isDeliverySuspended() {
        return deliverySuspended;
    }

    boolean isSecured() {
        return tlsEngine != null;
    }

    @Nullable TlsSession session() {
        return tlsEngine == null ? null : tlsEngine.session();
    }

    @Override
    public void onReceived(NativeBuffer data) {
        trace(Kind.READ, data.readable(), " bytes");
        timeouts.received();
        input.receive(data);
    }

    @Override
    public void onInputEnded() {
        trace(Kind.READ, "end");
        reading = false;
        timeouts.received();
        input.receiveEnd();
        input.onBarrier();
    }

    @Override
    public void onEndPending() {
        input.endPending();
    }

    @Override
    public void onInputBarrier() {
        input.onBarrier();
    }

    @Override
    public void onSent(long bytes) {
        trace(Kind.WROTE, bytes, " bytes");
        timeouts.sent();
        output.onSent(bytes);
    }

    /// How many bytes of the current batch the kernel has, before [#onSent] reports the batch.
    long partiallySent() {
        return isOpenOrDraining() ? transport.partiallySent() : partiallySentAtClose;
    }

    @Override
    public void onOutputEnded() {
        trace(Kind.WROTE, "end");
        output.transportEnded();
        lifecycle.outputEnded();
    }

    @Override
    public void onFailed(CloseReason why, @Nullable Throwable cause) {
        trace(Kind.ERROR, cause == null ? why : cause);
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

    boolean isOpen() {
        return lifecycle.isOpen();
    }

    boolean isOpenOrDraining() {
        return !lifecycle.isClosed();
    }

    /// Closes the stream after a callback threw. The caller rethrows to the loop.
    void callbackFailed(Throwable thrown) {
        trace(Kind.ERROR, thrown);
        lifecycle.close(CloseReason.HANDLER_FAILED, thrown);
    }

    /// Closes the parts and the transport. Called once, by [StreamLifecycle#close].
    void closeParts(CloseReason why) {
        partiallySentAtClose = transport.partiallySent(); // No onSent follows.
        reading = false;
        timeouts.cancel();
        input.close();
        output.rejectFlushWaiters();
        boolean reset = !output.isEmpty() || lifecycle.mustReset(why);
        if (why == CloseReason.LOOP_ENDED && !reset) {
            discardUnread();
        }
        transport.close(reset);
        if (move != null) {
            move.uncount();
            move = null;
        }
        stream.confineTo(streams);
    }

    private void discardUnread() {
        NativeBuffer room = pool().acquire(DISCARD_BYTES);
        if (room != null) {
            NativeSockets.discardInput(streams.operations().syscalls(), socket.socket, room);
            room.release();
        }
    }

    // ------------------------------------------------------------------ moving

    boolean isMoving() {
        return move != null;
    }

    @Nullable StreamMove move() {
        return move;
    }

    /// Suspends all callbacks, and calls of the user, until the connection arrives or closes.
    void beginMove(StreamMove started, Throwable barrierReason) {
        move = started;
        stream.confineTo(null);
        input.rejectBarrier(barrierReason);
        deliverySuspended = true;
        timeouts.suspend();
        updateReading();
        streams.operations().beforeFlush(started::stop); // After the output of this tick.
    }

    /// Whether TLS prevents a move: during the handshake, and while a failure is reported.
    boolean isTlsBusy() {
        return tlsEngine != null && (session() == null || tls().isDone());
    }

    boolean isIdle() {
        return output.isEmpty() && timeouts.isQuiet();
    }

    private TlsTransport tls() {
        return (TlsTransport) transport;
    }

    @Override
    public void onStopped() {
        if (move != null) {
            move.stopped();
        }
    }

    /// Copies all data out of the memory of the loop that the connection leaves.
    void detachMemory() {
        input.detachMemory();
        output.detachMemory();
        if (tlsEngine != null) {
            tls().input.detachMemory();
            tls().output.detachMemory();
        }
    }

    /// Leaves the loop. Only [#arrive] may follow.
    void leave() {
        if (acceptedBy != null) {
            boolean _ = acceptedBy.slot.movedAway.add(this);
        }
        lifecycle.leave();
        socket.detach();
        streams.left(this);
        inTransit(); // Last: from here the target decides.
    }

    /// Continues on a loop that the connection has moved to. Called on that loop.
    void arrive(Streams to) {
        SocketTransport before = socket;
        streams = to;
        to.arrived(this);
        socket = new SocketTransport(to, before.socket, before);
        if (tlsEngine == null) {
            transport = socket;
            socket.setHandler(this);
        } else {
            tls().attach(to, socket);
        }
        stream.confineTo(to);
        loop = to.loop();
        boolean aborts = arrivedOn(to);
        if (acceptedBy != null) {
            acceptedBy = acceptedBy.slot.ofMoved(this, acceptedBy);
        }
        if (!output.attachMemory(to.operations())) {
            lifecycle.close(CloseReason.MEMORY_LIMIT, to.bufferMemoryExhausted());
        } else if (aborts) {
            lifecycle.close(CloseReason.ABORTED, null);
        } else {
            input.attachMemory();
        }
    }

    /// Ends the move. If `moved` starts another move, callbacks stay suspended.
    void endMove(Runnable moved) {
        move = null;
        moved.run();
        if (isOpenOrDraining() && move == null) {
            deliverySuspended = false;
            timeouts.resume();
            output.resumeAfterMove();
            input.resumeDelivery();
        }
    }

    // ------------------------------------------------------------------ inspection

    boolean isTraced() {
        TraceRecorder.Filter filter = streams.trace.filter();
        return filter != null && filter.matches(id, peer, route);
    }

    /// Records an event if the connection is traced. The detail costs nothing otherwise.
    void trace(Kind kind, Object detail) {
        if (isTraced()) {
            streams.trace.record(id, kind, detail);
        }
    }

    void trace(Kind kind, long number, String unit) {
        if (isTraced()) {
            streams.trace.record(id, kind, number + unit);
        }
    }

    @SuppressWarnings("ReferenceEquality") // a store costs more than a wrong guess
    void setRoute(String pattern) {
        if (route != pattern) {
            route = pattern;
        }
    }

    @Override
    public String describe() {
        String activity = input.activity();
        return "connection %d %s%s"
                .formatted(id, describePeer(), activity.isEmpty() ? "" : ", " + activity);
    }

    String describePeer() {
        return (acceptedBy == null ? "to " : "from ") + SocketAddresses.format(peer);
    }

    @Override
    public String toString() {
        return "Stream[" + peer + ", " + lifecycle.state() + "]";
    }
}
