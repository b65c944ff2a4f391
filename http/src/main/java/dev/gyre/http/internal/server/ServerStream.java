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

/// Content bit by bit: each write is a chunk, or goes out as it is where the length was said before, or the end of the
/// connection is that of the content.
///
/// Loop thread; on that of a blocking handler writes are carried out on the loop, and wait for room.
final class ServerStream implements ResponseStream, Unfinished {
    private static final int PIECE_BYTES = 8 << 10;

    private final ServerResponse response;
    private final HttpConnection connection;
    private final Workbench bench;
    private final boolean chunked;
    private final Encoding.@Nullable Filter filter;
    private final FieldList trailers = new FieldList();

    // Loop thread only.

    /// How much may still be written; -1 for any amount.
    private long left;

    private boolean open = true;
    private @Nullable Runnable onWritable;
    private final List<Runnable> onClose = new ArrayList<>();
    private @Nullable CompletableFuture<Boolean> roomFor;

    ServerStream(
            ServerResponse response,
            HttpConnection connection,
            long length,
            boolean chunked,
            Encoding.@Nullable Filter filter) {
        this.response = response;
        this.connection = connection;
        bench = connection.bench;
        left = length;
        this.chunked = chunked;
        this.filter = filter;
    }

    /// One that swallows what is written, as the connection is gone.
    static ServerStream toNobody(ServerResponse response, HttpConnection connection) {
        ServerStream stream = new ServerStream(response, connection, -1, false, null);
        stream.open = false;
        return stream;
    }

    // ------------------------------------------------------------------ writing

    @Override
    public boolean write(Buffer content) {
        return write(content.getBytes());
    }

    @Override
    public boolean write(String content) {
        return write(content.getBytes(UTF_8));
    }

    @Override
    public boolean write(byte[] content) {
        if (!response.isElsewhere()) {
            return writeOnLoop(content);
        }
        for (int at = 0; at < content.length || at == 0; at += PIECE_BYTES) {
            byte[] piece = piece(content, at);
            CompletableFuture<Boolean> room =
                    OnLoop.call(
                            bench.loop,
                            () -> {
                                CompletableFuture<Boolean> free = new CompletableFuture<>();
                                if (writeOnLoop(piece) || !open) {
                                    free.complete(true);
                                } else {
                                    roomFor = free;
                                }
                                return free;
                            });
            OnLoop.await(room);
        }
        return open;
    }

    private static byte[] piece(byte[] content, int at) {
        return content.length <= PIECE_BYTES
                ? content
                : Arrays.copyOfRange(content, at, Math.min(content.length, at + PIECE_BYTES));
    }

    private boolean writeOnLoop(byte[] content) {
        if (!open) {
            if (response.isComplete() && connection.stream().isOpen()) {
                throw new IllegalStateException("the content was ended");
            }
            return false;
        }
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

    /// Sends bytes as they are to arrive.
    private boolean put(byte[] content) {
        // An empty chunk would be the last one.
        if (content.length == 0 || !response.hasContent()) {
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
        return connection.out.hasRoom();
    }

    @Override
    public void flush() {
        if (response.isElsewhere()) {
            OnLoop.call(
                    bench.loop,
                    () -> {
                        flush();
                        return true;
                    });
        } else if (open && filter != null) {
            boolean _ = put(filter.flush());
        }
    }

    // ------------------------------------------------------------------ ending

    @Override
    public ResponseStream trailer(String name, String value) {
        if (!chunked) {
            throw new IllegalStateException("content that is not sent in chunks has no trailers");
        }
        TrailerNames.require(name);
        trailers.set(name, value);
        return this;
    }

    @Override
    public Promise<?> end() {
        if (response.isElsewhere()) {
            return OnLoop.call(bench.loop, this::end);
        }
        if (!open) {
            return bench.done;
        }
        if (filter != null) {
            boolean _ = put(filter.end());
        }
        open = false;
        if (left > 0 && response.hasContent()) {
            // The peer waits for more: only a cut tells it that this was not all.
            tellClosed();
            connection.cutOff(response.exchange);
            throw new IllegalStateException(
                    "a Content-Length was set, and " + left + " bytes of it were not written");
        }
        if (chunked && response.hasContent()) {
            Buffer out = bench.out(connection, 32 + trailers.bytes());
            out.put((byte) '0').put((byte) '\r').put((byte) '\n');
            if (response.exchange.head.lists("TE", "trailers")) {
                trailers.put(out);
            }
            out.put((byte) '\r').put((byte) '\n');
        }
        response.complete();
        tellClosed();
        return bench.done;
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
        List.copyOf(onClose).forEach(Exchange::guarded);
        onClose.clear();
    }

    /// Lets a thread go on that waits for room.
    private void letGo() {
        CompletableFuture<Boolean> waiting = roomFor;
        if (waiting != null) {
            roomFor = null;
            waiting.complete(true);
        }
    }

    // ------------------------------------------------------------------ pressure

    @Override
    public void writable() {
        letGo();
        Runnable callback = onWritable;
        if (callback != null && open) {
            callback.run();
        }
    }

    @Override
    public ResponseStream onWritable(Runnable callback) {
        onWritable = callback;
        return this;
    }

    @Override
    public ResponseStream onClose(Runnable callback) {
        onClose.add(callback);
        return this;
    }

    @Override
    public boolean isOpen() {
        return open;
    }
}
