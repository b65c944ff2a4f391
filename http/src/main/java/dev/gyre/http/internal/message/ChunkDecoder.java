package dev.gyre.http.internal.message;

import dev.gyre.http.Headers;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

/// Decodes a chunked body incrementally.
///
/// ```
///          ┌───────────────────────────────┐
///          ▼                               │
///     size line ──▶ data ──▶ CRLF after it ┘
///          │ size 0
///          ▼
///      trailers ──▶ ended                     from each: rejected
/// ```
///
/// Lines stay unread until they are complete, so the state is small. Input may be cut anywhere.
///
/// ```java
/// for (int bytes; (bytes = decoder.next(data)) > 0; ) {
///     file.write(data, bytes);
///     decoder.taken(bytes);
/// }
/// ```
///
/// Extensions are checked and ignored. White space is accepted only where the grammar allows it,
/// around `;` and `=` (RFC 9112, 7.1.1), not before the size or the CRLF.
///
/// **Threads.** One at a time.
public final class ChunkDecoder {
    /// More input is needed.
    public static final int MORE = 0;

    /// The body has ended, and its trailers are consumed.
    public static final int END = -1;

    /// The body is invalid: see [#error()].
    public static final int REJECTED = -2;

    /// The maximum length of a size line, with its CRLF.
    static final int MAX_LINE_BYTES = 256;

    /// The maximum of all extensions of a body. Extensions of each byte would cost more than data.
    static final int MAX_EXTENSION_BYTES = 16 << 10;

    private static final int MAX_DIGITS = 15;

    private enum State {
        SIZE,
        DATA,
        DATA_END,
        TRAILERS,
        ENDED,
        REJECTED
    }

    private final int maxTrailers;
    private final int maxTrailerBytes;
    private final HeadBuffer line = new HeadBuffer(MAX_LINE_BYTES);

    // Loop thread only.
    private State state = State.SIZE;
    private long left;
    private int offered;
    private int extensionBytes;
    private Headers trailers = CopiedHeaders.NONE;
    private @Nullable ParseError error;

    /// @param maxTrailers the maximum of trailers
    /// @param maxTrailerBytes their maximum length, with the empty line
    public ChunkDecoder(int maxTrailers, int maxTrailerBytes) {
        if (maxTrailers < 1 || maxTrailerBytes < 2) {
            throw new IllegalArgumentException(
                    "limits must be at least one trailer and two bytes: "
                            + maxTrailers
                            + ", "
                            + maxTrailerBytes);
        }
        this.maxTrailers = maxTrailers;
        this.maxTrailerBytes = maxTrailerBytes;
    }

    /// Starts with another body.
    public void reset() {
        state = State.SIZE;
        left = 0;
        offered = 0;
        extensionBytes = 0;
        trailers = CopiedHeaders.NONE;
        error = null;
    }

    /// Consumes framing up to the next data.
    ///
    /// @return the number of data bytes that are readable now: consume some or all of them, and
    ///     report it by [#taken]; or [#MORE], [#END], [#REJECTED]
    public int next(Buffer data) {
        while (state != State.DATA && state != State.ENDED && state != State.REJECTED) {
            int bytes = parseFraming(data);
            if (bytes == 0) {
                return MORE;
            }
            if (bytes > 0) {
                data.skip(bytes);
            } else {
                state = State.REJECTED;
                error = ParseError.of(bytes);
            }
        }
        if (state == State.DATA) {
            offered = (int) Math.min(left, data.readable());
            return offered;
        }
        return state == State.ENDED ? END : REJECTED;
    }

    /// Reports how many of the data bytes of [#next] were consumed.
    ///
    /// @throws IllegalArgumentException if there were fewer
    public void taken(int bytes) {
        if (bytes < 0 || bytes > offered) {
            throw new IllegalArgumentException(
                    bytes + " bytes cannot be consumed: next() returned " + offered);
        }
        offered -= bytes;
        left -= bytes;
        if (left == 0 && state == State.DATA) {
            state = State.DATA_END;
        }
    }

    /// Returns the number of framing bytes to consume; 0 if more is needed; or an error code.
    private int parseFraming(Buffer data) {
        return switch (state) {
            case SIZE -> parseSize(data);
            case DATA_END -> parseDataEnd(data);
            case TRAILERS -> parseTrailers(data);
            case DATA, ENDED, REJECTED -> throw new AssertionError(state);
        };
    }

    private int parseSize(Buffer data) {
        line.open(data);
        int next = parseLine(line.bytes(), line.end());
        while (next == 0 && line.widen(data)) {
            next = parseLine(line.bytes(), line.end());
        }
        if (next > 0) {
            state = left == 0 ? State.TRAILERS : State.DATA;
        }
        return next == 0 && line.isFull() ? ParseError.CHUNK_LINE_TOO_LONG.code() : next;
    }

