package dev.gyre.internal.net;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.io.NativeBuffer;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.tls.TlsEngine;
import dev.gyre.internal.tls.TlsSetup;
import dev.gyre.io.Buffer;
import dev.gyre.io.CloseReason;
import dev.gyre.io.Descriptor;
import dev.gyre.io.OutputState;
import dev.gyre.io.Protocol;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamState;
import dev.gyre.io.Tls;
import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/// A stream as its users see it: checks who calls and with what.
///
/// Loop thread only.
public final class LoopStream implements Stream {
    private final Connection connection;
    private @Nullable SocketAddress local;

    // The single callbacks, as far as they are set.
    private @Nullable Consumer<? super Buffer> onData;
    private @Nullable Runnable onEnd;

    /// The protocol of a stream that has single callbacks instead.
    private record Callbacks(Consumer<? super Buffer> data, @Nullable Runnable end)
            implements Protocol {
        @Override
        public void onData(Stream stream, Buffer arrived) {
            data.accept(arrived);
        }

        @Override
        public void onEnd(Stream stream) {
            if (end == null) {
                stream.end();
            } else {
                end.run();
            }
        }
    }

    LoopStream(Connection connection) {
        this.connection = connection;
    }

    private void require(String method) {
        connection.streams.requireConfined(method);
    }

    // ------------------------------------------------------------------ reading

    @Override
    public Stream onData(Consumer<? super Buffer> callback) {
        Objects.requireNonNull(callback, "callback");
        require("onData");
        onData = callback;
        return speak();
    }

    @Override
    public Stream onEnd(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        require("onEnd");
        onEnd = callback;
        return speak();
    }

    @Override
    public Stream onWritable(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        require("onWritable");
        connection.output.onRoom(callback);
        return this;
    }

    /// What has no callback for data does not read yet.
    private Stream speak() {
        if (onData != null) {
            connection.input.speak(new Callbacks(onData, onEnd));
        }
        return this;
    }

    @Override
    public Buffer unread() {
        require("unread");
        return connection.input.unreadAtEnd();
    }

    /// Somebody else is in charge now.
    private void forgetCallbacks() {
        onData = null;
        onEnd = null;
        connection.output.onRoom(null);
    }

    @Override
    public Stream protocol(Protocol protocol) {
        Objects.requireNonNull(protocol, "protocol");
        require("protocol");
        connection.input.requireNoReader();
        forgetCallbacks();
        try {
            protocol.onOpen(this);
        } catch (RuntimeException | Error e) {
            connection.failedIn(e);
            throw e;
        }
        connection.input.takeOver(protocol);
        return this;
    }

    @Override
    public Promise<Buffer> read() {
        return read(1);
    }

    @Override
    public Promise<Buffer> read(int atLeast) {
        require("read");
        return connection.input.read(atLeast);
    }

    @Override
    public Promise<@Nullable Void> caughtUp() {
        require("caughtUp");
        return connection.caughtUp();
    }

    @Override
    public void pause() {
        require("pause");
        connection.input.pause();
    }

    @Override
    public void resume() {
        require("resume");
        connection.input.resume();
    }

    @Override
    public boolean isPaused() {
        return connection.input.isPaused();
    }

    // ------------------------------------------------------------------ writing

    @Override
    public boolean write(Buffer data) {
        require("write");
        return connection.output.write((NativeBuffer) data);
    }

    @Override
    public boolean write(byte[] data) {
        require("write");
        return connection.output.write(data);
    }

    @Override
    public boolean write(ByteBuffer data) {
        require("write");
        return connection.output.write(data);
    }

