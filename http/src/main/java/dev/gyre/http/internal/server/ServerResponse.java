package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Promise;
import dev.gyre.http.EventStream;
import dev.gyre.http.Response;
import dev.gyre.http.ResponseStream;
import dev.gyre.http.internal.message.Percent;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// The answer of an exchange, as its handler gives it.
///
/// ```
///     OPEN ──▶ BEGUN ──▶ COMPLETE        a stream of output, a file
///       └──────────────────▲             all at once
/// ```
///
/// Called on another thread than the loop's, by a blocking handler, everything is carried out on the loop.
final class ServerResponse extends ResponseFields {
    private enum Stage {
        OPEN,
        BEGUN,
        COMPLETE
    }

    // Loop thread only, as far as a blocking handler does not have it.
    private Stage stage = Stage.COMPLETE;
    private long contentBytes;
    private final List<Runnable> onDone = new ArrayList<>();
    private @Nullable Unfinished rest;
    private @Nullable Encoding encoding;

    /// Whether a file gives the content, whatever becomes of the handler.
    private boolean byFile;

    private boolean endsWithConnection;
    private boolean told;

    ServerResponse(Exchange exchange) {
        super(exchange);
    }

    /// Forgets everything: another request begins.
    void reset() {
        onDone.clear();
        told = false;
        head.reset();
        begin();
    }

    /// Forgets everything that was set, but for what is to last, and not who waits for the end.
    void begin() {
        stage = Stage.OPEN;
        contentBytes = 0;
        rest = null;
        byFile = false;
        encoding = null;
        endsWithConnection = false;
        head.begin();
    }

    @Override
    void requireOpen() {
        if (exchange.isLost()) {
            return;
        }
        HttpConnection _ = exchange.connection();
        if (stage != Stage.OPEN) {
            throw new IllegalStateException(
                    "the request is answered already, with " + head.status());
        }
    }

    // ------------------------------------------------------------------ all at once

    /// Compresses the content if it turns out to be worth it.
    void encode(Encoding encoding) {
        requireOpen();
        this.encoding = encoding;
    }

    @Override
    public Promise<?> send() {
        return isElsewhere("Response.send") ? onLoop(this::send) : answer(Lines.NONE, Lines.NONE);
    }

    @Override
    public Promise<?> send(byte[] content) {
        return isElsewhere("Response.send")
                ? onLoop(() -> send(content))
                : answer(Lines.BYTES, content);
    }

    @Override
    public Promise<?> send(Buffer content) {
        return isElsewhere("Response.send")
                ? onLoop(() -> send(content))
                : answer(Lines.BYTES, content.getBytes());
    }

    @Override
    public Promise<?> text(String content) {
        return isElsewhere("Response.text")
                ? onLoop(() -> text(content))
                : answer(Lines.TEXT, content);
    }

    @Override
    public Promise<?> html(String content) {
        return isElsewhere("Response.html")
                ? onLoop(() -> html(content))
                : answer(Lines.HTML, content);
    }

    @Override
    public Promise<?> json(@Nullable Object value) {
        boolean elsewhere = isElsewhere("Response.json");
        String text = bench.server.toJson(value);
        return elsewhere ? onLoop(() -> answer(Lines.JSON, text)) : answer(Lines.JSON, text);
    }

    @Override
    public Promise<?> redirect(int status, String location) {
        Lines.requireRedirection(status);
        return status(status).header("Location", Percent.address(location)).send();
    }

    private Promise<?> answer(byte[] type, String content) {
        if (exchange.isLost()) {
            return bench.done;
        }
        int length = content.length();
        if (length > Lines.SHORT_BYTES || encoding != null || !Lines.isAscii(content)) {
            return answer(type, content.getBytes(UTF_8));
        }
        requireOpen();
        if (!bench.memory.fits(length, exchange.connection().stream()) && hasContent()) {
            return refuseForWantOfMemory();
        }
        Buffer out = putHead(type, length);
        if (hasContent()) {
            out.put(content);
            contentBytes = length;
        }
        complete();
        return bench.done;
    }

