package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Promise;
import dev.gyre.http.EventStream;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// The state of a response. Reused with its exchange, so handlers never hold it. They hold a
/// [ServerResponse], which checks the generation.
///
/// ```
///     OPEN ──▶ BEGUN ──▶ COMPLETE        a stream of output, a file
///       └──────────────────▲             all at once
/// ```
///
/// Loop thread only. A blocking handler's thread may read the status and the headers.
final class ResponseState {
    private enum Stage {
        OPEN,
        BEGUN,
        COMPLETE
    }

    final Exchange exchange;
    final Workbench bench;
    private final AnswerHead head = new AnswerHead();

    // Loop thread only, unless a blocking handler owns it.
    private Stage stage = Stage.COMPLETE;
    private long contentBytes;
    private final List<Runnable> onDone = new ArrayList<>();
    private @Nullable Unfinished rest;
    private @Nullable Encoding encoding;

    /// Whether a file provides the body, independent of the handler.
    private boolean byFile;

    private boolean endsWithConnection;
    private boolean told;

    ResponseState(Exchange exchange) {
        this.exchange = exchange;
        bench = exchange.bench;
    }

    /// Resets everything for the next request.
    void reset() {
        onDone.clear();
        told = false;
        head.reset();
        begin();
    }

    /// Discards everything that was set, except sticky headers and completion callbacks.
    void begin() {
        stage = Stage.OPEN;
        contentBytes = 0;
        rest = null;
        byFile = false;
        encoding = null;
        endsWithConnection = false;
        head.begin();
    }

    /// @throws IllegalStateException if the response was sent, or its exchange has ended for another
    ///     reason than a lost connection
    private void requireOpen() {
        if (exchange.isLost()) {
            return;
        }
        HttpConnection _ = exchange.connection();
        if (stage != Stage.OPEN) {
            throw new IllegalStateException(
                    "the request is answered already, with " + head.status());
        }
    }

    boolean isElsewhere(String method) {
        return exchange.isElsewhere(method);
    }

    // ------------------------------------------------------------------ the head

    void status(int status) {
        requireOpen();
        head.status(status);
    }

    int status() {
        return head.status();
    }

    void header(String name, String value) {
        requireOpen();
        head.set(name, value);
    }

    void addHeader(String name, String value) {
        requireOpen();
        head.add(name, value);
    }

    @Nullable String header(String name) {
        return head.get(name);
    }

    /// Adds a header that stays when the handler fails and an error is sent.
    void addLasting(String name, String value) {
        requireOpen();
        head.addLasting(name, value);
    }

    /// Sets a header that stays when an error is sent.
    void setLasting(String name, String value) {
        requireOpen();
        head.setLasting(name, value);
    }

    boolean hasFields() {
        return head.hasFields();
    }

    /// Sets header lines that were formatted and checked before, at most 4 KiB.
    void prepare(byte[] lines) {
        requireOpen();
        head.prepare(lines);
    }

    // ------------------------------------------------------------------ whole responses

    /// Compresses the body if that saves enough.
    void encode(Encoding encoding) {
        requireOpen();
        this.encoding = encoding;
    }

    /// Sends a whole response, with text or with bytes.
    ///
    /// One method on purpose: it exceeds the JIT compiler's inlining limit (`FreqInlineSize`). Its
    /// callers stay small, so the compiler inlines the handler and removes the allocation of its
    /// handles. `PlaintextAllocationTest` fails otherwise.
    ///
    /// @param type the Content-Type line, unless one is set
    /// @param text sent as UTF-8; `null` if there are bytes
    Promise<?> send(byte[] type, @Nullable String text, byte[] bytes) {
        if (exchange.isLost()) {
            return bench.done;
        }
        requireOpen();
        String ascii =
                text != null
                                && text.length() <= Lines.SHORT_BYTES
                                && encoding == null
                                && Lines.isAscii(text)
                        ? text
                        : null; // Encoded into the buffer without a copy.
        byte[] content = text == null ? bytes : ascii == null ? text.getBytes(UTF_8) : Lines.NONE;
        if (encoding != null && content.length > 0) {
            content = encoding.whole(exchange.head, this, head.typeOf(type), content);
        }
        int length = ascii == null ? content.length : ascii.length();
        Lines.requireAtOnce(length);
        HttpConnection connection = exchange.connection();
        boolean fits =
                ascii == null
                        ? bench.memory.fits(content, connection.stream())
                        : bench.memory.fits(length, connection.stream());
        if (!fits && hasContent()) {
            // Memory may be available later. A truncated response could not tell the client.
            begin();
            head.status(503);
            head.add("Retry-After", "1");
            return send(Lines.TEXT, "there is no memory for the answer just now\n", Lines.NONE);
        }
        Buffer out = putHead(type, length);
        boolean whole = true; // Written to the stream, or about to be.
        if (!hasContent()) {
            length = 0;
        } else if (ascii != null) {
            out.put(ascii);
        } else if (length <= Lines.SHORT_BYTES) {
            bench.out(connection, length).put(content);
        } else if (length <= LongContent.LEAST_BYTES) {
            bench.flush();
            connection.out.write(ByteBuffer.wrap(content));
            whole = !exchange.isTornOff();
        } else {
            stage = Stage.BEGUN;
            bench.flush();
            LongContent made = new LongContent(this, connection, content);
            rest = made;
            length = 0; // Counts itself.
            whole = made.write();
        }
        contentBytes += length;
        if (whole) {
            complete();
        }
        return bench.done;
    }

