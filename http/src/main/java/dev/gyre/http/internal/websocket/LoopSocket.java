package dev.gyre.http.internal.websocket;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.Promise;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.WebSocketMessage;
import dev.gyre.http.WhenSlow;
import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/// A socket as its users see it: what they are told, what they send, and how fast.
///
/// Loop thread only.
public final class LoopSocket implements WebSocket {
    private static final byte[] NOTHING = {};

    private final Stream stream;
    private final boolean server;
    private final WhenSlow whenSlow;
    private final @Nullable String protocol;
    private final boolean compressed;
    private final String target;
    private final FrameWriter frames;
    private final SocketTimes times;
    private final Closing closing;
    private final Callbacks callbacks;
    private final Reading reading;
    private final SharedFrames shared = new SharedFrames();

    // Loop thread only.
    /// Who else has to know when it stops being open: the rooms it is in. Made when first wanted.
    private @Nullable List<Consumer<? super LoopSocket>> leaving;

    // How fast. Loop thread only.
    /// Whether the stream has said no, and not yet that there is room.
    private boolean congested;

    /// Whether the user was told so.
    private boolean saidNo;

    private long dropped;

    /// The ping that is answered when there is room: only the latest counts.
    private byte @Nullable [] unanswered;

    LoopSocket(
            Stream stream,
            Workbench bench,
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
        whenSlow = config.whenSlow();
        frames = new FrameWriter(stream, bench, !server, compressed);
        times = new SocketTimes(stream.loop(), config, this);
        closing = new Closing(stream, frames, times, server, this::leave);
        callbacks = new Callbacks(stream.loop(), bench, closing);
        reading = new Reading(stream);
    }

    /// Connects a client's.
    ///
    /// @see WebSocket#connect(EventLoop, URI, WebSocketConfig)
    public static Promise<WebSocket> connect(EventLoop loop, URI uri, WebSocketConfig config) {
        return Connecting.to(loop, uri, config);
    }

    private void require(String method) {
        EventLoop loop = stream.loop();
        if (!loop.isLoopThread()) {
            LoopState state = loop.state();
            if (state == LoopState.RUNNING || state == LoopState.SLEEPING) {
                throw new WrongThreadException(
                        method
                                + " on "
                                + Thread.currentThread()
                                + ": it belongs to the thread of the loop that runs, see"
                                + " EventLoop.submit");
            }
        }
    }

    // ------------------------------------------------------------------ receiving

    @Override
    public WebSocket onText(Consumer<? super String> callback) {
        require("onText");
        callbacks.onText(Objects.requireNonNull(callback, "callback"));
        return this;
    }

    @Override
    public WebSocket onBinary(Consumer<? super Buffer> callback) {
        require("onBinary");
        callbacks.onBinary(Objects.requireNonNull(callback, "callback"));
        return this;
    }

    @Override
    public WebSocket onPing(Consumer<? super Buffer> callback) {
        require("onPing");
        callbacks.onPing(Objects.requireNonNull(callback, "callback"));
        return this;
    }

    @Override
    public WebSocket onPong(Consumer<? super Buffer> callback) {
        require("onPong");
        callbacks.onPong(Objects.requireNonNull(callback, "callback"));
        return this;
    }

    @Override
    public void pause() {
        require("pause");
        if (isOpen()) { // Afterwards only the peer's close frame is waited for.
            reading.pause();
        }
    }

    @Override
    public void resume() {
        require("resume");
        reading.resume();
    }

    /// A server does not go on with what would lead to more output, not even with what has arrived already: of a few
    /// compressed bytes a lot may come.
    void holdIfCongested() {
        if (server && congested && isOpen()) {
            reading.hold();
        }
    }

    // ------------------------------------------------------------------ what arrived

    /// It has been read; with text, it has been checked too.
    void deliver(boolean text, byte[] content, int length) {
        if (text) {
            callbacks.tellText(content, length);
        } else {
            callbacks.tellBinary(content, length);
        }
    }

    void deliverPing(byte[] content, int length) {
        if (congested) {
            unanswered = Arrays.copyOf(content, length);
        } else {
            control(FrameHeader.PONG, content, length);
        }
        callbacks.tellPing(content, length);
    }

    void deliverPong(byte[] content, int length) {
        callbacks.tellPong(content, length);
    }

    // ------------------------------------------------------------------ sending

    @Override
    public boolean send(String text) {
        Objects.requireNonNull(text, "text");
        require("send");
        return maySend() && answer(frames.text(text));
    }

    @Override
    public boolean send(Buffer content) {
        require("send");
        if (!maySend()) {
            content.skip(content.readable());
            return false;
        }
        return answer(frames.binary(content));
    }

    @Override
    public boolean send(byte[] content) {
        Objects.requireNonNull(content, "content");
        require("send");
        return maySend() && answer(frames.binary(content));
    }

    @Override
    public boolean send(WebSocketMessage message) {
        EncodedMessage encoded = (EncodedMessage) Objects.requireNonNull(message, "message");
        require("send");
        return maySend() && answer(frames.encoded(encoded));
    }

