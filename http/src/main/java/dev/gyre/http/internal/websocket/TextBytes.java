package dev.gyre.http.internal.websocket;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CodingErrorAction;

/// Makes UTF-8 of text in memory that is used again; otherwise as [String#getBytes] does it.
///
/// Loop thread only.
final class TextBytes {
    /// How much of a text is worked on at a time.
    private static final int PIECE_CHARS = 8 << 10;

    private static final int MOST_BYTES_A_CHAR = 3;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Workbench bench;
    private final CharsetEncoder encoder =
            UTF_8.newEncoder()
                    .onMalformedInput(CodingErrorAction.REPLACE)
                    .onUnmappableCharacter(CodingErrorAction.REPLACE);
    private final CharBuffer piece = CharBuffer.allocate(PIECE_CHARS);

    // Loop thread only.
    private ByteBuffer out = NOTHING;

    TextBytes(Workbench bench) {
        this.bench = bench;
    }

    /// Encodes a text: what comes of it is in [#bytes()], until [#release()].
    ///
    /// @return how many bytes
    int encode(String text) {
        int length = text.length();
        out =
                ByteBuffer.wrap(
                        length <= bench.scratch.length ? bench.scratch : bench.takeArray(length));
        encoder.reset();
        int from = 0;
        while (from < length) {
            int count = Math.min(PIECE_CHARS, length - from);
            text.getChars(from, from + count, piece.array(), 0);
            piece.clear().limit(count);
            boolean overflows = encoder.encode(piece, out, from + count == length).isOverflow();
            from += piece.position(); // Half a pair at the end of a piece is left for the next one.
            if (overflows) {
                grow(length - from);
            }
        }
        return out.position();
    }

    private void grow(int charsLeft) {
        int size = out.position();
        byte[] longer =
                bench.takeArray(
                        Math.addExact(size, Math.multiplyExact(MOST_BYTES_A_CHAR, charsLeft)));
        System.arraycopy(out.array(), 0, longer, 0, size);
        release();
        out = ByteBuffer.wrap(longer).position(size);
    }

    byte[] bytes() {
        return out.array();
    }

    /// Gives the memory back.
    void release() {
        bench.arrays.give(out.array());
        out = NOTHING; // Given twice, it would be that of two messages.
    }
}
