package dev.gyre.http.internal.message;

import dev.gyre.http.HttpException;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// Decodes percent-encoding, strictly: two hex digits follow each percent sign, and the result is
/// valid UTF-8. Encodes URIs.
public final class PercentEncoding {
    private static final String DIGITS = "0123456789ABCDEF";

    /// ASCII characters that no URI contains, except controls.
    private static final String ILLEGAL = " \"<>\\^`{|}";

    private static final byte[] HEX = new byte[128];

    static {
        for (char c = 0; c < HEX.length; c++) {
            HEX[c] = (byte) Character.digit(c, 16);
        }
    }

    private PercentEncoding() {}

    /// Decodes a text.
    ///
    /// @param text bytes as ISO 8859-1 characters
    /// @param form whether a plus sign is a space, as in a query
    /// @throws HttpException 400 if the encoding is invalid
    public static String require(String text, boolean form) {
        String decoded = decode(text, form);
        if (decoded == null) {
            throw new HttpException(
                    400, "percent-encoding must be two hex digits after each %, and valid UTF-8");
        }
        return decoded;
    }

    /// Decodes a text as [#require] does.
    ///
    /// @return null if the encoding is invalid
    public static @Nullable String decode(String text, boolean form) {
        if (isPlain(text, form)) {
            return text;
        }
        byte[] bytes = new byte[text.length()];
        int length = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int octet = c;
            if (c == '%') {
                octet = i + 2 < text.length() ? pair(text.charAt(i + 1), text.charAt(i + 2)) : -1;
                i += 2;
            } else if (form && c == '+') {
                octet = ' ';
            }
            if (octet < 0 || octet > 0xff) {
                return null;
            }
            bytes[length++] = (byte) octet;
        }
        return Texts.utf8(ByteBuffer.wrap(bytes, 0, length));
    }

    /// Encodes all characters except ASCII letters, digits and some others.
    ///
    /// @param others the other characters that stay as they are
    public static String encode(String text, String others) {
        StringBuilder out = new StringBuilder(text.length() + 16);
        for (byte octet : text.getBytes(StandardCharsets.UTF_8)) {
            if (octet > 0 && (Character.isLetterOrDigit(octet) || others.indexOf(octet) >= 0)) {
                out.append((char) octet);
            } else {
                appendEscape(out, octet);
            }
        }
        return out.toString();
    }

    private static void appendEscape(StringBuilder out, byte octet) {
        out.append('%').append(DIGITS.charAt(octet >> 4 & 0xf)).append(DIGITS.charAt(octet & 0xf));
    }

    /// Encodes the characters that are illegal in a URI (RFC 3986), such as spaces and non-ASCII
    /// letters. Keeps what is encoded already, and control characters except tabs, which the check
    /// of header values rejects.
    public static String address(String text) {
        StringBuilder out = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            int next = i + Character.charCount(c);
            boolean encoded =
                    c == '%'
                            && i + 2 < text.length()
                            && pair(text.charAt(i + 1), text.charAt(i + 2)) >= 0;
            if (encoded || (c != '%' && c < 0x80 && c != '\t' && ILLEGAL.indexOf(c) < 0)) {
                out.appendCodePoint(c);
            } else {
                for (byte octet : text.substring(i, next).getBytes(StandardCharsets.UTF_8)) {
                    appendEscape(out, octet);
                }
            }
            i = next;
        }
        return out.toString();
    }

    private static boolean isPlain(String text, boolean form) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%' || c >= 0x80 || (form && c == '+')) {
                return false;
            }
        }
        return true;
    }

    /// @return negative if one of them is not a hex digit
    private static int pair(char high, char low) {
        return high < HEX.length && low < HEX.length ? HEX[high] << 4 | HEX[low] : -1;
    }
}
