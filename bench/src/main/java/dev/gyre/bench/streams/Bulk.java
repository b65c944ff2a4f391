package dev.gyre.bench.streams;

import java.nio.ByteBuffer;

/// The protocol of a bulk transfer, as in `bulk.h`. A transfer starts with a length of 8 bytes,
/// big-endian. A receiving server then gets as many bytes, and responds with the number received. A
/// sending server sends as many bytes.
final class Bulk {
    static final int LENGTH_BYTES = Long.BYTES;
    static final int PATTERN_BYTES = 16_384;

    private Bulk() {}

    /// Returns direct memory with the first bytes of a transfer.
    ///
    /// @param bytes a multiple of the pattern's length, so that chunks can follow each other
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