    private Promise<?> answer(byte[] type, byte[] plain) {
        if (exchange.isLost()) {
            return bench.done;
        }
        requireOpen();
        byte[] content = plain;
        if (encoding != null && plain.length > 0) {
            content = encoding.whole(exchange.request, this, head.typeOf(type), plain);
        }
        Lines.requireAtOnce(content.length);
        if (!bench.memory.fits(content, exchange.connection().stream()) && hasContent()) {
            return refuseForWantOfMemory();
        }
        Buffer _ = putHead(type, content.length);
        if (!hasContent() || putContent(content)) {
            complete();
        }
        return bench.done;
    }

    /// @return whether all of it is with the stream, or about to be
    private boolean putContent(byte[] content) {
        if (content.length > LongContent.LEAST_BYTES) {
            stage = Stage.BEGUN;
            bench.flush();
            LongContent made = new LongContent(this, exchange.connection(), content);
            rest = made;
            return made.write();
        }
        contentBytes = content.length;
        if (content.length <= Lines.SHORT_BYTES) {
            bench.out(exchange.connection(), content.length).put(content);
        } else {
            bench.flush();
            exchange.connection().out.write(ByteBuffer.wrap(content));
            return !exchange.isTornOff();
        }
        return true;
    }

    /// Whether all of the answer is given, though a part of it may still wait for the peer.
    boolean isWhole() {
        return isComplete() || byFile || rest instanceof LongContent;
    }

    /// Another time there may be more of it; begun and cut off, the peer would not even know that.
    private Promise<?> refuseForWantOfMemory() {
        begin();
        head.status(503);
        head.add("Retry-After", "1");
        return answer(Lines.TEXT, "there is no memory for the answer just now\n");
    }

    // ------------------------------------------------------------------ bit by bit

    @Override
    public ResponseStream stream() {
        return isElsewhere("Response.stream") ? onLoop(this::stream) : begin(Lines.BYTES);
    }

    private ServerStream begin(byte[] type) {
        if (exchange.isLost()) {
            return ServerStream.closed(this, exchange.lostConnection());
        }
        requireOpen();
        long length = head.length();
        Encoding.Filter filter = null;
        if (encoding != null && length < 0) {
            filter = encoding.streamed(exchange.request, this, head.typeOf(type));
        }
        boolean chunked = length < 0 && !exchange.head.isHttp10();
        endsWithConnection = length < 0 && !chunked;
        head.closeIf(endsWithConnection);
        HttpConnection connection = exchange.connection();
        Buffer _ = putHead(type, chunked ? -1 : length);
        if (!hasContent()) {
            if (filter != null) {
                filter.giveUp();
            }
            complete();
            return ServerStream.closed(this, connection);
        }
        stage = Stage.BEGUN;
        ServerStream made = new ServerStream(this, connection, length, chunked, filter);
        rest = made;
        connection.flushUnlessServing();
        return made;
    }

    /// Whether the end of the connection is that of the content, so that only a reset tells of one that is not whole.
    boolean endsWithConnection() {
        return endsWithConnection;
    }

    /// Whether content was begun bit by bit, and waits to be ended.
    boolean isLeftOpen() {
        return stage == Stage.BEGUN && rest instanceof ServerStream stream && stream.isOpen();
    }

    /// Whether its content is given bit by bit.
    boolean isStreamed() {
        return rest instanceof ServerStream;
    }

    /// How often something was written of content bit by bit.
    int writes() {
        return rest instanceof ServerStream stream ? stream.writes() : 0;
    }

    /// Whether a thread waits for the peer to take what was written.
    boolean isWaitingForRoom() {
        return rest instanceof ServerStream stream && stream.isWaitingForRoom();
    }

    @Override
    public EventStream events() {
        if (isElsewhere("Response.events")) {
            return onLoop(this::events);
        }
        type("text/event-stream").header("Cache-Control", "no-store");
        String lastSeen = exchange.isLost() ? null : exchange.head.get("Last-Event-ID");
        return new ServerEvents(begin(Lines.NONE), bench.loop, lastSeen);
    }

