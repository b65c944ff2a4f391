package dev.gyre.internal.net;

import dev.gyre.BlockingWork;
import dev.gyre.BoundedExecutor;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.base.Checks;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Descriptor;
import dev.gyre.io.OutputState;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamState;
import dev.gyre.io.Tls;
import dev.gyre.io.TlsSession;
import dev.gyre.metrics.TraceEvent.Kind;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// The public view of a [Connection]. Checks threads and arguments.
///
/// Loop thread only.
public final class LoopStream implements Stream {
    private final Connection connection;

    /// The loop whose thread may call; null while the stream moves to another loop.
    private @Nullable Streams confinedTo;

    private @Nullable SocketAddress local;
    @Nullable StreamProcessing processing; // Null until the first process().

    // The callbacks of onData and onEnd; null until set.
    private @Nullable Consumer<? super Buffer> onData;
    private @Nullable Runnable onEnd;

    LoopStream(Connection connection) {
        this.connection = connection;
        confinedTo = connection.streams;
    }

    void confineTo(@Nullable Streams streams) {
        confinedTo = streams;
    }

    private void requireConfined(String method) {
        Streams here = confinedTo;
        if (here == null) { // No cost: the JIT checks for null anyway.
            throw StreamMove.exception(connection, method);
        }
        here.requireConfined(method);
    }

    @Override
    public Stream onData(Consumer<? super Buffer> callback) {
        Objects.requireNonNull(callback, "callback");
        requireConfined("onData");
        onData = callback;
        return installCallbacks();
    }

    @Override
    public Stream onEnd(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        requireConfined("onEnd");
        onEnd = callback;
        return installCallbacks();
    }

    @Override
    public Stream onWritable(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        requireConfined("onWritable");
        connection.output.onWritable(callback);
        return this;
    }

    /// Starts reading once there is a callback for data.
    private Stream installCallbacks() {
        if (onData != null) {
            connection.input.setProtocol(new StreamCallbacks(onData, onEnd));
        }
        return this;
    }

    @Override
    public Buffer unread() {
        requireConfined("unread");
        return connection.input.unreadAtEnd();
    }

    private void clearCallbacks() {
        onData = null;
        onEnd = null;
        connection.output.onWritable(null);
    }

    @Override
    public Stream protocol(Protocol protocol) {
        Objects.requireNonNull(protocol, "protocol");
        requireConfined("protocol");
        connection.input.requireNoPendingRead();
        clearCallbacks();
        try {
            protocol.onOpen(this);
        } catch (RuntimeException | Error e) {
            connection.callbackFailed(e);
            throw e;
        }
        connection.input.replaceProtocol(protocol);
        return this;
    }

    @Override
    public Promise<Buffer> read() {
        return read(1);
    }

    @Override
    public Promise<Buffer> read(int atLeast) {
        requireConfined("read");
        return connection.input.read(atLeast);
    }

    @Override
    public Promise<@Nullable Void> inputDelivered() {
        requireConfined("inputDelivered");
        return connection.input.delivered();
    }

    @Override
    public void pause() {
        requireConfined("pause");
        StreamProcessing.leavePause(processing);
        connection.input.pause();
    }

    @Override
    public void resume() {
        requireConfined("resume");
        StreamProcessing.leavePause(processing);
        connection.input.resume();
    }

    @Override
    public <T extends @Nullable Object> Promise<T> process(
            BoundedExecutor executor, BlockingWork<? extends T> work) {
        Objects.requireNonNull(executor, "executor");
        Objects.requireNonNull(work, "work");
        requireConfined("process");
        if (processing == null) {
            processing = new StreamProcessing(connection);
        }
        return processing.start(executor, work);
    }

    @Override
    public boolean isPaused() {
        return connection.input.isPaused();
    }

    @Override
    public boolean write(Buffer data) {
        requireConfined("write");
        return connection.output.write((NativeBuffer) data);
    }

    @Override
    public boolean write(byte[] data) {
        requireConfined("write");
        return connection.output.write(data);
    }

    @Override
    public boolean write(ByteBuffer data) {
        requireConfined("write");
        return connection.output.write(data);
    }

