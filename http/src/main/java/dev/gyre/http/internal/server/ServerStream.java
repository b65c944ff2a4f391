package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Promise;
import dev.gyre.http.ResponseStream;
import dev.gyre.http.internal.message.FieldList;
import dev.gyre.http.internal.message.TrailerNames;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/// Content bit by bit: each write is a chunk, or goes out as it is where the length was said before, or the end of the
/// connection is that of the content.
///
/// Loop thread; on that of a blocking handler writes are carried out on the loop, and wait for room.
final class ServerStream implements ResponseStream, Unfinished {
    private static final int PIECE_BYTES = 8 << 10;

    private final ResponseState response;
    private final HttpConnection connection;
    private final Workbench bench;
    private final boolean chunked;
    private final boolean isLengthKnown;
    private final Encoding.@Nullable Filter filter;
    private final FieldList trailers = new FieldList();

    /// Shared: written by the loop, read by the thread of a blocking handler.
    private volatile boolean open = true;

    // Loop thread only.

    /// How much may still be written; -1 for any amount.
    private long left;

    private boolean endedByHandler;
    private int writes;
    private @Nullable Runnable onWritable;
    private final List<Runnable> onClose = new ArrayList<>();
    private @Nullable CompletableFuture<Boolean> roomFor;

    ServerStream(
            ResponseState response,
            HttpConnection connection,
            long length,
            boolean chunked,
            Encoding.@Nullable Filter filter) {
        this.response = response;
        this.connection = connection;
        bench = connection.bench;
        left = length;
        isLengthKnown = length >= 0;
        this.chunked = chunked;
        this.filter = filter;
    }

    /// One that takes nothing: the connection is gone, or no content follows the head.
    static ServerStream closed(ResponseState response, HttpConnection connection) {
        ServerStream stream = new ServerStream(response, connection, -1, false, null);
        stream.open = false;
        return stream;
    }

    HttpConnection connection() {
        return connection;
    }

    /// Has something done on the loop, wherever this is.
    private <T> T onLoop(String method, Supplier<T> work) {
        return response.isElsewhere(method) ? bench.onLoop.call(work) : work.get();
    }

    // ------------------------------------------------------------------ writing

    @Override
    public boolean write(Buffer content) {
        boolean elsewhere = response.isElsewhere("ResponseStream.write");
        byte[] bytes = content.getBytes();
        return elsewhere ? writeAndWait(bytes) : writeOnLoop(bytes);
    }

    @Override
    public boolean write(String content) {
        return write(content.getBytes(UTF_8));
    }

    @Override
    public boolean write(byte[] content) {
        return response.isElsewhere("ResponseStream.write")
                ? writeAndWait(content)
                : writeOnLoop(content);
    }

    /// Writes piece by piece, each when there is room. An interrupt because the peer has ended its side does not end the
    /// wait: the peer may take the rest, and has its time for that.
    private boolean writeAndWait(byte[] content) {
        if (!open) {
            return declines();
        }
        for (int at = 0; at < content.length || at == 0; at += PIECE_BYTES) {
            byte[] piece = piece(content, at);
            bench.onLoop.await(
                    bench.onLoop.call(() -> roomAfter(piece)),
                    () -> !open || response.exchange.isInterrupted());
            if (!open) {
                return false;
            }
        }
        return true;
    }

    private CompletableFuture<Boolean> roomAfter(byte[] piece) {
        if (writeOnLoop(piece) || !open) {
            return CompletableFuture.completedFuture(true);
        }
        CompletableFuture<Boolean> room = roomFor;
        if (room == null) {
            room = new CompletableFuture<>();
            roomFor = room;
            response.exchange.recount();
        }
        return room.copy();
    }

    boolean isWaitingForRoom() {
        return roomFor != null;
    }

    private static byte[] piece(byte[] content, int at) {
        return content.length <= PIECE_BYTES
                ? content
                : Arrays.copyOfRange(content, at, Math.min(content.length, at + PIECE_BYTES));
    }

    private boolean writeOnLoop(byte[] content) {
        if (!open || isTornOff()) {
            return declines();
        }
        writes++;
        if (left >= 0) {
            if (content.length > left) {
                throw new IllegalStateException(
                        "a Content-Length was set, and this is "
                                + (content.length - left)
                                + " bytes more than that");
            }
            left -= content.length;
        }
        return filter == null ? put(content) : put(filter.filter(content, content.length));
    }

