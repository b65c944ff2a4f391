package dev.gyre.http.internal.server;

import dev.gyre.http.HttpException;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/// Reads what is encoded with percent signs.
public final class Percent {
    private Percent() {}

    /// The text without the encoding.
    ///
    /// @param form whether a plus sign stands for a space, as in a query
    /// @throws HttpException 400 if a percent sign is not followed by two hex digits, or what comes out is no UTF-8
    public static String decode(String text, boolean form) {
        if (text.indexOf('%') < 0 && (!form || text.indexOf('+') < 0)) {
            return text;
        }
        byte[] bytes = new byte[text.length()];
        int length = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '%') {
                int high = i + 2 < text.length() ? Character.digit(text.charAt(i + 1), 16) : -1;
                int low = i + 2 < text.length() ? Character.digit(text.charAt(i + 2), 16) : -1;
                if (high < 0 || low < 0) {
                    throw new HttpException(400, "two hex digits follow a percent sign");
                }
                bytes[length++] = (byte) (high << 4 | low);
                i += 2;
            } else {
                bytes[length++] = (byte) (form && c == '+' ? ' ' : c);
            }
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, 0, length))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new HttpException(400, "what is encoded with percent signs is no UTF-8");
        }
    }
}
