package dev.gyre.http.internal.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Promise;
import dev.gyre.http.HttpAnswer;
import dev.gyre.http.RequestStream;
import dev.gyre.io.Buffer;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/// The content of a request bit by bit: each write is a chunk, or goes out as it is where the length was said.
///
/// ```
///     waits for a connection ── begin ──▶ goes to the stream ── end ──▶ ended
///        └── what is written is kept           └── the call is over: closed
/// ```
///
/// Loop thread only.
final class Upload implements RequestStream {
    private static final byte[] LINE_END = {'\r', '\n'};
    private static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(ISO_8859_1);

    private final ClientCall call;
    private final long length;
    private final boolean chunked;
    private @Nullable Promise<HttpAnswer> answer;

    /// How much is still to be written of the length; unused in chunks.
    private long left;

    /// What was written before there was a connection.
    private final List<byte[]> early = new ArrayList<>();

    private long earlyBytes;

    /// Where it goes; null as long as nobody carries it.
    private @Nullable Stream out;

    private boolean open = true;
    private boolean ended;

    /// Whether a writer waits to hear of room.
    private boolean saidNo;

    private @Nullable Runnable onWritable;

    /// @param length -1 for any
    Upload(ClientCall call, long length) {
        this.call = call;
        this.length = length;
        chunked = length < 0;
        left = length;
    }

    /// The call is under way.
    void answeredBy(Promise<HttpAnswer> promised) {
        answer = promised;
    }

    /// The field that says where it ends.
    String framing() {
        return chunked ? "Transfer-Encoding: chunked\r\n" : "Content-Length: " + length + "\r\n";
    }

    // ------------------------------------------------------------------ writing

    @Override
    public boolean write(String content) {
        return write(content.getBytes(UTF_8));
    }

    @Override
    public boolean write(Buffer content) {
        Stream to = out;
        int bytes = content.readable();
        if (!takes(bytes)) {
            content.skip(bytes);
            return false;
        }
        if (to == null) {
            return keep(content.getBytes());
        }
        beginChunk(to, bytes);
        boolean room = to.write(content);
        return heed(endChunk(to, bytes, room));
    }

    @Override
    public boolean write(byte[] content) {
        Stream to = out;
        if (!takes(content.length)) {
            return false;
        }
        return to == null ? keep(content.clone()) : heed(put(to, content));
    }

    /// Whether there is anybody to write so much to.
    private boolean takes(int bytes) {
        call.requireConfined("RequestStream.write");
        if (ended) {
            throw new IllegalStateException(
                    "the content of " + call + " was ended: write before end()");
        }
        if (!open) {
            return false;
        }
        if (!chunked) {
            if (bytes > left) {
                throw new IllegalStateException(
                        "the content of "
                                + call
                                + " was said to be shorter: this is "
                                + (bytes - left)
                                + " bytes more than stream(length) was told");
            }
            left -= bytes;
        }
        call.written();
        return true;
    }

    private boolean keep(byte[] content) {
        early.add(content);
        earlyBytes += content.length;
        if (earlyBytes > call.mostWaiting()) {
            call.giveUp(
                    new IllegalStateException(
                            earlyBytes
                                    + " bytes were written to "
                                    + call
                                    + " before there was a connection: stop when write() says no,"
                                    + " or raise StreamConfig.withOutputLimit, now "
                                    + call.mostWaiting()));
        }
        return heed(false);
    }

    private boolean heed(boolean room) {
        saidNo |= !room;
        return room;
    }

    private boolean put(Stream to, byte[] content) {
        beginChunk(to, content.length);
        boolean room = to.write(content);
        return endChunk(to, content.length, room);
    }

    /// An empty chunk would be the last one.
    private void beginChunk(Stream to, int bytes) {
        if (chunked && bytes > 0) {
            to.write((Integer.toHexString(bytes) + "\r\n").getBytes(ISO_8859_1));
        }
    }

    private boolean endChunk(Stream to, int bytes, boolean room) {
        return (chunked && bytes > 0) ? to.write(LINE_END) : room;
    }

    // ------------------------------------------------------------------ being carried

    /// The head was written to there: what was kept follows it.
    void begin(Stream to) {
        out = to;
        boolean room = true;
        for (byte[] each : early) {
            room = put(to, each);
        }
        early.clear();
        if (ended) {
            finish(to);
        } else if (room) {
            writable();
        }
    }

    /// There is room.
    void writable() {
        Runnable callback = onWritable;
        if (saidNo && open && !ended) {
            saidNo = false;
            if (callback != null) {
                callback.run();
            }
        }
    }

    @Override
    public RequestStream onWritable(Runnable callback) {
        call.requireConfined("RequestStream.onWritable");
        onWritable = callback;
        return this;
    }

    // ------------------------------------------------------------------ ending

    @Override
    public Promise<HttpAnswer> end() {
        call.requireConfined("RequestStream.end");
        if (ended || !open) {
            return answer();
        }
        ended = true;
        if (!chunked && left > 0) {
            call.giveUp(
                    new IllegalStateException(
                            "the content of "
                                    + call
                                    + " was ended "
                                    + left
                                    + " bytes before the length that stream(length) was told"));
            return answer();
        }
        Stream to = out;
        if (to != null) {
            call.written();
            finish(to);
        }
        return answer();
    }

    private void finish(Stream to) {
        if (chunked) {
            to.write(LAST_CHUNK);
        }
    }

    /// The call is over.
    void close() {
        open = false;
        early.clear();
        out = null;
    }

    /// Whether all of it was written.
    boolean isEnded() {
        return ended;
    }

    @Override
    public Promise<HttpAnswer> answer() {
        call.requireConfined("RequestStream.answer");
        Promise<HttpAnswer> promised = answer;
        assert promised != null : "nobody has it before it is under way";
        return promised;
    }

    @Override
    public boolean isOpen() {
        call.requireConfined("RequestStream.isOpen");
        return open && !ended;
    }
}
