package dev.gyre.http.internal.message;

import dev.gyre.io.Buffer;

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

    private final Section section;

    // Loop thread only.
    private int hostAt;
    private int hostEnd;
    private boolean host;
    private boolean expectation;
    private boolean upgrade;
    private boolean connectionUpgrade;
    private boolean connectionClose;
    private boolean connectionKeepAlive;
    private long length;
    private boolean encoded;
    private boolean chunked;
    private boolean chunkedLast;
    private boolean otherCoding;

    Framing(Section section) {
        this.section = section;
        clear();
    }

    void clear() {
        host = false;
        expectation = false;
        upgrade = false;
        connectionUpgrade = false;
        connectionClose = false;
        connectionKeepAlive = false;
        length = -1;
        encoded = false;
        chunked = false;
        chunkedLast = false;
        otherCoding = false;
    }

    /// Takes note of a field.
    ///
    /// @return 0, or the code of a refusal
    int take(KnownField field, Buffer data, int at, int end) {
        if (section == Section.TRAILER) {
            return Refusal.FORBIDDEN_TRAILER.code();
        }
        return switch (field) {
            case HOST -> section == Section.REQUEST ? host(data, at, end) : FINE;
            case EXPECT -> section == Section.REQUEST ? expect(data, at, end) : FINE;
            case UPGRADE -> {
                upgrade = true;
                yield FINE;
            }
            case CONNECTION -> connection(data, at, end);
            case CONTENT_LENGTH -> length(data, at, end);
            case TRANSFER_ENCODING -> encoding(data, at, end);
            case NONE -> FINE;
        };
    }

    /// What can be said of the length when all fields are there.
    ///
    /// @return 0, or the code of a refusal
    int finish(boolean http10) {
        if (!encoded) {
            return FINE;
        }
        if (http10) {
            return Refusal.ENCODING_BY_HTTP10.code();
        }
        if (length >= 0) {
            return Refusal.LENGTH_WITH_ENCODING.code();
        }
        if (!chunkedLast) {
            return Refusal.CHUNKED_NOT_LAST.code();
        }
        return otherCoding ? Refusal.UNKNOWN_ENCODING.code() : FINE;
    }

    private int host(Buffer data, int at, int end) {
        if (host) {
            return Refusal.HOST_TWICE.code();
        }
        host = true;
        hostAt = at;
        hostEnd = end;
        // Empty for a target that has no host, as RFC 9112, 3.2 has it.
        return at == end || Authority.isValid(data, at, end) ? FINE : Refusal.BAD_HOST.code();
    }

    private int expect(Buffer data, int at, int end) {
        expectation = true;
        return Octets.is(data, at, end, "100-continue") ? FINE : Refusal.UNKNOWN_EXPECTATION.code();
    }

    private int length(Buffer data, int at, int end) {
        if (length >= 0) {
            return Refusal.LENGTH_TWICE.code();
        }
        if (at == end
                || end - at > MOST_DIGITS
                || Octets.firstNot(Octets.DIGIT, data, at, end) < end) {
            return Refusal.BAD_LENGTH.code();
        }
        length = 0;
        for (int i = at; i < end; i++) {
            length = 10 * length + data.peek(i) - '0';
        }
        return FINE;
    }

    private int connection(Buffer data, int from, int end) {
        int at = from;
        while (at < end) {
            int comma = elementEnd(data, at, end);
            int first = Octets.skipSpace(data, at, comma);
            int last = Octets.trimSpace(data, first, comma);
            switch (last - first) {
                case 5 -> connectionClose |= Octets.is(data, first, last, "close");
                case 7 -> connectionUpgrade |= Octets.is(data, first, last, "upgrade");
                case 10 -> connectionKeepAlive |= Octets.is(data, first, last, "keep-alive");
                default -> {}
            }
            at = comma + 1;
        }
        return FINE;
    }

    /// An empty element is refused here, though lists may have them: others were found to read `,chunked` in
    /// other ways.
    private int encoding(Buffer data, int from, int end) {
        encoded = true;
        int at = from;
        do {
            int comma = elementEnd(data, at, end);
            int first = Octets.skipSpace(data, at, comma);
            int last = Octets.trimSpace(data, first, comma);
            if (first == last || Octets.firstNot(Octets.TOKEN, data, first, last) < last) {
                return Refusal.BAD_ENCODING.code();
            }
            chunkedLast = Octets.is(data, first, last, "chunked");
            if (chunkedLast && chunked) {
                return Refusal.CHUNKED_TWICE.code();
            }
            chunked |= chunkedLast;
            otherCoding |= !chunkedLast;
            at = comma + 1;
        } while (at <= end);
        return FINE;
    }

    /// Where the next comma is, or the end.
    static int elementEnd(Buffer data, int from, int end) {
        int at = from;
        while (at < end && data.peek(at) != ',') {
            at++;
        }
        return at;
    }

    // ------------------------------------------------------------------ what came of it

    boolean hasHost() {
        return host;
    }

    /// Where the value of `Host` begins, if there is one.
    int hostAt() {
        return hostAt;
    }

    int hostEnd() {
        return hostEnd;
    }

    boolean expectsContinue() {
        return expectation;
    }

    /// The value of `Content-Length`; -1 if there is none.
    long length() {
        return length;
    }

    boolean isChunked() {
        return chunked;
    }

    boolean keepsAlive(boolean http10) {
        return !connectionClose && (!http10 || connectionKeepAlive);
    }

    boolean asksForUpgrade() {
        return upgrade && connectionUpgrade;
    }
}