    private boolean declines() {
        if (endedByHandler) {
            throw new IllegalStateException("the content was ended");
        }
        return false;
    }

    /// Whether the connection was closed by what was written: then this has been told that it is lost.
    private boolean isTornOff() {
        return response.exchange.isTornOff();
    }

    /// Sends bytes as they are to arrive.
    private boolean put(byte[] content) {
        // An empty chunk would be the last one.
        if (content.length == 0) {
            return connection.out.hasRoom();
        }
        response.addContent(content.length);
        boolean small = content.length <= PIECE_BYTES;
        Buffer out = bench.out(connection, small ? content.length + 32 : 32);
        if (chunked) {
            Numbers.putHex(out, content.length);
            out.put((byte) '\r').put((byte) '\n');
        }
        if (small) {
            out.put(content);
        } else {
            bench.flush();
            connection.out.write(ByteBuffer.wrap(content));
            out = bench.out(connection, 32);
        }
        if (chunked) {
            out.put((byte) '\r').put((byte) '\n');
        }
        connection.flushUnlessServing();
        return !isTornOff() && connection.out.hasRoom();
    }

    /// How often something was written.
    int writes() {
        return writes;
    }

    @Override
    public void flush() {
        boolean _ = response.isElsewhere("ResponseStream.flush");
        if (open) {
            onLoop("ResponseStream.flush", () -> open && filter != null && put(filter.flush()));
        }
    }

    // ------------------------------------------------------------------ ending

    @Override
    public ResponseStream trailer(String name, String value) {
        return onLoop(
                "ResponseStream.trailer",
                () -> {
                    if (open && isLengthKnown) {
                        throw new IllegalStateException(
                                "content that is not sent in chunks has no trailers");
                    }
                    TrailerNames.require(name);
                    trailers.set(name, value);
                    return this;
                });
    }

    @Override
    public Promise<?> end() {
        boolean _ = response.isElsewhere("ResponseStream.end");
        if (!open) {
            return bench.done;
        }
        return onLoop(
                "ResponseStream.end",
                () -> {
                    endedByHandler |= open;
                    finish();
                    return bench.done;
                });
    }

    /// Ends the content, unless it has ended.
    void finish() {
        if (!open || isTornOff()) {
            return;
        }
        if (filter != null) {
            boolean _ = put(filter.end());
            if (!open) {
                return;
            }
        }
        if (left > 0) {
            open = false;
            letGo();
            // The peer waits for more: only a cut tells it that this was not all.
            tellClosed();
            connection.cutOff(response.exchange);
            throw new IllegalStateException(
                    "a Content-Length was set, and " + left + " bytes of it were not written");
        }
        if (chunked) {
            Buffer out = bench.out(connection, 32 + trailers.bytes());
            out.put((byte) '0').put((byte) '\r').put((byte) '\n');
            if (response.exchange.head.lists("TE", "trailers")) {
                trailers.put(out);
            }
            out.put((byte) '\r').put((byte) '\n');
        }
        bench.flush(); // Only then it is known whether the connection bears it.
        if (isTornOff()) {
            return;
        }
        open = false;
        letGo();
        response.complete();
        tellClosed();
    }

    @Override
    public void lost() {
        boolean was = open;
        open = false;
        letGo();
        if (was) {
            if (filter != null) {
                filter.giveUp();
            }
            tellClosed();
        }
    }

    private void tellClosed() {
        List<Runnable> told = List.copyOf(onClose);
        onClose.clear();
        told.forEach(UserCallbacks::guarded);
    }

    /// Lets threads go on that wait for room.
    private void letGo() {
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
        letGo();
        Runnable callback = onWritable;
        if (callback != null && open) {
            response.exchange.outcome.goOn(callback);
        }
    }

    @Override
    public ResponseStream onWritable(Runnable callback) {
        return onLoop(
                "ResponseStream.onWritable",
                () -> {
                    onWritable = callback;
                    return this;
                });
    }

    @Override
    public ResponseStream onClose(Runnable callback) {
        return onLoop(
                "ResponseStream.onClose",
                () -> {
                    if (open) {
                        onClose.add(callback);
                    } else {
                        UserCallbacks.guarded(callback);
                    }
                    return this;
                });
    }

    @Override
    public boolean isOpen() {
        boolean _ = response.isElsewhere("ResponseStream.isOpen");
        return open;
    }
}
