package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.Promise;
import dev.gyre.http.SlowConsumerPolicy;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.WebSocketMessage;
import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// A socket as its users see it, with its flow control. [WebSocketProtocol] reads the frames.
///
/// Loop thread only.
public final class LoopWebSocket implements WebSocket {
    private static final byte[] EMPTY = {};

    private final Stream stream;
    private final boolean server;
    private final SlowConsumerPolicy policy;
    private final @Nullable String protocol;
    private final boolean compressed;
    private final String target;
    final FrameWriter frames;
    final MessageSender sender;
    final SocketTimeouts timeouts;
    final CloseHandshake closing;
    final SocketCallbacks callbacks;
    final SocketMove move;

    // Loop thread only. Called when the socket stops being open.
    final List<Consumer<? super LoopWebSocket>> leaveListeners = new ArrayList<>(0);

    // Loop thread only: output. Congested while the stream is not writable.
    private boolean congested;

    /// Whether `send` has returned false since the last [#onWritable] callback.
    private boolean returnedFalse;

    private long dropped;

    /// The last ping that was received while congested. Only this one is answered.
    private byte @Nullable [] unansweredPing;

    // Loop thread only: reasons not to read.
    private boolean pausedByUser;
    private boolean held;
    private boolean yielding;

    LoopWebSocket(
            Stream stream,
            WebSocketScratch scratch,
            WebSocketConfig config,
            boolean server,
            boolean compressed,
            @Nullable String protocol,
            String target) {
        this.stream = stream;
        this.server = server;
        this.compressed = compressed;
        this.protocol = protocol;
        this.target = target;
        policy = config.slowConsumerPolicy();
        frames = new FrameWriter(stream, scratch, !server);
        sender = new MessageSender(this, stream, scratch, frames, config, compressed);
        timeouts = new SocketTimeouts(stream, config, this);
        boolean hasWriteTimeout = server || !config.streams().writeTimeout().isZero();
        closing = new CloseHandshake(this, stream, frames, server, hasWriteTimeout);
        callbacks = new SocketCallbacks(stream.loop(), scratch, closing);
        move = new SocketMove(this, stream);
    }

    /// See [WebSocket#connect(EventLoop, URI, WebSocketConfig)].
    public static Promise<WebSocket> connect(EventLoop loop, URI uri, WebSocketConfig config) {
        return ClientUpgrade.connect(loop, uri, config);
    }

    private void requireLoopThread(String method) {
        requireLoopThread("WebSocket", method);
    }

    /// Throws unless this is the loop thread, or no thread runs the loop. Also throws while the
    /// socket moves.
    public void requireLoopThread(String type, String method) {
        EventLoop loop = stream.loop();
        if (!loop.isLoopThread()) {
            LoopState state = loop.state();
            if (state == LoopState.RUNNING || state == LoopState.SLEEPING) {
                throw new WrongThreadException(
                        "%s.%s was called on %s, not on the loop thread: use EventLoop.submit"
                                .formatted(type, method, Thread.currentThread()));
            }
        }
        move.requireDone(type, method);
    }

    @Override
    public void moveTo(EventLoop target, Consumer<? super WebSocket> moved) {
        requireLoopThread("moveTo");
        move.start(target, moved);
    }

    public void setMoveListener(SocketMove.Listener listener) {
        move.setListener(listener);
    }

    // ------------------------------------------------------------------ receiving