    /// Whether the handler has provided the whole response. Some of it may still wait for the
    /// client.
    boolean isWhole() {
        return isComplete() || byFile || rest instanceof LongContent;
    }

    // ------------------------------------------------------------------ streamed responses

    ServerStream begin(byte[] type) {
        if (exchange.isLost()) {
            return ServerStream.closed(this, exchange.lostConnection());
        }
        requireOpen();
        long length = head.length();
        Encoding.Filter filter = null;
        if (encoding != null && length < 0) {
            filter = encoding.streamed(exchange.head, this, head.typeOf(type));
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
        if (endsWithConnection) {
            connection.stream().resetUnlessEnded();
        }
        ServerStream made = new ServerStream(this, connection, length, chunked, filter);
        rest = made;
        connection.flushUnlessServing();
        return made;
    }

    /// Whether the end of the connection delimits the body, so only a reset signals truncation.
    boolean endsWithConnection() {
        return endsWithConnection;
    }

    /// Whether a streamed body is open.
    boolean isLeftOpen() {
        return stage == Stage.BEGUN && rest instanceof ServerStream stream && stream.isOpen();
    }

    /// Whether its body is streamed.
    boolean isStreamed() {
        return rest instanceof ServerStream;
    }

    /// Returns how many writes the streamed body had.
    int writes() {
        return rest instanceof ServerStream stream ? stream.writes() : 0;
    }

    /// Whether a thread waits for the client to accept output.
    boolean isWaitingForRoom() {
        return rest instanceof ServerStream stream && stream.isWaitingForRoom();
    }

    EventStream events() {
        header("Content-Type", "text/event-stream");
        header("Cache-Control", "no-store");
        String lastSeen = exchange.isLost() ? null : exchange.head.get("Last-Event-ID");
        return new ServerEvents(begin(Lines.NONE), bench.loop, lastSeen);
    }

    /// Sends bytes without an encoding.
    ///
    /// @param type the Content-Type line, unless one is set
    Promise<?> sendAsIs(byte[] type, byte[] content) {
        encoding = null;
        return send(type, null, content);
    }

    /// Sends the head of a response whose body is a file of `length` bytes. [#complete()] ends it.
    HttpConnection beginWith(byte[] type, long length) {
        requireOpen();
        assert length >= 0 : "unknown length: " + length;
        Buffer _ = putHead(type, length);
        stage = Stage.BEGUN;
        byFile = true;
        contentBytes = hasContent() ? length : 0;
        bench.flush();
        return exchange.connection();
    }

    /// Sends the head of 101. Another protocol then owns the stream.
    HttpConnection beginUpgrade(String protocol) {
        requireOpen();
        HttpConnection connection = exchange.connection();
        head.putUpgrade(bench.out(connection, head.bytes()), bench.preamble, protocol);
        stage = Stage.BEGUN;
        bench.flush();
        return connection;
    }

    /// Called when another protocol owns the stream.
    void upgraded() {
        stage = Stage.COMPLETE;
        tellDone();
    }

    // ------------------------------------------------------------------ writing the response

    /// Whether a body follows the head.
    boolean hasContent() {
        return Status.mayHaveContent(head.status()) && !exchange.head.method().equals("HEAD");
    }

    /// @param length of the body; -1 if unknown: chunked, or delimited by the end of the connection
    private Buffer putHead(byte[] type, long length) {
        HttpConnection connection = exchange.connection();
        Buffer out = bench.out(connection, head.bytes() + Lines.SHORT_BYTES);
        head.closeIf(connection.closesAfter(exchange));
        return head.put(out, bench.preamble, type, length, exchange.head.isHttp10(), !hasContent());
    }

    /// Called when everything is written to the stream, or about to be.
    void complete() {
        stage = Stage.COMPLETE;
        HttpConnection connection = exchange.connection();
        connection.answered(exchange, head.closes());
    }

    void addContent(long bytes) {
        contentBytes += bytes;
    }

    /// Called when the connection is lost, in any state.
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

    // ------------------------------------------------------------------ completion

    /// Called when the stream is writable again.
    void writable() {
        Unfinished known = rest;
        if (known != null && stage == Stage.BEGUN) {
            known.writable();
        }
    }

    boolean isAnswered() {
        return stage != Stage.OPEN;
    }

    boolean isComplete() {
        return stage == Stage.COMPLETE;
    }

    void onDone(Runnable callback) {
        if (told || exchange.isLost()) {
            UserCallbacks.guarded(callback);
        } else {
            HttpConnection _ = exchange.connection();
            onDone.add(callback);
        }
    }

    /// Runs the completion callbacks, including those that they add.
    void tellDone() {
        for (int i = 0; i < onDone.size(); i++) {
            UserCallbacks.guarded(onDone.get(i));
        }
        onDone.clear();
        told = true;
    }

    boolean isCutOff() {
        return head.isCutOff();
    }

    long contentBytes() {
        return contentBytes;
    }
}
