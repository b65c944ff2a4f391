package dev.gyre.http.internal.message;

/// Where a message ends, and whether the connection stays open, as its headers say.
///
/// **Threads.** One at a time.
final class Framing {
    /// The part of a message that headers belong to.
    enum Section {
        REQUEST,
        RESPONSE,
        TRAILER
    }

    /// The headers that affect framing.
    enum Name {
        OTHER(""),
        HOST("host"),
        EXPECT("expect"),
        /// Only rejected in trailers.
        UPGRADE("upgrade"),
        CONNECTION("connection"),
        CONTENT_LENGTH("content-length"),
        TRANSFER_ENCODING("transfer-encoding");

        private final int length;

        // The first and the last eight bytes. They overlap, except for one byte of 17.
        private final long first;
        private final long last;

        Name(String name) {
            length = name.length();
            first = ByteScan.word(name.substring(0, Math.min(Long.BYTES, length)));
            last = ByteScan.word(name.substring(Math.max(0, length - Long.BYTES)));
        }

        /// @param at the start of a valid name
        static Name of(byte[] data, int at, int end) {
            return switch (end - at) {
                case 4 -> HOST.ifEqual(shortName(data, at, end));
                case 6 -> EXPECT.ifEqual(shortName(data, at, end));
                case 7 -> UPGRADE.ifEqual(shortName(data, at, end));
                case 10 -> CONNECTION.ifEqual(data, at);
                case 14 -> CONTENT_LENGTH.ifEqual(data, at);
                case 17 -> data[at + 8] == '-' ? TRANSFER_ENCODING.ifEqual(data, at) : OTHER;
                default -> OTHER;
            };
        }

        private static long shortName(byte[] data, int at, int end) {
            int unused = Long.SIZE - Byte.SIZE * (end - at);
            return ByteScan.lowerName(ByteScan.word(data, at, end)) >>> unused << unused;
        }

        private Name ifEqual(long name) {
            return name == first ? this : OTHER;
        }

        private Name ifEqual(byte[] data, int at) {
            int lastAt = at + length - Long.BYTES;
            return ByteScan.lowerName(ByteScan.word(data, at)) == first
                            && ByteScan.lowerName(ByteScan.word(data, lastAt)) == last
                    ? this
                    : OTHER;
        }
    }

    private static final int MAX_DIGITS = 18;
    private static final int VALID = 0;

    private static final int HOST = 1;
    private static final int EXPECT = 1 << 1;
    private static final int CONNECTION_CLOSE = 1 << 2;
    private static final int CONNECTION_KEEP_ALIVE = 1 << 3;
    private static final int ENCODED = 1 << 4;
    private static final int CHUNKED = 1 << 5;
    private static final int CHUNKED_LAST = 1 << 6;
    private static final int OTHER_CODING = 1 << 7;
    private static final int OTHER_EXPECTATION = 1 << 8;

    private final Section section;

    // Loop thread only.
    private int hostAt;
    private long length = -1;

    /// The properties found, as bits: cleared at once for each message.
    private int found;

    Framing(Section section) {
        this.section = section;
    }

    void clear() {
        length = -1;
        found = 0;
    }

    private boolean has(int property) {
        return (found & property) != 0;
    }

    /// Notes a header.
    ///
    /// @return 0, or an error code
    int add(Name name, byte[] data, int at, int end) {
        if (section == Section.TRAILER) {
            return ParseError.FORBIDDEN_TRAILER.code();
        }
        return switch (name) {
            case HOST -> section == Section.REQUEST ? addHost(data, at, end) : VALID;
            case EXPECT -> section == Section.REQUEST ? addExpect(data, at, end) : VALID;
            case CONNECTION -> addConnection(data, at, end);
            case CONTENT_LENGTH -> addLength(data, at, end);
            case TRANSFER_ENCODING -> addEncoding(data, at, end);
            case UPGRADE, OTHER -> VALID;
        };
    }

