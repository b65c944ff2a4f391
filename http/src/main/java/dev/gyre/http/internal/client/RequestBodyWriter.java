package dev.gyre.http.internal.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Promise;
import dev.gyre.http.ClientRequestStream;
import dev.gyre.http.ClientResponse;
import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// Writes a streamed request body. Each write is a chunk unless the length is known.
///
/// ```
///     no connection yet ── start ──▶ writes to the stream ── end ──▶ ended
///        └── writes are queued            └── the exchange ends: closed
/// ```
///
/// Loop thread only.
final class RequestBodyWriter implements ClientRequestStream {
    /// The length of a body of unknown length.
    static final long CHUNKED = -1;

    private static final byte[] LINE_END = {'\r', '\n'};
    private static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(ISO_8859_1);

    private final ClientExchange exchange;
    private final long length;
    private @Nullable Promise<ClientResponse> response;

    /// The bytes missing to the length.
    private long left;

    /// Written before the exchange had a connection.
    private final List<byte[]> queued = new ArrayList<>();

    private long queuedBytes;

    /// Null until the exchange has a connection.
    private @Nullable Stream out;

    private boolean open = true;
    private boolean ended;

    /// Whether a write returned false and `onWritable` has not been called since.
    private boolean blocked;

    private @Nullable Runnable onWritable;

    RequestBodyWriter(ClientExchange exchange, long length) {
        this.exchange = exchange;
        this.length = length;
        left = length;
    }

    void setResponse(Promise<ClientResponse> promise) {
        response = promise;
    }

    private boolean isChunked() {
        return length == CHUNKED;
    }

    /// Returns the header that delimits the body.
    String framing() {
        return isChunked()
                ? "Transfer-Encoding: chunked\r\n"
                : "Content-Length: " + length + "\r\n";
    }

    @Override
    public boolean write(String text) {
        return write(text.getBytes(UTF_8));
    }

    @Override
    public boolean write(Buffer data) {
        Stream to = out;
        int bytes = data.readable();
        if (!accepts(bytes)) {
            data.skip(bytes);
            return false;
        }
        if (to == null) {
            return enqueue(data.getBytes());
        }
        writeChunkSize(to, bytes);
        return noteRoom(endChunk(to, bytes, to.write(data)));
    }

    @Override
    public boolean write(byte[] data) {
        Stream to = out;
        if (!accepts(data.length)) {
            return false;
        }
        return to == null ? enqueue(data.clone()) : noteRoom(writeChunk(to, data));
    }

    /// Returns whether the body is open, and counts the bytes.
    private boolean accepts(int bytes) {
        exchange.requireConfined("ClientRequestStream.write");
        if (ended) {
            throw new IllegalStateException(
                    "the body of " + exchange + " was ended: write before end()");
        }
        if (!open) {
            return false;
        }
        if (!isChunked()) {
            if (bytes > left) {
                throw new IllegalStateException(
                        "the body of "
                                + exchange
                                + " exceeds the length passed to stream(length) by "
                                + (bytes - left)
                                + " bytes");
            }
            left -= bytes;
        }
        exchange.onBodyWritten();
        return true;
    }

    private boolean enqueue(byte[] data) {
        queued.add(data);
        queuedBytes += data.length;
        if (queuedBytes > exchange.outputLimit()) {
            exchange.abandon(
                    new IllegalStateException(
                            queuedBytes
                                    + " bytes were written to "
                                    + exchange
                                    + " before it had a connection: stop when write() returns"
                                    + " false, or raise StreamConfig.withOutputLimit, now "
                                    + exchange.outputLimit()));
        }
        return noteRoom(false);
    }

    private boolean noteRoom(boolean room) {
        blocked |= !room;
        return room;
    }

    private boolean writeChunk(Stream to, byte[] data) {
        writeChunkSize(to, data.length);
        return endChunk(to, data.length, to.write(data));
    }

    /// Writes nothing for an empty chunk, which would end the body.
    private void writeChunkSize(Stream to, int bytes) {
        if (isChunked() && bytes > 0) {
            to.write((Integer.toHexString(bytes) + "\r\n").getBytes(ISO_8859_1));
        }
    }

    private boolean endChunk(Stream to, int bytes, boolean room) {
        return (isChunked() && bytes > 0) ? to.write(LINE_END) : room;
    }

    /// Writes the queued data after the head.
    void start(Stream to) {
        out = to;
        boolean room = true;
        for (byte[] each : queued) {
            room = writeChunk(to, each);
        }
        queued.clear();
        if (ended) {
            writeEnd(to);
        } else if (room) {
            notifyWritable();
        }
    }

    void notifyWritable() {
        Runnable callback = onWritable;
        if (blocked && open && !ended) {
            blocked = false;
            if (callback != null) {
                callback.run();
            }
        }
    }

    @Override
    public ClientRequestStream onWritable(Runnable callback) {
        exchange.requireConfined("ClientRequestStream.onWritable");
        onWritable = callback;
        return this;
    }

    @Override
    public Promise<ClientResponse> end() {
        exchange.requireConfined("ClientRequestStream.end");
        if (ended || !open) {
            return response();
        }
        ended = true;
        if (left > 0) {
            exchange.abandon(
                    new IllegalStateException(
                            "the body of "
                                    + exchange
                                    + " was ended "
                                    + left
                                    + " bytes before the length passed to stream(length)"));
            return response();
        }
        Stream to = out;
        if (to != null) {
            exchange.onBodyWritten();
            writeEnd(to);
        }
        return response();
    }

    private void writeEnd(Stream to) {
        if (isChunked()) {
            to.write(LAST_CHUNK);
        }
    }

    /// Discards further writes: the exchange has ended.
    void close() {
        open = false;
        queued.clear();
        out = null;
    }

    boolean isEnded() {
        return ended;
    }

    @Override
    public Promise<ClientResponse> response() {
        exchange.requireConfined("ClientRequestStream.response");
        Promise<ClientResponse> promise = response;
        assert promise != null : "set before the user has the stream";
        return promise;
    }

    @Override
    public boolean isOpen() {
        exchange.requireConfined("ClientRequestStream.isOpen");
        return open && !ended;
    }
}
