package dev.gyre.bench.streams;

import java.nio.ByteBuffer;

/// What the two ends of a bulk transfer agree on, as `bulk.h` has it. A length of 8 bytes, the highest first,
/// opens each transfer. A server that receives is then sent as many bytes, and answers with how many
/// it has got. A server that sends is asked for as many.
final class Bulk {
    static final int LENGTH_BYTES = Long.BYTES;
    static final int PATTERN_BYTES = 16_384;

    private Bulk() {}

    /// Direct memory with the bytes of a transfer from its beginning on.
    ///
    /// @param bytes a multiple of the pattern's, so that one such chunk can follow another
    static ByteBuffer chunk(int bytes) {
        if (bytes <= 0 || bytes % PATTERN_BYTES != 0) {
            throw new IllegalArgumentException(
                    bytes + " bytes are no multiple of " + PATTERN_BYTES);
        }
        ByteBuffer chunk = ByteBuffer.allocateDirect(bytes);
        for (int i = 0; i < bytes; i++) {
            int offset = i % PATTERN_BYTES;
            chunk.put((byte) (offset * 31 + offset / 256));
        }
        return chunk.flip();
    }
}