    @Override
    public boolean write(String text) {
        return write(text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public boolean lend(Buffer data, Consumer<? super Buffer> returned) {
        Objects.requireNonNull(returned, "returned");
        requireConfined("lend");
        return connection.output.lend((NativeBuffer) data, returned);
    }

    @Override
    public Promise<Long> sendFile(Descriptor file, long offset, long bytes) {
        Objects.requireNonNull(file, "file");
        requireConfined("sendFile");
        if (offset < 0 || bytes < 0) {
            throw new IllegalArgumentException(
                    "offset and bytes must not be negative: " + offset + ", " + bytes);
        }
        return connection.output.send((OpenDescriptor) file, offset, bytes);
    }

    @Override
    public Promise<@Nullable Void> flushed() {
        requireConfined("flushed");
        return connection.output.flushed();
    }

    @Override
    public long pending() {
        // Closing drops the queue, so unsent bytes no longer count.
        return Math.max(0, connection.output.pending() - connection.partiallySent());
    }

    @Override
    public Promise<Long> pipe(Stream to) {
        Objects.requireNonNull(to, "to");
        requireConfined("pipe");
        ((LoopStream) to).requireConfined("pipe");
        clearCallbacks();
        return Pipeline.of(connection, ((LoopStream) to).connection);
    }

    @Override
    public void join(Stream other) {
        Objects.requireNonNull(other, "other");
        requireConfined("join");
        ((LoopStream) other).requireConfined("join");
        clearCallbacks();
        ((LoopStream) other).clearCallbacks();
        Pipeline.join(connection, ((LoopStream) other).connection);
    }

    @Override
    public void end() {
        requireConfined("end");
        if (connection.isOpen()) {
            connection.output.end();
        }
    }

    @Override
    public void close() {
        close(CloseReason.CLOSED);
    }

    @Override
    public void close(CloseReason cause) {
        requireCause(cause, CloseReason.CLOSED);
        requireConfined("close");
        connection.lifecycle.drain(cause);
    }

    @Override
    public void abort() {
        abort(CloseReason.ABORTED);
    }

    @Override
    public void abort(CloseReason cause) {
        requireCause(cause, CloseReason.ABORTED);
        requireConfined("abort");
        connection.lifecycle.abort(cause);
    }

    /// Rejects reasons that only the stream itself reports.
    private static void requireCause(CloseReason cause, CloseReason none) {
        if (cause != none && !cause.isTimeout()) {
            throw new IllegalArgumentException(
                    "the cause must be " + none + " or a timeout, but is " + cause);
        }
    }

    @Override
    public Stream resetUnlessEnded() {
        requireConfined("resetUnlessEnded");
        connection.output.requireEnd();
        return this;
    }

    @Override
    public Stream onClose(Consumer<? super CloseReason> callback) {
        Objects.requireNonNull(callback, "callback");
        requireConfined("onClose");
        connection.lifecycle.onClose(callback);
        return this;
    }

    @Override
    public boolean isOpen() {
        return connection.isOpen();
    }

    @Override
    public @Nullable CloseReason closeReason() {
        return connection.lifecycle.reason();
    }

    @Override
    public @Nullable Throwable failure() {
        return connection.lifecycle.failure();
    }

    @Override
    public Stream idleTimeout(Duration timeout) {
        requireConfined("idleTimeout");
        connection.timeouts.idle(timeout);
        return this;
    }

    @Override
    public Stream readTimeout(Duration timeout) {
        requireConfined("readTimeout");
        connection.timeouts.read(timeout);
        return this;
    }

    @Override
    public Stream writeTimeout(Duration timeout) {
        requireConfined("writeTimeout");
        connection.timeouts.write(timeout);
        return this;
    }

    @Override
    public Stream lingerAtMost(Duration timeout) {
        requireConfined("lingerAtMost");
        connection.timeouts.lingerAtMost(Checks.notNegative("linger", timeout));
        return this;
    }

    @Override
    public Promise<TlsSession> startTls(Tls tls) {
        Objects.requireNonNull(tls, "tls");
        requireConfined("secure");
        return Streams.startTls(connection, tls);
    }

    @Override
    public void moveTo(EventLoop target, Consumer<? super Stream> moved) {
        Objects.requireNonNull(target, "target");
        Objects.requireNonNull(moved, "moved");
        requireConfined("moveTo");
        StreamMove.start(connection, Loop.of(target), moved);
    }

    @Override
    public @Nullable TlsSession tls() {
        return connection.session();
    }

    @Override
    public EventLoop loop() {
        return connection.loop();
    }

    @Override
    public long id() {
        return connection.id;
    }

    @Override
    public boolean isTraced() {
        return connection.isTraced();
    }

    @Override
    public void trace(Supplier<String> detail) {
        Objects.requireNonNull(detail, "detail");
        requireConfined("trace");
        if (connection.isTraced()) {
            connection.trace(Kind.PROTOCOL, detail.get());
        }
    }

    @Override
    public void traceRoute(String pattern) {
        Objects.requireNonNull(pattern, "pattern");
        requireConfined("traceRoute");
        connection.setRoute(pattern);
    }

    @Override
    public SocketAddress peer() {
        return connection.peer;
    }

    @Override
    public SocketAddress localAddress() {
        SocketAddress known = local;
        if (known == null) {
            known = connection.socket.local();
            local = known;
        }
        return known;
    }

    @Override
    public StreamState state() {
        return connection.lifecycle.state();
    }

    @Override
    public OutputState outputState() {
        return connection.output.state();
    }

    @Override
    public long received() {
        return connection.input.received();
    }

    @Override
    public long sent() {
        return connection.output.sent() + connection.partiallySent();
    }

    @Override
    public String toString() {
        return connection.toString();
    }
}
