package dev.gyre.http.internal.websocket;

import org.jspecify.annotations.Nullable;

import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/// Inflates complete messages: RFC 7692 without context takeover. An incomplete message stays
/// compressed, because a thousand bytes may become a million.
///
/// The result is in memory of the loop from [#inflate] until [#release()].
///
/// Loop thread only.
final class Inflation {
    /// The end of a flushed block, which the sender omits.
    private static final byte[] TAIL = {0, 0, (byte) 0xff, (byte) 0xff};

    /// An empty final block. The inflater recognizes it only where a block may begin. After an
    /// incomplete block it takes these bytes for a part of that block.
    private static final byte[] FINAL_BLOCK = {3, 0};

    /// The maximum of final blocks in a message. After each the inflater is reset, which is slow,
    /// while such a block may have two bytes and no output.
    private static final int MAX_FINAL_BLOCKS = 64;

    private static final int GROWTH = 4;

    private final WebSocketScratch scratch;

    /// Receives the byte beyond the limit.
    private final byte[] probe = new byte[1];

    // Loop thread only.
    private @Nullable Inflater inflater;

    /// The message in the first [#size] bytes.
    byte[] bytes;

    int size;
    private int maxBytes;
    private int finalBlocks;

    Inflation(WebSocketScratch scratch) {
        this.scratch = scratch;
        bytes = scratch.second;
    }

    /// Returns the maximum compressed length of a message: that of incompressible data in the most
    /// verbose encoding.
    static int maxCompressed(int maxBytes) {
        return (int) Math.min(Integer.MAX_VALUE - 8, maxBytes + (long) maxBytes / 8 + 64);
    }

    /// Inflates a message.
    ///
    /// @param maxBytes the maximum length of the result
    /// @return the error in it; null if absent
    @Nullable ProtocolError inflate(byte[] compressed, int length, int maxBytes) {
        bytes = scratch.second;
        size = 0;
        finalBlocks = 0;
        this.maxBytes = maxBytes;
        Inflater known = inflater;
        if (known == null) {
            known = new Inflater(true);
            inflater = known;
        }
        known.reset();
        try {
            return length == 0 ? null : inflateAll(known, compressed, length);
        } catch (DataFormatException e) {
            return ProtocolError.NOT_DEFLATE;
        } finally {
            // Both count: a long message may have no output.
            scratch.addWork((long) length + size);
        }
    }

    private @Nullable ProtocolError inflateAll(Inflater inflater, byte[] compressed, int length)
            throws DataFormatException {
        if (!accept(inflater, compressed, length)) {
            return finalBlocks == MAX_FINAL_BLOCKS
                    ? ProtocolError.TOO_MANY_FINAL_BLOCKS
                    : ProtocolError.TOO_LONG;
        }
        if (inflater.finished()) {
            return null; // The message ends with a final block.
        }
        int before = size;
        boolean complete =
                accept(inflater, TAIL, TAIL.length)
                        && !inflater.finished()
                        && accept(inflater, FINAL_BLOCK, FINAL_BLOCK.length)
                        && inflater.finished()
                        && size == before;
        return complete ? null : ProtocolError.NOT_DEFLATE;
    }

    /// @return false if the result is too long, or there are too many final blocks
    private boolean accept(Inflater inflater, byte[] compressed, int length)
            throws DataFormatException {
        inflater.setInput(compressed, 0, length);
        while (true) {
            if (size == bytes.length && size < maxBytes) {
                grow();
            }
            int room = Math.min(bytes.length, maxBytes) - size;
            // At the limit, request one more byte to detect a longer message.
            int made = room == 0 ? inflater.inflate(probe) : inflater.inflate(bytes, size, room);
            if (made > 0 && room == 0) {
                return false;
            }
            size += made;
            if (made == 0) {
                if (!inflater.finished() || inflater.getRemaining() == 0) {
                    return true;
                }
                if (++finalBlocks == MAX_FINAL_BLOCKS) {
                    return false;
                }
                // Other blocks may follow a final one: section 7.2.3.4.
                int rest = inflater.getRemaining();
                inflater.reset();
                inflater.setInput(compressed, length - rest, rest);
            }
        }
    }

    private void grow() {
        long wanted = Math.min((long) GROWTH * bytes.length, maxBytes);
        byte[] longer = scratch.arrays.acquire((int) wanted);
        System.arraycopy(bytes, 0, longer, 0, size);
        release();
        bytes = longer;
    }

    /// Releases the memory. Idempotent.
    void release() {
        scratch.arrays.release(bytes);
        bytes = scratch.second;
    }

    /// Frees native memory.
    void close() {
        if (inflater != null) {
            inflater.end();
            inflater = null;
        }
    }
}
