package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Promise;
import dev.gyre.http.ResponseStream;
import dev.gyre.http.internal.message.HeaderList;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// A streamed body. Each write is a chunk. It is sent as it is if the length was announced, or if
/// the end of the connection delimits the body.
///
/// Its methods throw once the handler has ended it and the exchange has ended. A stream that ends
/// for another reason, such as a lost connection, discards what is written.
///
/// Loop thread only. A blocking handler has a [BlockingResponseStream] in front of it.
final class ServerResponseStream implements ResponseStream, PendingBody {
    static final String ENDED = "the body has been ended";
    static final String NO_TRAILERS =
            "the response has a Content-Length, and trailers need chunks: do not set it";

    /// Longer writes are not copied into the shared buffer.
    private static final int SHORT_BYTES = 8 << 10;

    final ResponseState response;
    private final HttpConnection connection;
    private final ServerContext context;
    private final int generation;
    private final boolean chunked;
    private final boolean isLengthKnown;
    private final GzipEncoding.@Nullable Filter filter;
    private final HeaderList trailers = new HeaderList();

    /// Shared: written by the loop, read by the thread of a blocking handler.
    private volatile boolean open = true;

    // Loop thread only.

    /// How much may still be written; -1 for any amount.
    private long left;

    private boolean endedByHandler;

    /// Whether the handler has ended it before it was closed for another reason.
    private boolean endedOpen;

    private int writes;
    private @Nullable Runnable onWritable;
    private final List<Runnable> onClose = new ArrayList<>();
    private @Nullable CompletableFuture<Boolean> roomFor;

    ServerResponseStream(
            ResponseState response,
            HttpConnection connection,
            long length,
            boolean chunked,
            GzipEncoding.@Nullable Filter filter) {
        this.response = response;
        this.connection = connection;
        context = connection.context;
        generation = response.exchange.generation();
        left = length;
        isLengthKnown = length >= 0;
        this.chunked = chunked;
        this.filter = filter;
    }

    /// Returns a closed stream: the connection is lost, or the response has no body.
    static ServerResponseStream closed(ResponseState response, HttpConnection connection) {
        ServerResponseStream stream =
                new ServerResponseStream(response, connection, -1, false, null);
        stream.open = false;
        return stream;
    }

    HttpConnection connection() {
        return connection;
    }

    /// @param method the method that was called, for the message
    private void require(String method) {
        context.onLoop.requireLoopThread(method);
        if (endedByHandler && !response.exchange.isLive(generation)) {
            throw ServerRequest.ended();
        }
    }

    // ------------------------------------------------------------------ writing

    @Override
    public boolean write(Buffer content) {
        require("ResponseStream.write");
        return writeBody(content.getBytes());
    }

    @Override
    public boolean write(String content) {
        return write(content.getBytes(UTF_8));
    }

    @Override
    public boolean write(byte[] content) {
        require("ResponseStream.write");
        return writeBody(content);
    }

    boolean writeBody(byte[] content) {
        if (!open || isConnectionLost()) {
            return declines();
        }
        writes++;
        if (left >= 0) {
            requireWithin(left, content.length);
            left -= content.length;
        }
        return filter == null ? put(content) : put(filter.filter(content, content.length));
    }

    private boolean declines() {
        if (endedOpen) {
            throw new IllegalStateException(ENDED);
        }
        return false;
    }

    /// @throws IllegalStateException if more is written than was announced
    static void requireWithin(long left, int bytes) {
        if (bytes > left) {
            throw new IllegalStateException(
                    "the write exceeds the Content-Length of the response by "
                            + (bytes - left)
                            + " bytes");
        }
    }

    static IllegalStateException tooFew(long missing) {
        return new IllegalStateException(
                "the body was ended " + missing + " bytes before its Content-Length");
    }

    /// Returns whether a write has closed the connection. [#lost] was called then.
    private boolean isConnectionLost() {
        return response.exchange.isConnectionLost();
    }

    /// Sends bytes as they are to arrive.
    private boolean put(byte[] content) {
        // An empty chunk would be the last one.
        if (content.length == 0) {
            return connection.output.hasRoom();
        }
        response.addBodyBytes(content.length);
        boolean small = content.length <= SHORT_BYTES;
        Buffer out = context.out(connection, small ? content.length + 32 : 32);
        if (chunked) {
            HeaderLines.putHex(out, content.length);
            out.put((byte) '\r').put((byte) '\n');
        }
        if (small) {
            out.put(content);
        } else {
            context.flush();
            connection.output.write(ByteBuffer.wrap(content));
            out = context.out(connection, 32);
        }
        if (chunked) {
            out.put((byte) '\r').put((byte) '\n');
        }
        connection.flushUnlessServing();
        return !isConnectionLost() && connection.output.hasRoom();
    }

