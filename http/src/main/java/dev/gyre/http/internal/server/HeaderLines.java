package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.io.Buffer;

import java.util.List;

/// Constant header lines of responses, and checks of values for the head.
final class HeaderLines {
    static final byte[] TEXT = line("Content-Type: text/plain; charset=utf-8");
    static final byte[] HTML = line("Content-Type: text/html; charset=utf-8");
    static final byte[] JSON = line("Content-Type: application/json");
    static final byte[] OCTET_STREAM = line("Content-Type: application/octet-stream");
    static final byte[] CONTENT_LENGTH = "Content-Length: ".getBytes(US_ASCII);
    static final byte[] CHUNKED = line("Transfer-Encoding: chunked");
    static final byte[] CONNECTION_CLOSE = line("Connection: close");
    static final byte[] KEEP_ALIVE = line("Connection: keep-alive");
    static final byte[] RETRY_AFTER = line("Retry-After: 1");
    static final byte[] CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n".getBytes(US_ASCII);
    static final byte[] EMPTY = {};

    /// Headers that describe a body. Another body is sent with an error.
    static final List<String> OF_THE_BODY =
            List.of(
                    "Content-Type",
                    "Content-Length",
                    "Content-Encoding",
                    "Content-Range",
                    "Content-Disposition",
                    "Content-Language",
                    "Content-Location",
                    "ETag",
                    "Last-Modified");

    /// The max size of the lines of a head that the handler does not set.
    static final int HEAD_RESERVE_BYTES = 1_024;

    /// Larger bodies are written to the stream apart from the head.
    static final int SHORT_BYTES = 8 << 10;

    private static final int MAX_BODY_BYTES = 8 << 20;

    private HeaderLines() {}

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

    /// Puts a number without allocating a string.
    static void putDecimal(Buffer out, long value) {
        long unit = 1;
        while (value / unit >= 10) {
            unit *= 10;
        }
        for (; unit > 0; unit /= 10) {
            out.put((byte) ('0' + value / unit % 10));
        }
    }

    /// Puts a hexadecimal number without allocating a string.
    static void putHex(Buffer out, int value) {
        int shift = Math.max(0, 28 - Integer.numberOfLeadingZeros(value) / 4 * 4);
        for (; shift >= 0; shift -= 4) {
            out.put((byte) Character.forDigit(value >>> shift & 0xf, 16));
        }
    }

    /// Returns the value of a Content-Length header.
    ///
    /// @throws IllegalArgumentException if it is not a number of bytes
    static long requireLength(String value) {
        try {
            long length = Long.parseLong(value);
            if (length >= 0) {
                return length;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new IllegalArgumentException("Content-Length is not a number of bytes: " + value);
    }

    /// Puts the header that delimits the body.
    ///
    /// @param length -1 if unknown: chunked, or delimited by the end of the connection
    static void putFraming(Buffer out, int status, boolean http10, long length) {
        if (Status.isWithoutBody(status) && (status != 304 || length <= 0)) {
            return;
        }
        if (length >= 0) {
            out.put(CONTENT_LENGTH);
            putDecimal(out, length);
            out.put((byte) '\r').put((byte) '\n');
        } else if (!http10) {
            out.put(CHUNKED);
        }
    }

    /// Puts the Connection header if necessary, and the end of the head.
    static Buffer putEnd(Buffer out, boolean closes, boolean http10) {
        if (closes) {
            out.put(CONNECTION_CLOSE);
        } else if (http10) {
            out.put(KEEP_ALIVE);
        }
        return out.put((byte) '\r').put((byte) '\n');
    }

    /// Returns the media type of a Content-Type line; empty if the line is.
    static String typeOf(byte[] line) {
        int name = "Content-Type: ".length();
        return line.length == 0 ? "" : new String(line, name, line.length - name - 2, US_ASCII);
    }

    /// @throws IllegalArgumentException if it is not the status of a final response
    static void requireStatus(int status) {
        if (status < 200 || status > 599) {
            throw new IllegalArgumentException("the status must be 200 to 599, not " + status);
        }
    }

    /// @throws IllegalArgumentException if it is not the status of a redirect
    static void requireRedirection(int status) {
        if (status != 301 && status != 302 && status != 303 && status != 307 && status != 308) {
            throw new IllegalArgumentException(
                    "the status of a redirect must be 301, 302, 303, 307 or 308, not " + status);
        }
    }

    /// @throws IllegalArgumentException if a body is too large to wait in memory for a slow client
    static void requireAtOnce(int bytes) {
        if (bytes > MAX_BODY_BYTES) {
            throw new IllegalArgumentException(
                    "a body of "
                            + bytes
                            + " bytes exceeds the limit of "
                            + MAX_BODY_BYTES
                            + " at once: use stream() or sendFile()");
        }
    }
}
