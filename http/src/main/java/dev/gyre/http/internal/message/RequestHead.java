package dev.gyre.http.internal.message;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/// The head of a request. [#parse] examines the available bytes and returns whether it is complete.
///
/// The result depends on those bytes alone, not on the pieces in which they arrived: each call
/// starts anew. More bytes never change a complete or rejected head. Bytes beyond the limits are
/// never examined.
///
/// ```java
/// switch (head.parse(data)) {
///     case 0 -> {}                              // unread bytes are delivered again
///     case -1 -> reject(head.error());
///     default -> { handle(head); data.skip(head.length()); }
/// }
/// ```
///
/// **Memory.** The bytes are copied into an array that is reused (see [HeadBuffer]). Parsing
/// allocates nothing, and later changes of the buffer do not matter. Everything is valid until the
/// next [#parse], which [#keep] prevents.
///
/// **Threads.** One at a time.
public final class RequestHead extends MessageHead {
    static final int MAX_METHOD_LENGTH = 32;

    private static final String[] METHODS = {
        "GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "CONNECT", "TRACE"
    };
    private static final long[] METHOD_WORDS = new long[METHODS.length];
    private static final String GET = METHODS[0];
    private static final long GET_WORD = ByteScan.word("GET ");
    private static final long FOUR_BYTES = 0xffffffffL << Integer.SIZE;

    private static final String VERSION = "HTTP/1.1";

    /// The length of the common end of a line, which is compared as two overlapping words.
    private static final int COMMON_END = " HTTP/1.1\r\n".length();

    private static final long SPACE_HTTP = ByteScan.word(" HTTP/1.");
    private static final long LAST_1_1 = ByteScan.word("TP/1.1\r\n");
    private static final long LAST_1_0 = ByteScan.word("TP/1.0\r\n");
    private static final long HTTP_1_1 = ByteScan.word("HTTP/1.1");
    private static final long LAST_OCTET = 0xff;

    static {
        for (int i = 0; i < METHODS.length; i++) {
            METHOD_WORDS[i] = ByteScan.word(METHODS[i]);
        }
    }

    private final int maxUriLength;

    // Loop thread only: offsets within the head.
    private @Nullable String knownMethod;
    private int methodAt;
    private int methodEnd;
    private int targetAt;
    private int pathEnd;
    private int targetEnd;
    private int authorityAt;
    private int authorityEnd;
    private boolean https;
    private boolean http10;

    // Loop thread only: parts of a rejected head, for logs.
    private @Nullable String rejectedMethod;
    private @Nullable String rejectedTarget;

    /// @param maxUriLength the maximum length of a target
    /// @param maxBytes the maximum length, with the empty line
    /// @param maxCount the maximum of headers
    public RequestHead(int maxUriLength, int maxBytes, int maxCount) {
        if (maxUriLength < 1 || maxBytes < 1 || maxCount < 1) {
            throw new IllegalArgumentException(
                    "limits must be positive: " + maxUriLength + ", " + maxBytes + ", " + maxCount);
        }
        super(maxBytes, maxCount, Framing.Section.REQUEST);
        this.maxUriLength = maxUriLength;
    }

    /// Also skips one empty line before the request line.
    @Override
    int parseFirstLine(byte[] data, int end) {
        rejectedMethod = null;
        rejectedTarget = null;
        int at = parseMethod(data, 0, end);
        if (at > 0) {
            at = parseTarget(data, at, end);
        }
        if (at > 0 && !hasValidForm(data)) {
            return ParseError.BAD_TARGET_FORM.code();
        }
        return at;
    }

    @Override
    void clearFirstLine() {
        knownMethod = null;
        methodAt = 0;
        methodEnd = 0;
        targetAt = 0;
        pathEnd = 0;
        targetEnd = 0;
        authorityAt = 0;
        authorityEnd = 0;
        https = false;
        http10 = false;
    }

    /// @return the start of the target; 0; or an error code
    private int parseMethod(byte[] data, int at, int end) {
        long word = ByteScan.word(data, at, end);
        if ((word & FOUR_BYTES) == GET_WORD) {
            methodAt = at;
            methodEnd = at + 3;
            knownMethod = GET;
            return at + 4;
        }
        return word >>> 56 == ByteScan.CR && at == 0
                ? skipEmptyLine(data, end)
                : parseOtherMethod(data, at, end, word);
    }

    /// Old clients send an empty line after a body (RFC 9112, 2.2).
    private int skipEmptyLine(byte[] data, int end) {
        int next = ByteScan.lineEnd(data, 0, end);
        return next > 0 ? parseMethod(data, next, end) : next;
    }

