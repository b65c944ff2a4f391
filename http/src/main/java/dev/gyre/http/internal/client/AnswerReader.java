package dev.gyre.http.internal.client;

import dev.gyre.http.Headers;
import dev.gyre.http.HttpAnswer;
import dev.gyre.http.internal.message.ChunkDecoder;
import dev.gyre.http.internal.message.NoHeaders;
import dev.gyre.http.internal.message.Refusal;
import dev.gyre.http.internal.message.ResponseHead;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.net.ProtocolException;

/// Reads one answer after the other off a connection.
///
/// ```
///     1xx ◀─▶ head ──▶ so many bytes ──▶ over
///              ├─────▶ chunks ──────────▶ over
///              ├─────▶ all until the end of the connection
///              └─────▶ over
/// ```
///
/// Loop thread only.
final class AnswerReader {
    /// Answers that announce the answer: one or two are common, and somebody has to end it.
    private static final int MOST_INTERIM = 32;

    private static final int SWITCHING_PROTOCOLS = 101;
    private static final int MOST_ARRAY = Integer.MAX_VALUE - 8;
    private static final byte[] NOTHING = {};

    private enum Place {
        HEAD,
        LENGTH,
        CHUNKS,
        UNTIL_CLOSE,
        OVER
    }

    private final ResponseHead head;
    private final int maxFields;
    private final int maxHead;
    private final long maxContent;
    private final Content content = new Content();
    private @Nullable ChunkDecoder chunks;

    private Place place = Place.OVER;
    private @Nullable ClientCall call;
    private int interim;
    private int status;
    private String reason = "";
    private Headers headers = NoHeaders.INSTANCE;
    private boolean keepsAlive;
    private long left;

    /// @param head may be everybody's: nothing is left in it
    AnswerReader(ResponseHead head, int maxHead, int maxFields, long maxContent) {
        this.head = head;
        this.maxHead = maxHead;
        this.maxFields = maxFields;
        this.maxContent = Math.min(maxContent, MOST_ARRAY);
    }

    /// Begins with the answer to a call.
    void begin(ClientCall asked) {
        call = asked;
        place = Place.HEAD;
        interim = 0;
        content.clear();
    }

    /// Takes what is there of it, as long as it is not paused.
    ///
    /// @return whether it is complete: what is left then is none of it
    /// @throws ProtocolException that says what is wrong with it
    boolean read(Buffer data) throws ProtocolException {
        while (place == Place.HEAD) {
            if (!readHead(data)) {
                return false;
            }
        }
        if (asked().isPaused() && place != Place.OVER) {
            return false; // By whoever was told of the head.
        }
        switch (place) {
            case LENGTH -> readLength(data);
            case CHUNKS -> readChunks(data);
            case UNTIL_CLOSE -> deliver(data, data.readable());
            case HEAD, OVER -> {}
        }
        return place == Place.OVER;
    }

    /// The connection has ended.
    ///
    /// @return whether the answer is complete by that
    boolean readEnd() {
        if (place == Place.UNTIL_CLOSE) {
            place = Place.OVER;
        }
        return place == Place.OVER;
    }

    // ------------------------------------------------------------------ head

    private boolean readHead(Buffer data) throws ProtocolException {
        ClientCall asked = asked();
        head.forMethod(asked.method());
        int bytes = head.parse(data);
        if (bytes < 0) {
            throw refused(head.refusal());
        }
        if (bytes == 0) {
            return false;
        }
        if (head.status() < 200) {
            skipInterim();
        } else {
            understand();
        }
        head.release();
        data.skip(bytes);
        if (place != Place.HEAD) {
            tellHead(asked);
        }
        return true;
    }

    /// Tells of the head, and only then whether all that follows it can be collected: it may not have to be.
    private void tellHead(ClientCall asked) throws ProtocolException {
        if (asked.isHeadWanted()) {
            asked.deliverHead(new HttpAnswer(status, reason, headers, NOTHING, NoHeaders.INSTANCE));
        }
        if (place == Place.LENGTH) {
            requireRoom(left);
        }
    }

