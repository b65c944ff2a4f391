package dev.gyre.http.internal.body;

import dev.gyre.http.HttpException;
import dev.gyre.http.MultipartConfig;
import dev.gyre.io.Buffer;

import java.nio.ByteBuffer;
import java.util.Arrays;

/// Splits a multipart body (RFC 2046, RFC 7578) into parts, however its bytes are split.
///
/// ```
///     PREAMBLE ──delimiter──▶ LINE_END ──CRLF──▶ HEADERS ──empty line──▶ DATA
///                              │   ▲                                      │
///                              │   └──────────────delimiter───────────────┘
///                              └──"--"──▶ EPILOGUE
/// ```
///
/// It holds the headers of one part, and of the data nothing: a delimiter that is split between
/// buffers is known, so only its matched length is kept.
///
/// Loop thread only.
final class MultipartParser {
    /// Receives the parts.
    interface Handler {
        /// Called when the headers of a part have arrived.
        void partBegin(PartHead head);

        /// Returns how many bytes [#partData] accepts; zero to stop before the next byte. It
        /// accepts 74 more, the maximum of a delimiter.
        int room();

        /// Called for each piece of the part's data. Consumes all of it.
        void partData(Buffer data);

        /// Called when the part is complete.
        void partEnd();
    }

    private enum State {
        PREAMBLE,
        LINE_END,
        HEADERS,
        DATA,
        EPILOGUE
    }

    private static final int FIRST_HEAD_BYTES = 256;

    private final MultipartConfig config;
    private final Handler handler;

    /// CRLF, two hyphens and the boundary. CR occurs at its start only.
    private final byte[] delimiter;

    /// By Horspool: how far to move if a byte is aligned with the delimiter's last one.
    private final int[] shifts = new int[256];

    // Loop thread only.
    private State state = State.PREAMBLE;

    /// The length of the delimiter's prefix at the end of the bytes so far. A body starts as if
    /// after a line end.
    private int matched = 2;

    /// The last byte after a delimiter; 0 if none yet.
    private byte previous;

    private byte[] head = {};
    private int headLength;
    private int parts;

    MultipartParser(byte[] boundary, MultipartConfig config, Handler handler) {
        this.config = config;
        this.handler = handler;
        delimiter = new byte[boundary.length + 4];
        delimiter[0] = '\r';
        delimiter[1] = '\n';
        delimiter[2] = '-';
        delimiter[3] = '-';
        System.arraycopy(boundary, 0, delimiter, 4, boundary.length);
        Arrays.fill(shifts, delimiter.length);
        for (int i = 0; i < delimiter.length - 1; i++) {
            shifts[delimiter[i] & 0xff] = delimiter.length - 1 - i;
        }
    }

    /// Consumes the buffer, or stops early if the handler has no room.
    ///
    /// @throws HttpException 400 if the body is malformed, 413 if it exceeds a limit
    void parse(Buffer data) {
        while (data.readable() > 0 && (handler.room() > 0 || state == State.EPILOGUE)) {
            switch (state) {
                case PREAMBLE, DATA -> scan(data);
                case LINE_END -> lineEnd(data.get());
                case HEADERS -> header(data.get());
                case EPILOGUE -> data.skip(data.readable());
            }
        }
    }

    /// @throws HttpException 400 if the closing delimiter has not arrived
    void end() {
        if (state != State.EPILOGUE) {
            throw new HttpException(
                    400,
                    state == State.PREAMBLE
                            ? "the multipart body does not contain its boundary"
                            : "the multipart body ends before its closing boundary");
        }
    }

    // ------------------------------------------------------------------ data