    private int parseOtherMethod(byte[] data, int at, int end, long word) {
        // One more byte, to detect a method that is too long.
        int limit = Math.min(end, at + MAX_METHOD_LENGTH + 1);
        int last = ByteScan.firstNot(ByteScan.TOKEN, data, at, limit);
        if (last - at > MAX_METHOD_LENGTH) {
            return ParseError.METHOD_TOO_LONG.code();
        }
        if (last == end) {
            return 0;
        }
        byte next = data[last];
        if (last == at || next != ByteScan.SPACE) {
            return (next == ByteScan.LF ? ParseError.BARE_LF : ParseError.BAD_METHOD).code();
        }
        methodAt = at;
        methodEnd = last;
        knownMethod = known(word, last - at);
        return last + 1;
    }

    private static @Nullable String known(long word, int length) {
        if (length >= Long.BYTES) {
            return null;
        }
        int unused = Long.SIZE - Byte.SIZE * length;
        long name = word >>> unused << unused;
        for (int i = 0; i < METHODS.length; i++) {
            if (METHOD_WORDS[i] == name) {
                return METHODS[i];
            }
        }
        return null;
    }

    /// @return the index after the line; 0; or an error code
    private int parseTarget(byte[] data, int from, int end) {
        // One more byte: the space after the longest target.
        int limit = (int) Math.min(end, (long) from + maxUriLength + 1);
        int stop = ByteScan.firstOutsidePath(data, from, limit);
        targetAt = from;
        pathEnd = -1;
        while (stop < limit && (data[stop] == '?' || data[stop] == '%')) {
            int escapeEnd = Math.min(limit, stop + 3);
            if (data[stop] == '?') {
                pathEnd = pathEnd < 0 ? stop : pathEnd;
                stop++;
            } else if (ByteScan.firstNotIn(ByteScan.HEX, data, stop + 1, escapeEnd) < escapeEnd) {
                break;
            } else {
                stop = escapeEnd; // If truncated: incomplete or too long.
            }
            stop = ByteScan.firstOutsidePath(data, stop, limit);
        }
        pathEnd = pathEnd < 0 ? stop : pathEnd;
        targetEnd = stop;
        if (stop > from && stop < limit && end - stop >= COMMON_END) {
            long last = ByteScan.word(data, stop + COMMON_END - Long.BYTES);
            if (ByteScan.word(data, stop) == SPACE_HTTP && (last == LAST_1_1 || last == LAST_1_0)) {
                http10 = last == LAST_1_0;
                return stop + COMMON_END;
            }
        }
        return parseTargetEnd(data, from, limit, end);
    }

    /// Parses the rest of a line that is incomplete, uncommon or invalid.
    private int parseTargetEnd(byte[] data, int from, int limit, int end) {
        int stop = targetEnd;
        if (stop == limit) {
            return limit - from > maxUriLength ? ParseError.TARGET_TOO_LONG.code() : 0;
        }
        byte next = data[stop];
        if (stop - from == maxUriLength && next != ByteScan.SPACE) {
            return ParseError.TARGET_TOO_LONG.code();
        }
        return switch (next) {
            case ByteScan.SPACE ->
                    stop == from ? ParseError.BAD_TARGET.code() : parseVersion(data, stop + 1, end);
            case ByteScan.LF -> ParseError.BARE_LF.code();
            case ByteScan.CR -> {
                // A line without a version, as in HTTP/0.9, or a bare CR.
                int line = ByteScan.lineEnd(data, stop, end);
                yield line > 0 ? ParseError.BAD_VERSION.code() : line;
            }
            case '%' -> ParseError.BAD_ESCAPE.code();
            default -> ParseError.BAD_TARGET.code();
        };
    }

    /// Accepts higher minor versions, which are read as HTTP/1.1 (RFC 9110, 2.5).
    ///
    /// @return the index after the line; 0; or an error code
    private static int parseVersion(byte[] data, int at, int end) {
        long word = ByteScan.word(data, at, end);
        boolean isHttp1 = (word ^ HTTP_1_1) >>> Byte.SIZE == 0;
        if (!isHttp1 || !ByteScan.DIGIT[(int) (word & LAST_OCTET)]) {
            return versionError(data, at, end);
        }
        int cr = at + VERSION.length();
        if (cr == end) {
            return 0;
        }
        return switch (data[cr]) {
            case ByteScan.CR -> ByteScan.lineEnd(data, cr, end);
            case ByteScan.LF -> ParseError.BARE_LF.code();
            default -> ParseError.BAD_VERSION.code();
        };
    }

    /// Returns 0 while the bytes may still become another version, or an error code.
    static int versionError(byte[] data, int at, int end) {
        for (int i = 0; i < VERSION.length(); i++) {
            if (at + i == end) {
                return 0;
            }
            byte octet = data[at + i];
            boolean digit = i == 5 || i == 7;
            if (digit ? !ByteScan.DIGIT[octet & 0xff] : octet != VERSION.charAt(i)) {
                return ParseError.BAD_VERSION.code();
            }
        }
        return ParseError.OTHER_VERSION.code();
    }

