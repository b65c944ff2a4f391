package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Promise;
import dev.gyre.http.ErrorFormat;
import dev.gyre.http.EventStream;
import dev.gyre.http.ResponseStream;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/// The state of a response. Reused with its exchange, so handlers never hold it. They hold a
/// [ServerResponse], which checks the generation.
///
/// Its progress is part of the [ExchangeState].
///
/// Loop thread only.
final class ResponseState {
    final Exchange exchange;
    final ServerContext context;
    private ResponseHeadWriter head = new ResponseHeadWriter();

    // Loop thread only.
    private long bodyBytes;
    private final List<Runnable> onComplete = new ArrayList<>();
    private @Nullable PendingBody rest;
    private @Nullable GzipEncoding encoding;
    private boolean byFile; // A file provides the body, independent of the handler.
    private boolean endsWithConnection;

    ResponseState(Exchange exchange) {
        this.exchange = exchange;
        context = exchange.context;
    }

    /// Resets everything for the next request.
    void reset() {
        onComplete.clear();
        head.reset();
        clear();
    }

    /// Discards everything except completion callbacks and the headers that middleware set before
    /// the handler ran.
    void restart() {
        head.restart();
        clear();
    }

    private void clear() {
        bodyBytes = 0;
        rest = null;
        byFile = false;
        encoding = null;
        endsWithConnection = false;
    }

    /// Makes the headers set so far survive an error response. Called just before the handler runs.
    void markMiddlewareHeaders() {
        head.markMiddlewareHeaders();
    }

    /// @throws IllegalStateException if the response was sent, or its exchange has ended for
    ///     another reason than a lost connection
    private void requireOpen() {
        if (exchange.isLost()) {
            return;
        }
        HttpConnection connection = exchange.connection();
        if (!connection.state().isUncommitted()) {
            throw new IllegalStateException(
                    "the response is already sent, with status " + head.status());
        }
    }

    /// Returns a copy of the head, for the thread of a blocking handler.
    ResponseHeadWriter copyHead() {
        return head.copy();
    }

    /// Replaces the head by the one that a blocking handler has set.
    ///
    /// @return whether the handler may respond: no error is sent instead, and the client is there
    boolean adopt(ResponseHeadWriter handlers) {
        boolean open = exchange.state() == ExchangeState.HANDLING;
        if (open) {
            head = handlers;
        }
        return open;
    }

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

    /// Sets a header that survives an error response.
    void setSticky(String name, String value) {
        requireOpen();
        head.setSticky(name, value);
    }

    boolean hasHeaders() {
        return head.hasHeaders();
    }

    /// Sets header lines that were formatted and checked before, at most 4 KiB.
    void prepare(byte[] lines) {
        requireOpen();
        head.prepare(lines);
    }

    /// Compresses the body if that saves enough.
    void encode(GzipEncoding encoding) {
        requireOpen();
        this.encoding = encoding;
    }