    @Override
    public boolean ping(byte... content) {
        require("ping");
        if (content.length > FrameHeader.MOST_OF_CONTROL) {
            throw new IllegalArgumentException(
                    "a ping carries at most "
                            + FrameHeader.MOST_OF_CONTROL
                            + " bytes, not "
                            + content.length);
        }
        return maySend() && answer(frames.control(FrameHeader.PING, content, content.length));
    }

    private boolean maySend() {
        if (!isOpen() || !frames.mayWrite()) {
            return false;
        }
        if (congested && !waits(whenSlow)) {
            return false;
        }
        note(shared.writeTo(frames, true)); // They came first.
        return true;
    }

    /// Sends a message that others are sent too, and that nobody holds back for one of them.
    ///
    /// @param mostWaiting above how many bytes that wait the policy counts; one message waits in any case
    /// @return as [WebSocket#send(WebSocketMessage)]
    public boolean sendAsOneOfMany(WebSocketMessage message, WhenSlow policy, long mostWaiting) {
        EncodedMessage encoded = (EncodedMessage) message;
        require("broadcast");
        if (!isOpen() || !frames.mayWrite()) {
            return false;
        }
        byte[] frame = frames.sharedFrame(encoded);
        int length = frame == null ? encoded.length() : frame.length;
        long waiting = stream.pending() + shared.bytes();
        if (waiting > 0 && waiting + length > mostWaiting && !waits(policy)) {
            return false;
        }
        if (frame == null || !congested) {
            return answer(frames.encoded(encoded));
        }
        shared.add(frame);
        saidNo = true;
        return false;
    }

    /// Does with a message what is done if the peer does not keep up.
    ///
    /// @return whether it is sent all the same
    private boolean waits(WhenSlow policy) {
        return switch (policy) {
            case WAIT -> true;
            case DROP -> {
                dropped++;
                saidNo = true;
                yield false;
            }
            case CLOSE -> {
                closing.fail(CloseCode.TRY_LATER, "does not keep up");
                yield false;
            }
        };
    }

    private void control(int opcode, byte[] content, int length) {
        if (frames.mayWrite()) {
            note(frames.control(opcode, content, length));
        }
    }

    private boolean answer(boolean more) {
        note(more);
        saidNo |= !more;
        return more;
    }

    private void note(boolean more) {
        congested |= !more;
    }

    @Override
    public WebSocket onWritable(Runnable callback) {
        require("onWritable");
        callbacks.onWritable(Objects.requireNonNull(callback, "callback"));
        return this;
    }

    /// There is room again.
    void writable() {
        congested = false;
        byte[] ping = unanswered;
        unanswered = null;
        if (ping != null && isOpen()) {
            control(FrameHeader.PONG, ping, ping.length);
        }
        if (frames.mayWrite()) {
            note(shared.writeTo(frames, false));
        }
        if (congested) {
            return; // It is full again.
        }
        reading.letGo();
        boolean tells = saidNo && isOpen();
        saidNo = false;
        if (tells) {
            callbacks.tellWritable();
        }
    }

    @Override
    public long dropped() {
        return dropped;
    }

    // ------------------------------------------------------------------ ending

    @Override
    public void close(int code, String reason) {
        Objects.requireNonNull(reason, "reason");
        require("close");
        if (isOpen() && frames.mayWrite()) {
            note(shared.writeTo(frames, true));
        }
        closing.begin(code, reason);
    }

    @Override
    public WebSocket onClose(Closed callback) {
        require("onClose");
        closing.onClose(Objects.requireNonNull(callback, "callback"));
        return this;
    }

    @Override
    public boolean isOpen() {
        return closing.isOpen();
    }

    /// Calls back when it stops being open, until [#forget].
    public void onLeave(Consumer<? super LoopSocket> told) {
        if (leaving == null) {
            leaving = new ArrayList<>(1);
        }
        leaving.add(told);
    }

    /// Takes [#onLeave] back.
    public void forget(Consumer<? super LoopSocket> told) {
        if (leaving != null) {
            leaving.remove(told);
        }
    }

    private void leave() {
        unanswered = null;
        shared.clear();
        reading.goOnForGood();
        List<Consumer<? super LoopSocket>> told = leaving;
        leaving = null;
        if (told != null) {
            told.forEach(each -> each.accept(this));
        }
    }

    // ------------------------------------------------------------------ for its protocol and its
    // times

    Closing closing() {
        return closing;
    }

    Callbacks callbacks() {
        return callbacks;
    }

    Reading reading() {
        return reading;
    }

    SocketTimes times() {
        return times;
    }

    /// Whether silence is the peer's doing.
    boolean expectsBytes() {
        return !congested && !stream.isPaused();
    }

    void pingForLife() {
        control(FrameHeader.PING, NOTHING, 0);
    }

    // ------------------------------------------------------------------ looking

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
    public SocketAddress peer() {
        return stream.peer();
    }

    @Override
    public EventLoop loop() {
        return stream.loop();
    }

    @Override
    public String toString() {
        return "WebSocket[" + target + ", " + peer() + (isOpen() ? ", open]" : ", closed]");
    }
}