    /// Returns whether the method allows the form of the target (RFC 9112, 3.2). Moves the target's
    /// start after scheme and authority.
    private boolean hasValidForm(byte[] data) {
        String method = knownMethod;
        if ("CONNECT".equals(method)) {
            pathEnd = targetEnd;
            return Authority.hasPort(data, targetAt, targetEnd);
        }
        byte first = data[targetAt];
        if (first == '/') {
            return true;
        }
        if (first == '*') {
            return targetEnd - targetAt == 1 && "OPTIONS".equals(method);
        }
        https = isAbsolute(data, "https://");
        return https || isAbsolute(data, "http://");
    }

    private boolean isAbsolute(byte[] data, String scheme) {
        int at = targetAt + scheme.length();
        if (at >= pathEnd || !ByteScan.is(data, targetAt, at, scheme)) {
            return false;
        }
        int slash = at;
        while (slash < pathEnd && data[slash] != '/') {
            slash++;
        }
        authorityAt = at;
        authorityEnd = slash;
        targetAt = slash;
        return Authority.isValid(data, at, slash);
    }

    @Override
    int finish(byte[] data) {
        if (!framing.hasHost()) {
            if (!http10) {
                return ParseError.HOST_MISSING.code();
            }
        } else if (authorityEnd > 0) {
            // The target's host overrides the Host header (RFC 9112, 3.2.2).
            replaceValue(framing.hostAt(), authorityAt, authorityEnd);
        }
        return framing.finish(http10);
    }

    @Override
    void beforeRejection() {
        if (methodEnd > 0) {
            rejectedMethod = method();
        }
        int from = methodEnd + 1; // As it was sent, with scheme and authority.
        if (targetEnd > from) {
            rejectedTarget = slice(from, targetEnd);
        }
    }

    /// Returns the method of a rejected head; null if it was not parsed.
    public @Nullable String rejectedMethod() {
        return rejectedMethod;
    }

    /// Returns the target of a rejected head, up to the invalid byte; null if it was not parsed.
    public @Nullable String rejectedTarget() {
        return rejectedTarget;
    }

    /// Returns the method; the same instance for registered methods.
    public String method() {
        String known = knownMethod;
        return known == null ? slice(methodAt, methodEnd) : known;
    }

    /// Returns the method; null if it is not [#isMethodKnown()]. Any thread.
    public @Nullable String knownMethod() {
        return knownMethod;
    }

    /// Returns whether the method is `GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE` or `PATCH`.
    public boolean isMethodKnown() {
        return knownMethod != null;
    }

    /// Returns the target without scheme and authority: `/path?query`, for `OPTIONS` also `*`, for
    /// `CONNECT` host and port. An omitted path (`http://host?query`) is `/`. Creates text.
    public String target() {
        String sent = slice(targetAt, targetEnd);
        return isPathLeftOut() ? "/" + sent : sent;
    }

    /// Returns whether the target is a URI without a path, which means `/`. Then [#targetAt()] is
    /// [#pathEnd()].
    public boolean isPathLeftOut() {
        return length() > 0 && targetAt == pathEnd;
    }

    /// Returns the path as received. Creates text.
    public String rawPath() {
        return isPathLeftOut() ? "/" : slice(targetAt, pathEnd);
    }

    /// Returns the offset of the path.
    public int targetAt() {
        return targetAt;
    }

    /// Returns the offset of the target's `?`; [#targetEnd()] if absent.
    public int pathEnd() {
        return pathEnd;
    }

    /// Returns the offset of the space after the target.
    public int targetEnd() {
        return targetEnd;
    }

    /// Returns the byte at an offset.
    public byte byteAt(int offset) {
        return bytes()[Objects.checkIndex(offset, length())];
    }

    /// Returns the text between two offsets.
    public String text(int from, int to) {
        Objects.checkFromToIndex(from, to, length());
        return slice(from, to);
    }

    /// Returns whether the target is an `https` URI.
    public boolean isHttps() {
        return https;
    }

    /// Returns whether the version is HTTP/1.0. Higher minor versions count as HTTP/1.1.
    public boolean isHttp10() {
        return http10;
    }

    /// Returns the announced length of the body; 0 if absent; -1 if chunked.
    public long contentLength() {
        return framing.isChunked() ? -1 : Math.max(0, framing.length());
    }

    /// Returns whether a body follows, or chunks, which may turn out to be empty.
    public boolean hasBody() {
        return framing.isChunked() || framing.length() > 0;
    }

    public boolean isChunked() {
        return framing.isChunked();
    }

    /// Returns whether the client keeps the connection open for another request.
    public boolean keepsAlive() {
        return framing.keepsAlive(http10);
    }

    /// Returns whether the client waits for `100 Continue` before it sends the body.
    public boolean expectsContinue() {
        return framing.expectsContinue() && !http10 && hasBody();
    }
}
