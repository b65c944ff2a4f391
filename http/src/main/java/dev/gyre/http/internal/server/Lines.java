package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.io.Buffer;

/// Lines of answers' heads that are always the same, and what is needed to choose among them.
final class Lines {
    static final byte[] TEXT = line("Content-Type: text/plain; charset=utf-8");
    static final byte[] HTML = line("Content-Type: text/html; charset=utf-8");
    static final byte[] JSON = line("Content-Type: application/json");
    static final byte[] BYTES = line("Content-Type: application/octet-stream");
    static final byte[] LENGTH = "Content-Length: ".getBytes(US_ASCII);
    static final byte[] CHUNKED = line("Transfer-Encoding: chunked");
    static final byte[] CLOSE = line("Connection: close");
    static final byte[] KEEP = line("Connection: keep-alive");
    static final byte[] LATER = line("Retry-After: 1");
    static final byte[] CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n".getBytes(US_ASCII);
    static final byte[] NONE = {};

    /// How much the lines of a head need that are not the user's.
    static final int HEAD_ROOM = 1_024;

    /// What is longer is written to the stream by itself.
    static final int SHORT_BYTES = 8 << 10;

    private static final int MOST_AT_ONCE = 8 << 20;

    private Lines() {}

    private static byte[] line(String text) {
        return (text + "\r\n").getBytes(US_ASCII);
    }

    static boolean isAscii(String text) {
        int all = 0;
        for (int i = 0; i < text.length(); i++) {
            all |= text.charAt(i);
        }
        return all < 0x80;
    }

    /// A length that a handler has set.
    ///
    /// @throws IllegalArgumentException if it is none
    static long requireLength(String said) {
        try {
            long length = Long.parseLong(said);
            if (length >= 0) {
                return length;
            }
        } catch (NumberFormatException e) {
            // Said below.
        }
        throw new IllegalArgumentException("a Content-Length is a number of bytes, not " + said);
    }

    /// How the end of the content is found.
    ///
    /// @param length -1 if that is not known, and it comes in chunks, or ends with the connection
    static void putFraming(Buffer out, int status, boolean http10, long length) {
        if (Status.isWithoutContent(status) && (status != 304 || length <= 0)) {
            return;
        }
        if (length >= 0) {
            out.put(LENGTH);
            Numbers.putDecimal(out, length);
            out.put((byte) '\r').put((byte) '\n');
        } else if (!http10) {
            out.put(CHUNKED);
        }
    }

    /// What becomes of the connection, and the end of the head.
    static Buffer putEnd(Buffer out, boolean closes, boolean http10) {
        if (closes) {
            out.put(CLOSE);
        } else if (http10) {
            out.put(KEEP);
        }
        return out.put((byte) '\r').put((byte) '\n');
    }

    /// The media type of a line that is one of those above.
    static String typeOf(byte[] line) {
        int name = "Content-Type: ".length();
        return line.length == 0 ? "" : new String(line, name, line.length - name - 2, US_ASCII);
    }

    /// @throws IllegalArgumentException if it is none of an answer
    static void requireStatus(int status) {
        if (status < 200 || status > 599) {
            throw new IllegalArgumentException("a status is from 200 to 599, not " + status);
        }
    }

    /// @throws IllegalArgumentException if it is none of a redirection
    static void requireRedirection(int status) {
        if (status != 301 && status != 302 && status != 303 && status != 307 && status != 308) {
            throw new IllegalArgumentException(
                    "a redirection is 301, 302, 303, 307 or 308, not " + status);
        }
    }

    /// @throws IllegalArgumentException if so much would wait in memory for a peer that takes its time
    static void requireAtOnce(int bytes) {
        if (bytes > MOST_AT_ONCE) {
            throw new IllegalArgumentException(
                    bytes + " bytes are too many to send at once: use stream(), or file()");
        }
    }
}