    private void skipInterim() throws ProtocolException {
        if (head.status() == SWITCHING_PROTOCOLS) {
            head.release();
            throw new ProtocolException("the peer answered 101, and speaks something else now");
        }
        interim++;
        if (interim > MOST_INTERIM) {
            head.release();
            throw new ProtocolException(
                    "the peer sent more than "
                            + MOST_INTERIM
                            + " answers of 1xx before the answer");
        }
    }

    private void understand() {
        status = head.status();
        reason = head.reasonPhrase();
        headers = head.copy();
        keepsAlive = head.keepsAlive();
        left = head.contentLength();
        if (head.isChunked()) {
            place = Place.CHUNKS;
            decoder().reset();
        } else if (head.isUntilClose()) {
            place = Place.UNTIL_CLOSE;
        } else {
            place = left == 0 ? Place.OVER : Place.LENGTH;
        }
    }

    private ChunkDecoder decoder() {
        ChunkDecoder known = chunks;
        if (known == null) {
            known = new ChunkDecoder(maxFields, Math.max(2, maxHead));
            chunks = known;
        }
        return known;
    }

    // ------------------------------------------------------------------ content

    private void readLength(Buffer data) throws ProtocolException {
        int bytes = (int) Math.min(left, data.readable());
        left -= bytes;
        if (left == 0) {
            place = Place.OVER;
        }
        deliver(data, bytes);
    }

    private void readChunks(Buffer data) throws ProtocolException {
        ChunkDecoder decoder = decoder();
        int bytes = decoder.next(data);
        while (bytes > 0) {
            deliver(data, bytes);
            decoder.taken(bytes);
            if (asked().isPaused()) {
                return;
            }
            bytes = decoder.next(data);
        }
        if (bytes == ChunkDecoder.REFUSED) {
            throw refused(decoder.refusal());
        }
        if (bytes == ChunkDecoder.END) {
            place = Place.OVER;
        }
    }

    private void deliver(Buffer data, int bytes) throws ProtocolException {
        ClientCall asked = asked();
        if (asked.collects()) {
            requireRoom((long) content.size() + bytes);
            content.take(
                    data,
                    bytes,
                    place == Place.LENGTH ? content.size() + bytes + left : maxContent);
        } else if (bytes > 0) {
            Buffer part = data.slice(bytes);
            try {
                asked.deliver(part);
            } finally {
                part.release();
            }
        }
    }

    private void requireRoom(long bytes) throws ProtocolException {
        if (asked().collects() && bytes > maxContent) {
            throw refused(Refusal.CONTENT_TOO_LARGE);
        }
    }

    private ProtocolException refused(Refusal why) {
        return new ProtocolException(why + ": " + why.reason() + remedy(why));
    }

    private String remedy(Refusal why) {
        return switch (why) {
            case CONTENT_TOO_LARGE ->
                    ", "
                            + maxContent
                            + " bytes: raise HttpClientConfig.withMaxContent, or take it bit by bit"
                            + " with HttpCall.onData";
            case HEAD_TOO_LARGE, TOO_MANY_FIELDS, TRAILER_TOO_LARGE ->
                    ", "
                            + maxHead
                            + " bytes and "
                            + maxFields
                            + " fields: raise HttpClientConfig.withMaxHead";
            default -> "";
        };
    }

    // ------------------------------------------------------------------ what came

    private ClientCall asked() {
        ClientCall asked = call;
        if (asked == null) {
            throw new IllegalStateException("nobody has asked for anything");
        }
        return asked;
    }

    /// Whether the connection can be used on.
    boolean keepsAlive() {
        return keepsAlive;
    }

    /// The answer, when it is complete. Forgets it.
    HttpAnswer taken() {
        assert place == Place.OVER : "incomplete, in " + place;
        ChunkDecoder decoder = chunks;
        Headers trailers = decoder == null ? NoHeaders.INSTANCE : decoder.trailers();
        HttpAnswer answer = new HttpAnswer(status, reason, headers, content.taken(), trailers);
        call = null;
        headers = NoHeaders.INSTANCE;
        if (decoder != null) {
            decoder.reset();
        }
        return answer;
    }
}
