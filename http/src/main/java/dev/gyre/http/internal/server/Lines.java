package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

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
    static final byte[] CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n".getBytes(US_ASCII);
    static final byte[] NONE = {};

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
}