    @Override
    public boolean write(String text) {
        return write(text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public boolean lend(Buffer data, Consumer<? super Buffer> returned) {
        Objects.requireNonNull(returned, "returned");
        require("lend");
        return connection.output.lend((NativeBuffer) data, returned);
    }

    @Override
    public Promise<Long> sendFile(Descriptor file, long offset, long bytes) {
        Objects.requireNonNull(file, "file");
        require("sendFile");
        if (offset < 0 || bytes < 0) {
            throw new IllegalArgumentException(
                    "neither offset nor length is negative: " + offset + ", " + bytes);
        }
        return connection.output.send((OpenDescriptor) file, offset, bytes);
    }

    @Override
    public Promise<@Nullable Void> flushed() {
        require("flushed");
        return connection.output.flushed();
    }

    @Override
    public long pending() {
        // When it is closed, what waited goes without having been sent.
        return Math.max(0, connection.output.pending() - connection.partlySent());
    }

    // ------------------------------------------------------------------ from one to another

    @Override
    public Promise<Long> pipe(Stream to) {
        Objects.requireNonNull(to, "to");
        require("pipe");
        forgetCallbacks();
        return Pipeline.of(connection, ((LoopStream) to).connection);
    }

    @Override
    public void join(Stream other) {
        Objects.requireNonNull(other, "other");
        require("join");
        forgetCallbacks();
        ((LoopStream) other).forgetCallbacks();
        Pipeline.join(connection, ((LoopStream) other).connection);
    }

    // ------------------------------------------------------------------ ending

    @Override
    public void end() {
        require("end");
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
        require("close");
        connection.lifecycle.drain(cause);
    }

    @Override
    public void abort() {
        abort(CloseReason.ABORTED);
    }

    @Override
    public void abort(CloseReason cause) {
        requireCause(cause, CloseReason.ABORTED);
        require("abort");
        connection.lifecycle.abort(cause);
    }

    /// Only the stream itself sets the other reasons.
    private static void requireCause(CloseReason cause, CloseReason none) {
        if (cause != none && !cause.isTimeout()) {
            throw new IllegalArgumentException(
                    "the cause is " + none + " or a timeout, not " + cause);
        }
    }

    @Override
    public Stream resetUnlessEnded() {
        require("resetUnlessEnded");
        connection.output.requireEnd();
        return this;
    }

    @Override
    public Stream onClose(Consumer<? super CloseReason> callback) {
        Objects.requireNonNull(callback, "callback");
        require("onClose");
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

    // ------------------------------------------------------------------ time

    @Override
    public Stream idleTimeout(Duration timeout) {
        require("idleTimeout");
        connection.times.idle(timeout);
        return this;
    }

    @Override
    public Stream readTimeout(Duration timeout) {
        require("readTimeout");
        connection.times.read(timeout);
        return this;
    }

    @Override
    public Stream writeTimeout(Duration timeout) {
        require("writeTimeout");
        connection.times.write(timeout);
        return this;
    }

    @Override
    public Stream lingerAtMost(Duration timeout) {
        require("lingerAtMost");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("no time is negative: " + timeout);
        }
        connection.times.lingerAtMost(timeout);
        return this;
    }

    // ------------------------------------------------------------------ TLS

    @Override
    public Promise<TlsSession> secure(Tls tls) {
        Objects.requireNonNull(tls, "tls");
        require("secure");
        if (connection.isSecured()) {
            throw new IllegalStateException("TLS has begun already on " + connection);
        }
        if (!connection.isOpen()) {
            return Promise.rejected(loop(), connection.closedException());
        }
        if (connection.output.isEnding()) {
            throw new IllegalStateException(
                    "TLS after end(): "
                            + connection
                            + " sends nothing any more, and a handshake must");
        }
        String host = null;
        int port = 0;
        if (connection.calledAs() instanceof InetSocketAddress to) {
            host = to.getHostString();
            port = to.getPort();
        }
        TlsEngine machine = TlsSetup.of(tls).machine(host, port, connection.streams.records());
        return connection.secure(machine, tls.handshakeTimeout());
    }

    @Override
    public @Nullable TlsSession tls() {
        return connection.session();
    }

    // ------------------------------------------------------------------ looking

    @Override
    public EventLoop loop() {
        return connection.loop();
    }

    @Override
    public SocketAddress peer() {
        return connection.peer;
    }

    @Override
    public SocketAddress local() {
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
    public OutputState output() {
        return connection.output.state();
    }

    @Override
    public long received() {
        return connection.input.received();
    }

    @Override
    public long sent() {
        return connection.output.sent() + connection.partlySent();
    }

    @Override
    public String toString() {
        return connection.toString();
    }
}
