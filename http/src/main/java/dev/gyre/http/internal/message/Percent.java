package dev.gyre.http.internal.message;

import dev.gyre.http.HttpException;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/// Reads what is encoded with percent signs, strictly: two hex digits behind each of them, and what comes out is
/// UTF-8 in its shortest form. Encodes what is to be sent as an address.
public final class Percent {
    private static final String DIGITS = "0123456789ABCDEF";

    /// What no address has, of all that can be seen, and the space.
    private static final String FOREIGN = " \"<>\\^`{|}";

    private static final byte[] HEX = new byte[128];

    static {
        for (char c = 0; c < HEX.length; c++) {
            HEX[c] = (byte) Character.digit(c, 16);
        }
    }

    private Percent() {}

    /// The text without the encoding.
    ///
    /// @param text bytes as characters, as a head has them
    /// @param form whether a plus sign stands for a space, as in a query
    /// @throws HttpException 400 if it is not encoded as it should
    public static String require(String text, boolean form) {
        String decoded = decode(text, form);
        if (decoded == null) {
            throw new HttpException(
                    400, "two hex digits follow a percent sign, and what comes out is UTF-8");
        }
        return decoded;
    }

    /// The same with refusal as a value.
    ///
    /// @return null if it is not encoded as it should
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
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, 0, length))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /// An address as it may be sent: what stands in none (RFC 3986) is encoded, a space or a letter that is not ASCII,
    /// say, and what is encoded already is left alone. Control characters but the tab stay too, for those to refuse who
    /// put it into a line.
    public static String address(String text) {
        StringBuilder out = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); ) {
            int c = text.codePointAt(i);
            int next = i + Character.charCount(c);
            boolean encoded =
                    c == '%'
                            && i + 2 < text.length()
                            && pair(text.charAt(i + 1), text.charAt(i + 2)) >= 0;
            if (encoded || (c != '%' && c < 0x80 && c != '\t' && FOREIGN.indexOf(c) < 0)) {
                out.appendCodePoint(c);
            } else {
                for (byte octet : text.substring(i, next).getBytes(StandardCharsets.UTF_8)) {
                    out.append('%')
                            .append(DIGITS.charAt(octet >> 4 & 0xf))
                            .append(DIGITS.charAt(octet & 0xf));
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

    /// @return negative if one of them is no hex digit
    private static int pair(char high, char low) {
        return high < HEX.length && low < HEX.length ? HEX[high] << 4 | HEX[low] : -1;
    }
}
