package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

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

    // Loop thread only.
    private @Nullable Consumer<? super String> onText;
    private @Nullable Consumer<? super Buffer> onBinary;
    private @Nullable Consumer<? super Buffer> onPing;
    private @Nullable Consumer<? super Buffer> onPong;
    private @Nullable Runnable onWritable;

    /// Who else has to know when it stops being open: the rooms it is in. Made when first wanted.
    private @Nullable List<Consumer<? super LoopSocket>> leaving;

    // How fast. Loop thread only.
    /// Whether the stream has said no, and not yet that there is room.
    private boolean congested;

    /// Whether the user was told so.
    private boolean saidNo;

    /// Whether reading has stopped for a reason of ours, or the user's.
    private boolean held;

    private boolean paused;
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
        onText = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public WebSocket onBinary(Consumer<? super Buffer> callback) {
        require("onBinary");
        onBinary = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public WebSocket onPing(Consumer<? super Buffer> callback) {
        require("onPing");
        onPing = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public WebSocket onPong(Consumer<? super Buffer> callback) {
        require("onPong");
        onPong = Objects.requireNonNull(callback, "callback");
        return this;
    }

    @Override
    public void pause() {
        require("pause");
        if (isOpen()) { // Afterwards only the peer's close frame is waited for.
            paused = true;
            stream.pause();
        }
    }

    @Override
    public void resume() {
        require("resume");
        paused = false;
        listen();
    }

    /// Stops reading for a reason of ours.
    void hold() {
        held = true;
        stream.pause();
    }

    /// Takes [#hold()] back.
    void letGo() {
        held = false;
        listen();
    }

    private void listen() {
        if (!held && !paused) {
            stream.resume();
        }
    }

    /// A server does not go on with what would lead to more output, not even with what has arrived already: of a few
    /// compressed bytes a lot may come.
    void holdIfCongested() {
        if (server && congested && isOpen()) {
            hold();
        }
    }

    // ------------------------------------------------------------------ what arrived

    void deliver(boolean text, byte[] content, int length) {
        if (text) {
            deliverText(content, length);
        } else {
            hand(onBinary, content, length);
        }
    }

    private void deliverText(byte[] content, int length) {
        Consumer<? super String> told = onText;
        if (told != null) {
            try {
                told.accept(new String(content, 0, length, UTF_8));
            } catch (RuntimeException | Error e) {
                failed(e);
            }
        }
    }

    void deliverPing(byte[] content, int length) {
        if (congested) {
            unanswered = Arrays.copyOf(content, length);
        } else {
            control(FrameHeader.PONG, content, length);
        }
        hand(onPing, content, length);
    }

    void deliverPong(byte[] content, int length) {
        hand(onPong, content, length);
    }

    private void hand(@Nullable Consumer<? super Buffer> told, byte[] content, int length) {
        if (told == null) {
            return;
        }
        Buffer buffer = Buffer.tryTake(loop(), Math.max(1, length));
        if (buffer == null) {
            closing.fail(CloseCode.TRY_LATER, "no memory for a message");
            return;
        }
        try {
            try {
                told.accept(buffer.put(content, 0, length));
            } finally {
                buffer.release();
            }
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    /// A callback threw: it costs this socket, and the loop hears of it. Thrown on from here it would cost the close frame too.
    void failed(Throwable thrown) {
        closing.fail(CloseCode.FAILED_HERE, "failed here");
        loop().microtask(
                        () -> {
                            if (thrown instanceof Error error) {
                                throw error;
                            }
                            throw (RuntimeException) thrown;
                        });
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
        if (!congested) {
            return true;
        }
        return switch (whenSlow) {
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
        onWritable = Objects.requireNonNull(callback, "callback");
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
        if (held) {
            letGo();
        }
        Runnable told = onWritable;
        boolean tells = saidNo && isOpen();
        saidNo = false;
        if (told != null && tells) {
            try {
                told.run();
            } catch (RuntimeException | Error e) {
                failed(e);
            }
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
        held = false;
        paused = false;
        if (stream.isOpen()) {
            stream.resume(); // The peer's close frame is wanted.
        }
        List<Consumer<? super LoopSocket>> told = leaving;
        leaving = null;
        if (told != null) {
            told.forEach(each -> each.accept(this));
        }
    }

    void closeTimedOut() {
        closing.timedOut();
    }

    // ------------------------------------------------------------------ for its protocol and its times

    Closing closing() {
        return closing;
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

    void silent() {
        closing.lost();
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