    private void scan(Buffer data) {
        if (matched > 0) {
            resumeMatch(data);
            return;
        }
        ByteBuffer bytes = data.asReadable();
        int base = bytes.position();
        int length = bytes.remaining();
        int last = delimiter.length - 1;
        int at = 0;
        while (at + last < length) {
            byte end = bytes.get(base + at + last);
            if (end == delimiter[last] && matches(bytes, base + at, last) == last) {
                if (emit(data, at)) {
                    data.skip(delimiter.length);
                    delimited();
                }
                return;
            }
            at += shifts[end & 0xff];
        }
        // The rest is shorter than a delimiter, but may be its beginning.
        for (at = Math.min(at, length); at < length; at++) {
            if (matches(bytes, base + at, length - at) == length - at) {
                break;
            }
        }
        if (emit(data, at)) {
            matched = length - at;
            data.skip(matched);
        }
    }

    /// Returns how many of the first bytes equal those of the delimiter.
    private int matches(ByteBuffer bytes, int from, int count) {
        int i = 0;
        while (i < count && bytes.get(from + i) == delimiter[i]) {
            i++;
        }
        return i;
    }

    /// Compares with the rest of a delimiter whose beginning was in an earlier buffer.
    private void resumeMatch(Buffer data) {
        int count = Math.min(delimiter.length - matched, data.readable());
        for (int i = 0; i < count; i++) {
            if (data.peek(i) != delimiter[matched + i]) {
                int known = matched;
                matched = 0;
                if (state == State.DATA) {
                    handler.partData(Buffer.allocate(known).put(delimiter, 0, known));
                }
                return;
            }
        }
        data.skip(count);
        matched += count;
        if (matched == delimiter.length) {
            matched = 0;
            delimited();
        }
    }

    /// Returns false if the handler had no room for all bytes.
    private boolean emit(Buffer data, int bytes) {
        int accepted = state == State.DATA ? Math.min(bytes, handler.room()) : bytes;
        if (state == State.PREAMBLE) {
            data.skip(accepted);
        } else if (accepted > 0) {
            Buffer piece = data.slice(accepted);
            try {
                handler.partData(piece);
            } finally {
                piece.release();
            }
        }
        return accepted == bytes;
    }

    private void delimited() {
        if (state == State.DATA) {
            handler.partEnd();
        }
        state = State.LINE_END;
        previous = 0;
        headLength = 0;
    }

    // ------------------------------------------------------------------ between parts

    private void lineEnd(byte next) {
        if (previous == 0 && next == '-') {
            previous = next;
        } else if (previous == '-' && next == '-') {
            state = State.EPILOGUE;
        } else if ((previous == 0 || previous == ' ')
                && (next == ' ' || next == '\t')
                && ++headLength <= config.maxPartHeaderBytes()) {
            previous = ' ';
        } else if (previous != '-' && previous != '\r' && next == '\r') {
            previous = next;
        } else if (previous == '\r' && next == '\n') {
            beginHeaders();
        } else {
            throw new HttpException(400, "a multipart boundary is not followed by a line end");
        }
    }

    private void beginHeaders() {
        if (++parts > config.maxParts()) {
            throw new HttpException(
                    413, "the multipart body has more than " + config.maxParts() + " parts");
        }
        state = State.HEADERS;
        headLength = 0;
    }

    private void header(byte next) {
        if (headLength == config.maxPartHeaderBytes()) {
            throw new HttpException(
                    413,
                    "part %d: the headers have more than %d bytes"
                            .formatted(parts, config.maxPartHeaderBytes()));
        }
        if (headLength == head.length) {
            head = Arrays.copyOf(head, Math.max(FIRST_HEAD_BYTES, 2 * headLength));
        }
        head[headLength++] = next;
        if (next == '\n' && endsWithEmptyLine()) {
            PartHead parsed = PartHead.parse(head, headLength - 2, parts);
            state = State.DATA;
            handler.partBegin(parsed);
        }
    }

    private boolean endsWithEmptyLine() {
        int end = headLength;
        boolean lineEnd = end >= 2 && head[end - 2] == '\r';
        return lineEnd
                && (end == 2 || (end >= 4 && head[end - 3] == '\n' && head[end - 4] == '\r'));
    }
}
