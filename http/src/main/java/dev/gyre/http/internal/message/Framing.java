package dev.gyre.http.internal.message;

/// What the fields of a message say about where it ends, and what becomes of the connection.
///
/// **Threads.** One at a time.
final class Framing {
    /// What the fields are those of.
    enum Section {
        REQUEST,
        RESPONSE,
        TRAILER
    }

    private static final int MOST_DIGITS = 18;
    private static final int FINE = 0;

    private static final int HOST = 1;
    private static final int EXPECT = 1 << 1;
    private static final int UPGRADE = 1 << 2;
    private static final int CONNECTION_UPGRADE = 1 << 3;
    private static final int CONNECTION_CLOSE = 1 << 4;
    private static final int CONNECTION_KEEP_ALIVE = 1 << 5;
    private static final int ENCODED = 1 << 6;
    private static final int CHUNKED = 1 << 7;
    private static final int CHUNKED_LAST = 1 << 8;
    private static final int OTHER_CODING = 1 << 9;
    private static final int OTHER_EXPECTATION = 1 << 10;

    private final Section section;

    // Loop thread only.
    private int hostAt;
    private long length = -1;

    /// What was found, as bits: forgotten in one go for each message.
    private int found;

    Framing(Section section) {
        this.section = section;
    }

    void clear() {
        length = -1;
        found = 0;
    }

    private boolean has(int what) {
        return (found & what) != 0;
    }

    /// Takes note of a field.
    ///
    /// @return 0, or the code of a refusal
    int take(KnownField field, byte[] data, int at, int end) {
        if (section == Section.TRAILER) {
            return Refusal.FORBIDDEN_TRAILER.code();
        }
        return switch (field) {
            case HOST -> section == Section.REQUEST ? host(data, at, end) : FINE;
            case EXPECT -> section == Section.REQUEST ? expect(data, at, end) : FINE;
            case UPGRADE -> {
                found |= UPGRADE;
                yield FINE;
            }
            case CONNECTION -> connection(data, at, end);
            case CONTENT_LENGTH -> length(data, at, end);
            case TRANSFER_ENCODING -> encoding(data, at, end);
            case NONE -> FINE;
        };
    }

    /// What can be said when all fields are there.
    ///
    /// @return 0, or the code of a refusal
    int finish(boolean http10) {
        if (has(OTHER_EXPECTATION) && !http10) {
            return Refusal.UNKNOWN_EXPECTATION.code();
        }
        if (!has(ENCODED)) {
            return FINE;
        }
        if (http10) {
            return Refusal.ENCODING_BY_HTTP10.code();
        }
        if (length >= 0) {
            return Refusal.LENGTH_WITH_ENCODING.code();
        }
        if (!has(CHUNKED_LAST)) {
            return Refusal.CHUNKED_NOT_LAST.code();
        }
        return has(OTHER_CODING) ? Refusal.UNKNOWN_ENCODING.code() : FINE;
    }

    private int host(byte[] data, int at, int end) {
        if (has(HOST)) {
            return Refusal.HOST_TWICE.code();
        }
        found |= HOST;
        hostAt = at;
        // Empty for a target that has no host, as RFC 9112, 3.2 has it.
        return at == end || Authority.isValid(data, at, end) ? FINE : Refusal.BAD_HOST.code();
    }

    private int expect(byte[] data, int at, int end) {
        // HTTP/1.0 has no expectations, and the version is not known here.
        found |= Octets.is(data, at, end, "100-continue") ? EXPECT : OTHER_EXPECTATION;
        return FINE;
    }

    private int length(byte[] data, int at, int end) {
        if (length >= 0) {
            return Refusal.LENGTH_TWICE.code();
        }
        if (at == end
                || end - at > MOST_DIGITS
                || Octets.firstNotIn(Octets.DIGIT, data, at, end) < end) {
            return Refusal.BAD_LENGTH.code();
        }
        length = 0;
        for (int i = at; i < end; i++) {
            length = 10 * length + data[i] - '0';
        }
        return FINE;
    }

    private int connection(byte[] data, int from, int end) {
        int at = from;
        while (at < end) {
            int comma = elementEnd(data, at, end);
            int first = Octets.skipSpace(data, at, comma);
            int last = Octets.trimSpace(data, first, comma);
            found |=
                    switch (last - first) {
                        case 5 -> Octets.is(data, first, last, "close") ? CONNECTION_CLOSE : 0;
                        case 7 -> Octets.is(data, first, last, "upgrade") ? CONNECTION_UPGRADE : 0;
                        case 10 ->
                                Octets.is(data, first, last, "keep-alive")
                                        ? CONNECTION_KEEP_ALIVE
                                        : 0;
                        default -> 0;
                    };
            at = comma + 1;
        }
        return FINE;
    }

    /// An empty element is refused here, though lists may have them: others were found to read `,chunked` in
    /// other ways.
    private int encoding(byte[] data, int from, int end) {
        found |= ENCODED;
        int at = from;
        do {
            int comma = elementEnd(data, at, end);
            int first = Octets.skipSpace(data, at, comma);
            int last = Octets.trimSpace(data, first, comma);
            if (first == last || Octets.firstNot(Octets.TOKEN, data, first, last) < last) {
                return Refusal.BAD_ENCODING.code();
            }
            if (!Octets.is(data, first, last, "chunked")) {
                found = (found | OTHER_CODING) & ~CHUNKED_LAST;
            } else if (has(CHUNKED)) {
                return Refusal.CHUNKED_TWICE.code();
            } else {
                found |= CHUNKED | CHUNKED_LAST;
            }
            at = comma + 1;
        } while (at <= end);
        return FINE;
    }

    /// Where the next comma is, or the end.
    static int elementEnd(byte[] data, int from, int end) {
        int at = from;
        while (at < end && data[at] != ',') {
            at++;
        }
        return at;
    }

    // ------------------------------------------------------------------ what came of it

    boolean hasHost() {
        return has(HOST);
    }

    /// Where the value of `Host` begins, if there is one.
    int hostAt() {
        return hostAt;
    }

    boolean expectsContinue() {
        return has(EXPECT);
    }

    /// The value of `Content-Length`; -1 if there is none.
    long length() {
        return length;
    }

    boolean isChunked() {
        return has(CHUNKED);
    }

    boolean keepsAlive(boolean http10) {
        return !has(CONNECTION_CLOSE) && (!http10 || has(CONNECTION_KEEP_ALIVE));
    }

    boolean asksForUpgrade() {
        return has(UPGRADE) && has(CONNECTION_UPGRADE);
    }
}
