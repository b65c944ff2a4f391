package dev.gyre.http.internal.message;

import org.jspecify.annotations.Nullable;

/// The first line of a request: where its method and its target are.
///
/// **Threads.** One at a time.
final class RequestLine {
    static final int LONGEST_METHOD = 32;

    private static final String[] METHODS = {
        "GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "CONNECT", "TRACE"
    };
    private static final long[] METHOD_WORDS = new long[METHODS.length];
    private static final String GET = METHODS[0];
    private static final long GET_WORD = Octets.word("GET ");
    private static final long FOUR_BYTES = 0xffffffffL << Integer.SIZE;

    private static final String VERSION = "HTTP/1.1";

    /// What nearly always follows a target, looked at in two words that overlap.
    private static final int USUAL_END = " HTTP/1.1\r\n".length();

    private static final long SPACE_HTTP = Octets.word(" HTTP/1.");
    private static final long LAST_1_1 = Octets.word("TP/1.1\r\n");
    private static final long LAST_1_0 = Octets.word("TP/1.0\r\n");
    private static final long HTTP_1_1 = Octets.word("HTTP/1.1");
    private static final long LAST_OCTET = 0xff;

    static {
        for (int i = 0; i < METHODS.length; i++) {
            METHOD_WORDS[i] = Octets.word(METHODS[i]);
        }
    }

    private final int maxTarget;

    // Loop thread only.
    private @Nullable String method;
    private int methodAt;
    private int methodEnd;
    private int targetAt;
    private int pathEnd;
    private int targetEnd;
    private int authorityAt;
    private int authorityEnd;
    private boolean https;
    private boolean http10;

    RequestLine(int maxTarget) {
        this.maxTarget = maxTarget;
    }