    /// How often something was written.
    int writes() {
        return writes;
    }

    @Override
    public void flush() {
        require("ResponseStream.flush");
        flushBody();
    }

    void flushBody() {
        if (open && filter != null) {
            boolean _ = put(filter.flush());
        }
    }

    // ------------------------------------------------------------------ ending

    @Override
    public ResponseStream trailer(String name, String value) {
        require("ResponseStream.trailer");
        if (open && isLengthKnown) {
            throw new IllegalStateException(NO_TRAILERS);
        }
        HeaderList.requireTrailerName(name);
        addTrailer(name, value);
        return this;
    }

    void addTrailer(String name, String value) {
        trailers.set(name, value);
    }

    @Override
    public Promise<?> end() {
        require("ResponseStream.end");
        endBody();
        return context.done;
    }

    /// Ends the body for the handler.
    void endBody() {
        endedByHandler = true;
        endedOpen |= open;
        finish();
    }

    /// Ends the body. Idempotent.
    void finish() {
        if (!open || isConnectionLost()) {
            return;
        }
        if (filter != null) {
            boolean _ = put(filter.end());
            if (!open) {
                return;
            }
        }
        if (left > 0) {
            long missing = left;
            endTruncated();
            throw tooFew(missing);
        }
        if (chunked) {
            Buffer out = context.out(connection, 32 + trailers.bytes());
            out.put((byte) '0').put((byte) '\r').put((byte) '\n');
            if (response.exchange.head.containsToken("TE", "trailers")) {
                trailers.put(out);
            }
            out.put((byte) '\r').put((byte) '\n');
        }
        context.flush(); // The flush may close the connection.
        if (isConnectionLost()) {
            return;
        }
        open = false;
        wakeWriters();
        response.complete();
        notifyClosed();
    }

    /// Ends the body before its announced length. The client waits for more: only a closed
    /// connection tells it that the body is truncated.
    void endTruncated() {
        if (open && !isConnectionLost()) {
            endedByHandler = true;
            endedOpen = true;
            open = false;
            wakeWriters();
            notifyClosed();
            connection.truncate(response.exchange);
        }
    }

    @Override
    public void lost() {
        boolean was = open;
        open = false;
        wakeWriters();
        if (was) {
            if (filter != null) {
                filter.giveUp();
            }
            notifyClosed();
        }
    }

    private void notifyClosed() {
        List<Runnable> told = List.copyOf(onClose);
        onClose.clear();
        told.forEach(callback -> UserCallbacks.guarded(callback, response.exchange));
    }

    /// Resumes threads that wait for room.
    private void wakeWriters() {
        CompletableFuture<Boolean> waiting = roomFor;
        if (waiting != null) {
            roomFor = null;
            response.exchange.recount();
            waiting.complete(true);
        }
    }

    // ------------------------------------------------------------------ pressure

    @Override
    public void writable() {
        wakeWriters();
        Runnable callback = onWritable;
        if (callback != null && open) {
            response.exchange.completion.runCallback(callback);
        }
    }

    /// Completes the future once the output has room, or the stream is closed.
    void whenWritable(CompletableFuture<Boolean> room) {
        if (open && !room.isDone() && !connection.output.hasRoom()) {
            roomFor = room;
            response.exchange.recount();
        } else {
            room.complete(true);
        }
    }

    boolean isWaitingForRoom() {
        return roomFor != null;
    }

    @Override
    public ResponseStream onWritable(Runnable callback) {
        require("ResponseStream.onWritable");
        writableCallback(callback);
        return this;
    }

    void writableCallback(Runnable callback) {
        onWritable = callback;
    }

    @Override
    public ResponseStream onClose(Runnable callback) {
        require("ResponseStream.onClose");
        if (open) {
            onClose.add(callback);
        } else {
            UserCallbacks.guarded(callback, response.exchange);
        }
        return this;
    }

    @Override
    public boolean isOpen() {
        require("ResponseStream.isOpen");
        return open;
    }

    /// Returns whether the body goes to the client. Any thread.
    boolean isWriting() {
        return open;
    }
}
