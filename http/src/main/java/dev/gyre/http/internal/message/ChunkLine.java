package dev.gyre.http.internal.message;

import dev.gyre.io.Buffer;

/// The line before a chunk: its size in hex digits, and extensions, which mean nothing here but have to be right.
///
/// White space is accepted only where the grammar allows it, around `;` and `=` (RFC 9112, 7.1.1),
/// not before the size or the CRLF.
///
/// **Threads.** One at a time.
final class ChunkLine {
    /// With its CRLF.
    static final int LONGEST = 256;

    private static final int MOST_DIGITS = 15;

    private final Window window = new Window(LONGEST);

    // Loop thread only.
    private long size;
    private int extensionBytes;

    long size() {
        return size;
    }

    /// How many bytes its extensions have.
    int extensionBytes() {
        return extensionBytes;
    }

    /// Looks for a line at the reading position.
    ///
    /// @return behind the line; 0 if more is needed; or the code of a refusal
    int parse(Buffer data) {
        window.open(data);
        int next = parse(window.bytes(), window.end());
        while (next == 0 && window.widen(data)) {
            next = parse(window.bytes(), window.end());
        }
        return next == 0 && window.isFull() ? Refusal.CHUNK_LINE_TOO_LONG.code() : next;
    }

    private int parse(byte[] data, int end) {
        int digits = Octets.firstNotIn(Octets.HEX, data, 0, end);
        if (digits > MOST_DIGITS) {
            return Refusal.CHUNK_TOO_LARGE.code();
        }
        if (digits == end) {
            return 0;
        }
        int at = digits == 0 ? 0 : Octets.skipSpace(data, digits, end);
        if (at == end) {
            return 0;
        }
        boolean ends = at == digits && (data[at] == Octets.CR || data[at] == Octets.LF);
        if (digits == 0 || !(ends || data[at] == ';')) {
            return Refusal.BAD_CHUNK_SIZE.code();
        }
        size = 0;
        for (int i = 0; i < digits; i++) {
            size = (size << 4) | Character.digit(data[i], 16);
        }
        while (at < end && data[at] == ';') {
            at = extension(data, at + 1, end);
            if (at <= 0) {
                return at;
            }
        }
        if (at == end) {
            return 0;
        }
        extensionBytes = at - digits;
        return switch (data[at]) {
            case Octets.CR -> Octets.lineEnd(data, at, end);
            case Octets.LF -> Refusal.BARE_LF.code();
            default -> Refusal.BAD_CHUNK_EXTENSION.code();
        };
    }

    /// @return behind the extension, where there is a byte; 0; or the code of a refusal
    private static int extension(byte[] data, int from, int end) {
        int first = Octets.skipSpace(data, from, end);
        int name = Octets.firstNot(Octets.TOKEN, data, first, end);
        if (name == end) {
            return 0;
        }
        if (name == first) {
            return Refusal.BAD_CHUNK_EXTENSION.code();
        }
        int equals = Octets.skipSpace(data, name, end);
        if (equals == end) {
            return 0;
        }
        return data[equals] == '='
                ? value(data, Octets.skipSpace(data, equals + 1, end), end)
                : behind(data, name, end);
    }

    private static int value(byte[] data, int at, int end) {
        if (at == end) {
            return 0;
        }
        int last =
                data[at] == '"'
                        ? quoted(data, at + 1, end)
                        : Octets.firstNot(Octets.TOKEN, data, at, end);
        if (last == at) {
            return Refusal.BAD_CHUNK_EXTENSION.code();
        }
        return last <= 0 ? last : behind(data, last, end);
    }

    /// Skips white space. Only another extension may follow it.
    private static int behind(byte[] data, int at, int end) {
        int next = Octets.skipSpace(data, at, end);
        if (next == end) {
            return 0;
        }
        return next == at || data[next] == ';' ? next : Refusal.BAD_CHUNK_EXTENSION.code();
    }

    private static int quoted(byte[] data, int from, int end) {
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
            if ((octet < ' ' && octet != Octets.TAB) || octet == 0x7f) {
                return (octet == Octets.LF ? Refusal.BARE_LF : Refusal.BAD_CHUNK_EXTENSION).code();
            }
        }
        return 0;
    }
}