    void clear() {
        method = null;
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

    /// Reads the line, and one empty line before it.
    ///
    /// @return behind the line; 0 if the end came before; or the code of a refusal
    int parse(byte[] data, int end) {
        int at = method(data, 0, end);
        if (at > 0) {
            at = target(data, at, end);
        }
        if (at > 0 && !isFormRight(data)) {
            return Refusal.BAD_TARGET_FORM.code();
        }
        return at;
    }

    /// @return where the target begins; 0; or the code of a refusal
    private int method(byte[] data, int at, int end) {
        long word = Octets.word(data, at, end);
        if ((word & FOUR_BYTES) == GET_WORD) {
            methodAt = at;
            methodEnd = at + 3;
            method = GET;
            return at + 4;
        }
        return word >>> 56 == Octets.CR && at == 0
                ? afterEmptyLine(data, end)
                : otherMethod(data, at, end, word);
    }

    /// One empty line is skipped: old clients send it after content (RFC 9112, 2.2).
    private int afterEmptyLine(byte[] data, int end) {
        int next = Octets.lineEnd(data, 0, end);
        return next > 0 ? method(data, next, end) : next;
    }

    private int otherMethod(byte[] data, int at, int end, long word) {
        // One more, so that it shows that it is too long.
        int last = Octets.firstNot(Octets.TOKEN, data, at, Math.min(end, at + LONGEST_METHOD + 1));
        if (last - at > LONGEST_METHOD) {
            return Refusal.METHOD_TOO_LONG.code();
        }
        if (last == end) {
            return 0;
        }
        byte behind = data[last];
        if (last == at || behind != Octets.SPACE) {
            return (behind == Octets.LF ? Refusal.BARE_LF : Refusal.BAD_METHOD).code();
        }
        methodAt = at;
        methodEnd = last;
        method = known(word, last - at);
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

    /// @return behind the line; 0; or the code of a refusal
    private int target(byte[] data, int from, int end) {
        // One more byte than it may have: the space behind it.
        int most = (int) Math.min(end, (long) from + maxTarget + 1);
        int stop = Octets.firstOutsidePath(data, from, most);
        targetAt = from;
        pathEnd = -1;
        while (stop < most && (data[stop] == '?' || data[stop] == '%')) {
            if (data[stop] == '?') {
                pathEnd = pathEnd < 0 ? stop : pathEnd;
                stop++;
            } else if (Octets.firstNotIn(Octets.HEX, data, stop + 1, Math.min(most, stop + 3))
                    < Math.min(most, stop + 3)) {
                break;
            } else {
                stop = Math.min(most, stop + 3); // If truncated: incomplete or too long.
            }
            stop = Octets.firstOutsidePath(data, stop, most);
        }
        pathEnd = pathEnd < 0 ? stop : pathEnd;
        targetEnd = stop;
        if (stop > from && stop < most && end - stop >= USUAL_END) {
            long last = Octets.word(data, stop + USUAL_END - Long.BYTES);
            if (Octets.word(data, stop) == SPACE_HTTP && (last == LAST_1_1 || last == LAST_1_0)) {
                http10 = last == LAST_1_0;
                return stop + USUAL_END;
            }
        }
        http10 = false;
        if (stop == most) {
            return most - from > maxTarget ? Refusal.TARGET_TOO_LONG.code() : 0;
        }
        byte behind = data[stop];
        if (stop - from == maxTarget && behind != Octets.SPACE) {
            return Refusal.TARGET_TOO_LONG.code();
        }
        return switch (behind) {
            case Octets.SPACE ->
                    stop == from ? Refusal.BAD_TARGET.code() : version(data, stop + 1, end);
            case Octets.LF -> Refusal.BARE_LF.code();
            case Octets.CR -> noVersion(data, stop, end);
            case '%' -> Refusal.BAD_ESCAPE.code();
            default -> Refusal.BAD_TARGET.code();
        };
    }

    /// The line ends with the target, as HTTP/0.9 had it; or there is a stray CR.
    private static int noVersion(byte[] data, int cr, int end) {
        int next = Octets.lineEnd(data, cr, end);
        return next > 0 ? Refusal.BAD_VERSION.code() : next;
    }

    /// What is not complete yet, not right, or of a minor version that is read as HTTP/1.1 is (RFC 9110, 2.5).
    ///
    /// @return behind the line; 0; or the code of a refusal
    private static int version(byte[] data, int at, int end) {
        long word = Octets.word(data, at, end);
        boolean isOurs = (word ^ HTTP_1_1) >>> Byte.SIZE == 0;
        if (!isOurs || !Octets.DIGIT[(int) (word & LAST_OCTET)]) {
            return otherVersion(data, at, end);
        }
        int cr = at + VERSION.length();
        if (cr == end) {
            return 0;
        }
        return switch (data[cr]) {
            case Octets.CR -> Octets.lineEnd(data, cr, end);
            case Octets.LF -> Refusal.BARE_LF.code();
            default -> Refusal.BAD_VERSION.code();
        };
    }

    /// Says what is wrong as soon as it is, also for lines too short to have a version.
    static int otherVersion(byte[] data, int at, int end) {
        for (int i = 0; i < VERSION.length(); i++) {
            if (at + i == end) {
                return 0;
            }
            byte octet = data[at + i];
            boolean digit = i == 5 || i == 7;
            if (digit ? !Octets.DIGIT[octet & 0xff] : octet != VERSION.charAt(i)) {
                return Refusal.BAD_VERSION.code();
            }
        }
        return Refusal.OTHER_VERSION.code();
    }

    // ------------------------------------------------------------------ forms of the target

    /// Whether the target is one that the method takes (RFC 9112, 3.2). Moves its beginning behind scheme and
    /// authority.
    private boolean isFormRight(byte[] data) {
        String name = method;
        if ("CONNECT".equals(name)) {
            pathEnd = targetEnd;
            return Authority.hasPort(data, targetAt, targetEnd);
        }
        byte first = data[targetAt];
        if (first == '/') {
            return true;
        }
        if (first == '*') {
            return targetEnd - targetAt == 1 && "OPTIONS".equals(name);
        }
        https = isAddress(data, "https://");
        return https || isAddress(data, "http://");
    }

    private boolean isAddress(byte[] data, String scheme) {
        int at = targetAt + scheme.length();
        if (at >= pathEnd || !Octets.is(data, targetAt, at, scheme)) {
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

    // ------------------------------------------------------------------ what came of it

    /// The method if it is a registered one.
    @Nullable String method() {
        return method;
    }

    int methodAt() {
        return methodAt;
    }

    int methodEnd() {
        return methodEnd;
    }

    int targetAt() {
        return targetAt;
    }

    int pathEnd() {
        return pathEnd;
    }

    int targetEnd() {
        return targetEnd;
    }

    /// Whether the target has scheme and authority.
    boolean hasAuthority() {
        return authorityEnd > 0;
    }

    int authorityAt() {
        return authorityAt;
    }

    int authorityEnd() {
        return authorityEnd;
    }

    /// Whether the scheme of the target is `https`.
    boolean isHttps() {
        return https;
    }

    boolean isHttp10() {
        return http10;
    }
}