    /// Sends 503 in place of a body. Memory may be available later, and a truncated response could
    /// not tell the client.
    private Promise<?> sendNoMemory() {
        restart();
        head.status(503);
        head.add("Retry-After", "1");
        ErrorFormat.ErrorBody body =
                context.server.dispatcher.errorBody(
                        503,
                        "no memory for the response at present: retry later",
                        OutputBudget.ALWAYS_ACCEPTED_BYTES);
        head.add("Content-Type", body.contentType());
        return send(HeaderLines.OCTET_STREAM, null, body.bytes());
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
            return context.done;
        }
        requireOpen();
        String ascii =
                text != null
                                && text.length() <= HeaderLines.SHORT_BYTES
                                && encoding == null
                                && HeaderLines.isAscii(text)
                        ? text
                        : null; // Encoded into the buffer without a copy.
        byte[] content =
                text == null ? bytes : ascii == null ? text.getBytes(UTF_8) : HeaderLines.EMPTY;
        if (encoding != null && content.length > 0) {
            content = encoding.whole(exchange.head, this, head.typeOf(type), content);
        }
        int length = ascii == null ? content.length : ascii.length();
        HeaderLines.requireAtOnce(length);
        HttpConnection connection = exchange.connection();
        boolean fits =
                ascii == null
                        ? context.outputBudget.fits(content, connection.stream())
                        : context.outputBudget.fits(length, connection.stream());
        if (!fits && hasBody()) {
            return sendNoMemory();
        }
        Buffer out = putHead(type, length);
        boolean whole = true; // Written to the stream, or about to be.
        if (!hasBody()) {
            length = 0;
        } else if (ascii != null) {
            out.put(ascii);
        } else if (length <= HeaderLines.SHORT_BYTES) {
            context.out(connection, length).put(content);
        } else if (length <= LargeBodyWriter.MIN_BYTES) {
            context.flush();
            connection.output.write(ByteBuffer.wrap(content));
            whole = !exchange.isConnectionLost();
        } else {
            connection.enter(ExchangeState.RESPONDING);
            context.flush();
            LargeBodyWriter made = new LargeBodyWriter(this, connection, content);
            rest = made;
            length = 0; // Counts itself.
            whole = made.write();
        }
        bodyBytes += length;
        if (whole) {
            complete();
        }
        return context.done;
    }

    /// Sends a whole response with the readable bytes of a buffer, and consumes them. They are not
    /// copied to the heap, unless the body is encoded or large. A large body waits there.
    Promise<?> send(byte[] type, Buffer body) {
        int length = body.readable();
        if (exchange.isLost() || encoding != null || length > LargeBodyWriter.MIN_BYTES) {
            return send(type, null, body.getBytes());
        }
        requireOpen();
        HttpConnection connection = exchange.connection();
        if (!context.outputBudget.fits(length, connection.stream())) {
            return send(type, null, body.getBytes());
        }
        Buffer _ = putHead(type, length);
        boolean whole = true;
        if (!hasBody()) {
            body.skip(length);
            length = 0;
        } else if (length <= HeaderLines.SHORT_BYTES) {
            context.out(connection, length).put(body);
        } else {
            context.flush();
            connection.output.write(body);
            whole = !exchange.isConnectionLost();
        }
        bodyBytes += length;
        if (whole) {
            complete();
        }
        return context.done;
    }

    /// Returns whether the handler has provided the whole response, of which a part may be pending.
    boolean isWhole() {
        return isComplete() || byFile || rest instanceof LargeBodyWriter;
    }

    ServerResponseStream begin(byte[] type) {
        if (exchange.isLost()) {
            return ServerResponseStream.closed(this, exchange.readerConnection());
        }
        requireOpen();
        long length = head.length();
        GzipEncoding.Filter filter = null;
        if (encoding != null && length < 0) {
            filter = encoding.streamed(exchange.head, this, head.typeOf(type));
        }
        boolean chunked = length < 0 && !exchange.head.isHttp10();
        endsWithConnection = length < 0 && !chunked;
        head.closeIf(endsWithConnection);
        HttpConnection connection = exchange.connection();
        Buffer _ = putHead(type, chunked ? -1 : length);
        if (!hasBody()) {
            if (filter != null) {
                filter.giveUp();
            }
            complete();
            return ServerResponseStream.closed(this, connection);
        }
        connection.enter(ExchangeState.RESPONDING);
        if (endsWithConnection) {
            connection.stream().resetUnlessEnded();
        }
        ServerResponseStream made =
                new ServerResponseStream(this, connection, length, chunked, filter);
        rest = made;
        connection.flushUnlessServing();
        return made;
    }

    /// Returns whether the end of the connection delimits the body.
    boolean endsWithConnection() {
        return endsWithConnection;
    }

    /// Returns whether a streamed body is open.
    boolean isLeftOpen() {
        return exchange.state() == ExchangeState.RESPONDING
                && rest instanceof ServerResponseStream stream
                && stream.isWriting();
    }

    boolean isStreamed() {
        return rest instanceof ServerResponseStream;
    }

    /// Returns how many writes the streamed body had.
    int writes() {
        return rest instanceof ServerResponseStream stream ? stream.writes() : 0;
    }

    /// Returns whether a thread waits for the client to accept output.
    boolean isWaitingForRoom() {
        return rest instanceof ServerResponseStream stream && stream.isWaitingForRoom();
    }

    /// @param out returns the stream that events are written to
    EventStream events(Function<ServerResponseStream, ResponseStream> out) {
        header("Content-Type", "text/event-stream");
        header("Cache-Control", "no-store");
        String lastSeen = exchange.isLost() ? null : exchange.head.get("Last-Event-ID");
        ServerResponseStream stream = begin(HeaderLines.EMPTY);
        return new ServerEventStream(
                stream, out.apply(stream), context.loop, context.server.jsonMapper(), lastSeen);
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
        HttpConnection connection = exchange.connection();
        Buffer _ = putHead(type, length);
        connection.enter(ExchangeState.RESPONDING);
        byFile = true;
        bodyBytes = hasBody() ? length : 0;
        context.flush();
        return connection;
    }

    /// Sends the head of 101. Another protocol then owns the stream.
    HttpConnection beginUpgrade(String protocol) {
        requireOpen();
        HttpConnection connection = exchange.connection();
        head.putUpgrade(context.out(connection, head.bytes()), context.firstLines, protocol);
        connection.enter(ExchangeState.RESPONDING);
        context.flush();
        return connection;
    }

    /// Returns whether a body follows the head.
    boolean hasBody() {
        return Status.mayHaveBody(head.status()) && !exchange.head.method().equals("HEAD");
    }

    /// @param length of the body; -1 if unknown: chunked, or delimited by the end of the connection
    private Buffer putHead(byte[] type, long length) {
        HttpConnection connection = exchange.connection();
        Buffer out = context.out(connection, head.bytes() + HeaderLines.SHORT_BYTES);
        head.closeIf(connection.closesAfter(exchange));
        return head.put(
                out, context.firstLines, type, length, exchange.head.isHttp10(), !hasBody());
    }

    /// Called when everything is written to the stream, or about to be.
    void complete() {
        exchange.connection().responded(exchange, head.closes());
    }

    void addBodyBytes(long bytes) {
        bodyBytes += bytes;
    }

    /// Called when the connection is lost.
    void lost(ExchangeState before) {
        if (before.isInProgress()) {
            head.lost(before == ExchangeState.RESPONDING);
        }
        PendingBody known = rest;
        if (known != null) {
            known.lost();
        }
    }

    /// Called when the stream is writable again.
    void writable() {
        PendingBody known = rest;
        if (known != null && exchange.state() == ExchangeState.RESPONDING) {
            known.writable();
        }
    }

    boolean isCommitted() {
        return !exchange.state().isUncommitted();
    }

    boolean isComplete() {
        return !exchange.state().isInProgress();
    }

    void onComplete(Runnable callback) {
        if (isComplete() && onComplete.isEmpty()) {
            UserCallbacks.guarded(callback, exchange);
        } else {
            onComplete.add(callback);
        }
    }

    /// Records the exchange, and runs the completion callbacks, including those that they add.
    /// Called once, when the response is complete or lost.
    void ended() {
        exchange.events.end(exchange.connection);
        for (int i = 0; i < onComplete.size(); i++) {
            UserCallbacks.guarded(onComplete.get(i), exchange);
        }
        onComplete.clear();
    }

    boolean isTruncated() {
        return head.isTruncated();
    }

    long bodyBytes() {
        return bodyBytes;
    }
}