    /// @return the index after the line; 0; or an error code
    private int parseLine(byte[] data, int end) {
        int digits = ByteScan.firstNotIn(ByteScan.HEX, data, 0, end);
        if (digits > MAX_DIGITS) {
            return ParseError.CHUNK_TOO_LARGE.code();
        }
        if (digits == end) {
            return 0;
        }
        int at = digits == 0 ? 0 : ByteScan.skipSpace(data, digits, end);
        if (at == end) {
            return 0;
        }
        boolean ends = at == digits && (data[at] == ByteScan.CR || data[at] == ByteScan.LF);
        if (digits == 0 || !(ends || data[at] == ';')) {
            return ParseError.BAD_CHUNK_SIZE.code();
        }
        while (at < end && data[at] == ';') {
            at = skipExtension(data, at + 1, end);
            if (at <= 0) {
                return at;
            }
        }
        if (at == end) {
            return 0;
        }
        return switch (data[at]) {
            case ByteScan.CR -> endLine(data, digits, at, end);
            case ByteScan.LF -> ParseError.BARE_LF.code();
            default -> ParseError.BAD_CHUNK_EXTENSION.code();
        };
    }

    private int endLine(byte[] data, int digits, int cr, int end) {
        int next = ByteScan.lineEnd(data, cr, end);
        if (next <= 0) {
            return next;
        }
        extensionBytes += cr - digits;
        if (extensionBytes > MAX_EXTENSION_BYTES) {
            return ParseError.TOO_MANY_EXTENSIONS.code();
        }
        left = 0;
        for (int i = 0; i < digits; i++) {
            left = (left << 4) | Character.digit(data[i], 16);
        }
        return next;
    }

    /// @return the index of the byte after the extension; 0; or an error code
    private static int skipExtension(byte[] data, int from, int end) {
        int first = ByteScan.skipSpace(data, from, end);
        int name = ByteScan.firstNot(ByteScan.TOKEN, data, first, end);
        if (name == end) {
            return 0;
        }
        if (name == first) {
            return ParseError.BAD_CHUNK_EXTENSION.code();
        }
        int equals = ByteScan.skipSpace(data, name, end);
        if (equals == end) {
            return 0;
        }
        return data[equals] == '='
                ? skipValue(data, ByteScan.skipSpace(data, equals + 1, end), end)
                : skipSpaceBeforeExtension(data, name, end);
    }

    private static int skipValue(byte[] data, int at, int end) {
        if (at == end) {
            return 0;
        }
        int last =
                data[at] == '"'
                        ? skipQuoted(data, at + 1, end)
                        : ByteScan.firstNot(ByteScan.TOKEN, data, at, end);
        if (last == at) {
            return ParseError.BAD_CHUNK_EXTENSION.code();
        }
        return last <= 0 ? last : skipSpaceBeforeExtension(data, last, end);
    }

    /// Skips white space, which only another extension may follow.
    private static int skipSpaceBeforeExtension(byte[] data, int at, int end) {
        int next = ByteScan.skipSpace(data, at, end);
        if (next == end) {
            return 0;
        }
        return next == at || data[next] == ';' ? next : ParseError.BAD_CHUNK_EXTENSION.code();
    }

    private static int skipQuoted(byte[] data, int from, int end) {
        for (int at = from; at < end; at++) {
            int octet = data[at] & 0xff;
            if (octet == '"') {
                return at + 1 < end ? at + 1 : 0;
            }
            if (octet == '\\') {
                at++;
                if (at == end) {
                    return 0;
                }
                octet = data[at] & 0xff;
            }
            if ((octet < ' ' && octet != ByteScan.TAB) || octet == 0x7f) {
                return (octet == ByteScan.LF ? ParseError.BARE_LF : ParseError.BAD_CHUNK_EXTENSION)
                        .code();
            }
        }
        return 0;
    }

    private int parseDataEnd(Buffer data) {
        int readable = data.readable();
        if ((readable > 0 && data.peek(0) != ByteScan.CR)
                || (readable > 1 && data.peek(1) != ByteScan.LF)) {
            return ParseError.BAD_CHUNK_END.code();
        }
        if (readable < 2) {
            return 0;
        }
        state = State.SIZE;
        return 2;
    }

    private int parseTrailers(Buffer data) {
        int readable = data.readable();
        if (readable >= 2 && data.peek(0) == ByteScan.CR && data.peek(1) == ByteScan.LF) {
            state = State.ENDED; // The common case, without allocations.
            return 2;
        }
        HeadBuffer window = new HeadBuffer(maxTrailerBytes);
        ParsedHeaders parsed = new ParsedHeaders(maxTrailers);
        window.open(data);
        int next = parseTrailers(window, parsed);
        while (next == 0 && window.widen(data)) {
            next = parseTrailers(window, parsed);
        }
        if (next == 0 && window.isFull()) {
            return ParseError.TRAILER_TOO_LARGE.code();
        }
        if (next > 0) {
            trailers = parsed.copy();
            state = State.ENDED;
        }
        return next;
    }

    private static int parseTrailers(HeadBuffer window, ParsedHeaders parsed) {
        parsed.begin(window.bytes());
        Framing framing = new Framing(Framing.Section.TRAILER);
        return parsed.parseHeaders(window.bytes(), 0, window.end(), framing);
    }

    /// Returns why the body was rejected.
    ///
    /// @throws IllegalStateException if it was not
    public ParseError error() {
        return ParseError.require(error);
    }

    /// Returns a copy of the trailers; empty until [#END].
    public Headers trailers() {
        return trailers;
    }
}