    @Override
    public Promise<?> file(Path file) {
        if (!isElsewhere("Response.file")) {
            return bench.server.answerFile(exchange, file);
        }
        CompletableFuture<Promise<?>> begun = new CompletableFuture<>();
        Promise<?> _ =
                onLoop(
                        () ->
                                bench.server
                                        .answerFile(exchange, file)
                                        .then(
                                                _ -> begun.complete(bench.done),
                                                begun::completeExceptionally));
        return bench.onLoop.await(begun, () -> true);
    }

    /// Answers with bytes that no encoding is for.
    ///
    /// @param type the line of it, unless one is set
    Promise<?> sendAsIs(byte[] type, byte[] content) {
        encoding = null;
        return answer(type, content);
    }

    /// Sends the head of an answer whose content is a file's, of so many bytes, and no longer its handler's work. [#complete()] ends it.
    HttpConnection beginWith(byte[] type, long length) {
        requireOpen();
        assert length >= 0 : "who sends it knows how long it is: " + length;
        Buffer _ = putHead(type, length);
        stage = Stage.BEGUN;
        byFile = true;
        contentBytes = hasContent() ? length : 0;
        bench.flush();
        return exchange.connection();
    }

    /// Sends the head of 101: from here on somebody else has the stream.
    HttpConnection beginUpgrade(String protocol) {
        requireOpen();
        HttpConnection connection = exchange.connection();
        head.putUpgrade(bench.out(connection, head.bytes()), bench.preamble, protocol);
        stage = Stage.BEGUN;
        bench.flush();
        return connection;
    }

    /// Somebody else has the stream now.
    void upgraded() {
        stage = Stage.COMPLETE;
        tellDone();
    }

    // ------------------------------------------------------------------ putting it together

    /// Whether content follows the head.
    boolean hasContent() {
        return Status.mayHaveContent(head.status()) && !exchange.head.method().equals("HEAD");
    }

    /// @param length of the content; -1 if that is not known, and it comes in chunks, or ends with the connection
    private Buffer putHead(byte[] type, long length) {
        HttpConnection connection = exchange.connection();
        Buffer out = bench.out(connection, head.bytes() + Lines.SHORT_BYTES);
        head.closeIf(connection.closesAfter(exchange));
        return head.put(out, bench.preamble, type, length, exchange.head.isHttp10(), !hasContent());
    }

    /// Everything is with the stream, or about to be.
    void complete() {
        stage = Stage.COMPLETE;
        HttpConnection connection = exchange.connection();
        connection.answered(exchange, head.closes());
    }

    void addContent(long bytes) {
        contentBytes += bytes;
    }

    /// The connection is gone, whatever stage this is at.
    void lost() {
        if (stage != Stage.COMPLETE) {
            head.lost(stage == Stage.BEGUN);
        }
        stage = Stage.COMPLETE;
        Unfinished known = rest;
        if (known != null) {
            known.lost();
        }
    }

    // ------------------------------------------------------------------ afterwards

    /// There is room again.
    void writable() {
        Unfinished known = rest;
        if (known != null && stage == Stage.BEGUN) {
            known.writable();
        }
    }

    @Override
    public boolean isAnswered() {
        boolean _ = isElsewhere("Response.isAnswered");
        return stage != Stage.OPEN;
    }

    boolean isComplete() {
        return stage == Stage.COMPLETE;
    }

    @Override
    public Response onDone(Runnable callback) {
        if (isElsewhere("Response.onDone")) {
            return onLoop(() -> onDone(callback));
        }
        if (told || exchange.isLost()) {
            UserCallbacks.guarded(callback);
            return this;
        }
        HttpConnection _ = exchange.connection();
        onDone.add(callback);
        return this;
    }

    /// Tells those who wait for the end, and those whom they add.
    void tellDone() {
        for (int i = 0; i < onDone.size(); i++) {
            UserCallbacks.guarded(onDone.get(i));
        }
        onDone.clear();
        told = true;
    }

    @Override
    public boolean isCutOff() {
        boolean _ = isElsewhere("Response.isCutOff");
        return head.isCutOff();
    }

    @Override
    public long contentBytes() {
        boolean _ = isElsewhere("Response.contentBytes");
        return contentBytes;
    }
}