    /// Checks the complete headers.
    ///
    /// @return 0, or an error code
    int finish(boolean http10) {
        if (has(OTHER_EXPECTATION) && !http10) {
            return ParseError.UNKNOWN_EXPECTATION.code();
        }
        if (!has(ENCODED)) {
            return VALID;
        }
        if (http10) {
            return ParseError.ENCODING_BY_HTTP10.code();
        }
        if (length >= 0) {
            return ParseError.LENGTH_WITH_ENCODING.code();
        }
        if (!has(CHUNKED_LAST)) {
            return ParseError.CHUNKED_NOT_LAST.code();
        }
        return has(OTHER_CODING) ? ParseError.UNKNOWN_ENCODING.code() : VALID;
    }

    /// Accepts an empty host, for a target without one (RFC 9112, 3.2).
    private int addHost(byte[] data, int at, int end) {
        if (has(HOST)) {
            return ParseError.HOST_TWICE.code();
        }
        found |= HOST;
        hostAt = at;
        return at == end || Authority.isValid(data, at, end) ? VALID : ParseError.BAD_HOST.code();
    }

    /// Leaves the check to [#finish]: HTTP/1.0 has no expectations.
    private int addExpect(byte[] data, int at, int end) {
        found |= ByteScan.is(data, at, end, "100-continue") ? EXPECT : OTHER_EXPECTATION;
        return VALID;
    }

    private int addLength(byte[] data, int at, int end) {
        if (length >= 0) {
            return ParseError.LENGTH_TWICE.code();
        }
        if (at == end
                || end - at > MAX_DIGITS
                || ByteScan.firstNotIn(ByteScan.DIGIT, data, at, end) < end) {
            return ParseError.BAD_LENGTH.code();
        }
        length = 0;
        for (int i = at; i < end; i++) {
            length = 10 * length + data[i] - '0';
        }
        return VALID;
    }

    private int addConnection(byte[] data, int from, int end) {
        int at = from;
        while (at < end) {
            int comma = elementEnd(data, at, end);
            int first = ByteScan.skipSpace(data, at, comma);
            int last = ByteScan.trimSpace(data, first, comma);
            if (ByteScan.is(data, first, last, "close")) {
                found |= CONNECTION_CLOSE;
            } else if (ByteScan.is(data, first, last, "keep-alive")) {
                found |= CONNECTION_KEEP_ALIVE;
            }
            at = comma + 1;
        }
        return VALID;
    }

    /// Rejects empty elements, which lists may have: other implementations read `,chunked`
    /// differently.
    private int addEncoding(byte[] data, int from, int end) {
        found |= ENCODED;
        int at = from;
        do {
            int comma = elementEnd(data, at, end);
            int first = ByteScan.skipSpace(data, at, comma);
            int last = ByteScan.trimSpace(data, first, comma);
            if (first == last || ByteScan.firstNot(ByteScan.TOKEN, data, first, last) < last) {
                return ParseError.BAD_ENCODING.code();
            }
            if (!ByteScan.is(data, first, last, "chunked")) {
                found = (found | OTHER_CODING) & ~CHUNKED_LAST;
            } else if (has(CHUNKED)) {
                return ParseError.CHUNKED_TWICE.code();
            } else {
                found |= CHUNKED | CHUNKED_LAST;
            }
            at = comma + 1;
        } while (at <= end);
        return VALID;
    }

    /// Returns the index of the next comma, or the end.
    static int elementEnd(byte[] data, int from, int end) {
        int at = from;
        while (at < end && data[at] != ',') {
            at++;
        }
        return at;
    }

    boolean hasHost() {
        return has(HOST);
    }

    /// Returns the start of the value of `Host`, if present.
    int hostAt() {
        return hostAt;
    }

    boolean expectsContinue() {
        return has(EXPECT);
    }

    /// Returns `Content-Length`; -1 if absent.
    long length() {
        return length;
    }

    boolean isChunked() {
        return has(CHUNKED);
    }

    boolean keepsAlive(boolean http10) {
        return !has(CONNECTION_CLOSE) && (!http10 || has(CONNECTION_KEEP_ALIVE));
    }
}