    @Override
    public WebSocket onText(Consumer<? super String> callback) {
        requireLoopThread("onText");
        callbacks.text = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public WebSocket onBinary(Consumer<? super Buffer> callback) {
        requireLoopThread("onBinary");
        callbacks.binary = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public WebSocket onPing(Consumer<? super Buffer> callback) {
        requireLoopThread("onPing");
        callbacks.ping = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public WebSocket onPong(Consumer<? super Buffer> callback) {
        requireLoopThread("onPong");
        callbacks.pong = Objects.requireNonNull(callback, "callback");
        return this;
    }

    /// Answers a ping. A closing socket delivers none.
    void deliverPing(byte[] payload, int length) {
        if (congested) {
            unansweredPing = Arrays.copyOf(payload, length);
        } else {
            control(FrameHeader.PONG, payload, length);
        }
        if (isOpen()) {
            callbacks.deliver(callbacks.ping, payload, length, null);
        }
    }

    @Override
    public void pause() {
        requireLoopThread("pause");
        if (isOpen()) { // A closing socket reads until the peer's close frame.
            pausedByUser = true;
            stream.pause();
        }
    }

    @Override
    public void resume() {
        requireLoopThread("resume");
        pausedByUser = false;
        updateReading();
    }

    /// Stops reading until [#unhold()].
    void hold() {
        held = true;
        stream.pause();
    }

    void unhold() {
        if (held) {
            held = false;
            updateReading();
        }
    }

    /// Stops a server from reading while its output is congested. That includes input that has
    /// arrived: a few compressed bytes may cause much output.
    void holdIfCongested() {
        if (server && congested && isOpen()) {
            hold();
        }
    }

    /// Stops reading for one tick, so that other sockets run.
    void yieldToOthers() {
        if (!yielding) {
            yielding = true;
            stream.pause();
            stream.loop()
                    .defer(
                            () -> {
                                yielding = false;
                                updateReading();
                            });
        }
    }

    void updateReading() {
        if (!held && !pausedByUser && !yielding && !move.isUnderWay() && stream.isOpen()) {
            stream.resume();
        }
    }

    // ------------------------------------------------------------------ sending

    @Override
    public boolean send(String text) {
        Objects.requireNonNull(text, "text");
        requireLoopThread("send");
        return canSend() && noteSent(sender.text(text));
    }

    @Override
    public boolean send(Buffer payload) {
        requireLoopThread("send");
        if (!canSend()) {
            payload.skip(payload.readable());
            return false;
        }
        return noteSent(sender.binary(payload));
    }

    @Override
    public boolean send(byte[] payload) {
        Objects.requireNonNull(payload, "payload");
        requireLoopThread("send");
        return canSend() && noteSent(sender.binary(ByteBuffer.wrap(payload)));
    }

    @Override
    public boolean send(WebSocketMessage message) {
        EncodedMessage encoded = (EncodedMessage) Objects.requireNonNull(message, "message");
        requireLoopThread("send");
        return canSend() && noteSent(sender.shared(encoded, sender.sharedFrame(encoded), false));
    }

    @Override
    public boolean ping(byte... payload) {
        requireLoopThread("ping");
        if (payload.length > FrameHeader.MAX_CONTROL_BYTES) {
            throw new IllegalArgumentException(
                    "a ping has at most %d bytes, not %d"
                            .formatted(FrameHeader.MAX_CONTROL_BYTES, payload.length));
        }
        return canSend() && noteSent(frames.control(FrameHeader.PING, payload, payload.length));
    }

    private boolean canSend() {
        return isOpen() && frames.canWrite() && (!congested || waits(policy));
    }

    /// Sends a message of a group. It waits without a copy if the stream is not writable.
    ///
    /// @param maxQueuedBytes the pending bytes above which the policy applies to another message
    /// @return as [WebSocket#send(WebSocketMessage)]
    public boolean sendInGroup(
            WebSocketMessage message, SlowConsumerPolicy policy, long maxQueuedBytes) {
        EncodedMessage encoded = (EncodedMessage) message;
        requireLoopThread("broadcast");
        if (!isOpen() || !frames.canWrite()) {
            return false;
        }
        byte[] frame = sender.sharedFrame(encoded);
        long pending = sender.pendingBytes();
        if (pending > 0 && pending + frame.length > maxQueuedBytes && !waits(policy)) {
            return false;
        }
        return noteSent(sender.shared(encoded, frame, congested));
    }

    /// Applies the policy of a group to messages that did not reach the socket's loop.
    void missedInGroup(long messages, SlowConsumerPolicy policy) {
        if (policy == SlowConsumerPolicy.DROP) {
            dropped += messages;
        } else {
            closing.fail(CloseHandshake.TRY_AGAIN_LATER, "the server is overloaded");
        }
    }

    /// Applies a policy to a message for a slow consumer.
    ///
    /// @return whether the message is sent
    private boolean waits(SlowConsumerPolicy policy) {
        return switch (policy) {
            case WAIT -> true;
            case DROP -> {
                dropped++;
                returnedFalse = true;
                yield false;
            }
            case CLOSE -> {
                closing.fail(CloseHandshake.TRY_AGAIN_LATER, "slow consumer");
                yield false;
            }
        };
    }

    private void control(int opcode, byte[] payload, int length) {
        if (frames.canWrite()) {
            congested |= !frames.control(opcode, payload, length);
        }
    }

    private boolean noteSent(boolean writable) {
        congested |= !writable;
        returnedFalse |= !writable;
        return writable;
    }

    @Override
    public WebSocket onWritable(Runnable callback) {
        requireLoopThread("onWritable");
        callbacks.writable = Objects.requireNonNull(callback, "callback");
        return this;
    }

    /// Continues when the stream is writable again.
    void streamWritable() {
        congested = false;
        byte[] ping = unansweredPing;
        unansweredPing = null;
        if (ping != null && closing.mayPong()) {
            control(FrameHeader.PONG, ping, ping.length);
        }
        if (!sender.drain()) {
            congested = true;
        }
        if (sender.isQueueEmpty()) {
            closing.sendWaiting();
        }
        if (congested) {
            return;
        }
        unhold();
        boolean notifies = returnedFalse && isOpen();
        returnedFalse = false;
        if (notifies) {
            callbacks.deliverWritable();
        }
    }

    @Override
    public long dropped() {
        return dropped;
    }

    // ------------------------------------------------------------------ closing

    @Override
    public void close(int code, String reason) {
        Objects.requireNonNull(reason, "reason");
        requireLoopThread("close");
        closing.begin(code, reason, !sender.isQueueEmpty());
    }

    @Override
    public WebSocket onClose(Closed callback) {
        requireLoopThread("onClose");
        closing.onClose(Objects.requireNonNull(callback, "callback"));
        return this;
    }

    @Override
    public boolean isOpen() {
        return closing.isOpen();
    }

    /// Adds a listener that is called when the socket stops being open.
    public void addLeaveListener(Consumer<? super LoopWebSocket> listener) {
        leaveListeners.add(listener);
    }

    public void removeLeaveListener(Consumer<? super LoopWebSocket> listener) {
        leaveListeners.remove(listener);
    }

    /// Called once, when the socket stops being open. From now on it reads until the peer's close
    /// frame.
    void leave() {
        held = false;
        pausedByUser = false;
        if (stream.isOpen()) {
            stream.resume();
        }
        leaveGroups();
    }

    void leaveGroups() {
        leaveListeners.forEach(each -> each.accept(this));
        leaveListeners.clear();
    }

    // ------------------------------------------------------------------ for the timeouts

    /// Returns whether the peer is responsible for the absence of input.
    boolean expectsInput() {
        return !congested && !stream.isPaused();
    }

    void sendKeepAlivePing() {
        control(FrameHeader.PING, EMPTY, 0);
    }

    // ------------------------------------------------------------------ state

    @Override
    public @Nullable String protocol() {
        return protocol;
    }

    @Override
    public boolean isCompressed() {
        return compressed;
    }

    @Override
    public String target() {
        return target;
    }

    @Override
    public SocketAddress remoteAddress() {
        return stream.peer();
    }

    @Override
    public EventLoop loop() {
        return stream.loop();
    }

    @Override
    public String toString() {
        String state = isOpen() ? "open" : "closed";
        return "WebSocket[%s, %s, %s]".formatted(target, remoteAddress(), state);
    }
}
