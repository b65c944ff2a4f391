package dev.gyre.http.internal.message;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;

/// Text of clients: decoded strictly, and shown so that it stays on one line of a log or response.
public final class Texts {
    private static final int MAX_SHOWN = 80;

    private Texts() {}

    /// Returns the text; `null` if the bytes are not UTF-8.
    public static @Nullable String utf8(byte[] bytes) {
        return utf8(ByteBuffer.wrap(bytes));
    }

    /// Returns the text; `null` if the bytes are not UTF-8.
    public static @Nullable String utf8(ByteBuffer bytes) {
        try {
            return UTF_8.newDecoder().decode(bytes).toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /// Returns the text for a message: short and without control characters.
    public static String shown(String text) {
        String cut = text.length() > MAX_SHOWN ? text.substring(0, MAX_SHOWN) + "…" : text;
        return cut.replaceAll("\\p{Cntrl}", "?");
    }
}
