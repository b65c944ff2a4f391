package dev.gyre.http.internal.websocket;

import java.util.zip.Deflater;

/// Compresses one message by itself: RFC 7692 without context takeover, so that nothing is kept between messages and
/// one compressed form serves all sockets.
final class Deflation {
    /// Shorter messages gain less than they cost.
    static final int LEAST_BYTES = 64;

    /// How deflate ends when it is flushed; left out on the wire.
    static final int TAIL_BYTES = 4;

    private Deflation() {}

    /// Compresses a message.
    ///
    /// @param to with room for `length + TAIL_BYTES`
    /// @return how many bytes it has become; -1 if those would not be fewer
    static int pack(Workbench bench, byte[] from, int offset, int length, byte[] to) {
        Deflater deflater = bench.deflater();
        int room = length + TAIL_BYTES;
        deflater.setInput(from, offset, length);
        int packed = deflater.deflate(to, 0, room, Deflater.SYNC_FLUSH);
        bench.worked(length);
        return packed < room ? packed - TAIL_BYTES : -1;
    }
}
