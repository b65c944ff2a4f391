package dev.gyre.internal.sys;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

/// Text on its way to another program, which sees bytes. They are in the encoding of the user's
/// locale, because names of files came from there. The locale of a bare container is plain ASCII,
/// and says only that nobody set one: then it is UTF-8.
public final class NativeText {
    private static final Charset CHARSET = charset(System.getProperty("native.encoding", "UTF-8"));

    private NativeText() {}

    static Charset charset(String locale) {
        if (!Charset.isSupported(locale)) {
            return StandardCharsets.UTF_8;
        }
        Charset charset = Charset.forName(locale);
        return charset.equals(StandardCharsets.US_ASCII) ? StandardCharsets.UTF_8 : charset;
    }

    /// The bytes of a text, without the final zero.
    ///
    /// @param what the text's role, for the message
    /// @throws IllegalArgumentException if the bytes would not mean the text
    public static byte[] encode(String what, String text) {
        return encode(CHARSET, what, text);
    }

    static byte[] encode(Charset charset, String what, String text) {
        int nul = text.indexOf('\0');
        if (nul >= 0) {
            throw new IllegalArgumentException(
                    what
                            + " has a NUL character at index "
                            + nul
                            + ", where another program would see its end: "
                            + text.replace('\0', '\u2400'));
        }
        try {
            ByteBuffer bytes = charset.newEncoder().encode(CharBuffer.wrap(text));
            byte[] exact = new byte[bytes.remaining()];
            bytes.get(exact);
            return exact;
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    what + " cannot be written in " + charset + ", the locale's: " + text, e);
        }
    }
}
