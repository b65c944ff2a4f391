package dev.gyre.http.internal.websocket;

import org.jspecify.annotations.Nullable;

import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/// Inflates a message that is there as a whole: RFC 7692 without context takeover. Until then it stays as it was
/// sent: a thousand bytes may become a million, and those would be held for as long as the last frame is not sent.
///
/// What comes of it is in memory of the loop's, from [#inflate] to [#release()].
///
/// Loop thread only.
final class Inflation {
    /// What the sender left out.
    private static final byte[] TAIL = {0, 0, (byte) 0xff, (byte) 0xff};

    /// An empty block that says it is the last. It is understood as such only where a block may begin: if the one
    /// before it is not whole, these bytes are taken for a part of that.
    private static final byte[] LAST_BLOCK = {3, 0};

    /// So many blocks of a message may say that they are the last. What follows one is begun anew, which takes its time, for
    /// as little as two bytes of which nothing comes.
    private static final int MOST_LAST_BLOCKS = 64;

    private static final int GROWTH = 4;

    private final Workbench bench;

    // Loop thread only.
    private byte[] bytes;
    private int size;
    private int mostBytes;
    private int lastBlocks;

    Inflation(Workbench bench) {
        this.bench = bench;
        bytes = bench.second;
    }

    /// How many bytes a message may have before it is inflated: as many as the longest that cannot be compressed, in
    /// the wordiest form that deflate has for them.
    static int mostPacked(int mostBytes) {
        return (int) Math.min(Integer.MAX_VALUE - 8, mostBytes + (long) mostBytes / 8 + 64);
    }

    /// Inflates a message.
    ///
    /// @param mostBytes how long it may become
    /// @return what is wrong with it; null for nothing
    @Nullable Violation inflate(byte[] packed, int length, int mostBytes) {
        bytes = bench.second;
        size = 0;
        lastBlocks = 0;
        this.mostBytes = mostBytes;
        Inflater inflater = bench.inflater();
        try {
            return length == 0 ? null : inflateAll(inflater, packed, length);
        } catch (DataFormatException e) {
            return Violation.NOT_DEFLATE;
        } finally {
            // Both: a message may be long and nothing come of it.
            bench.worked((long) length + size);
        }
    }

    private @Nullable Violation inflateAll(Inflater inflater, byte[] packed, int length)
            throws DataFormatException {
        if (!accept(inflater, packed, length)) {
            return lastBlocks == MOST_LAST_BLOCKS
                    ? Violation.TOO_MANY_LAST_BLOCKS
                    : Violation.TOO_LONG;
        }
        if (inflater.finished()) {
            return null; // It ends with a block that says it is the last, and nothing follows.
        }
        int before = size;
        boolean whole =
                accept(inflater, TAIL, TAIL.length)
                        && !inflater.finished()
                        && accept(inflater, LAST_BLOCK, LAST_BLOCK.length)
                        && inflater.finished()
                        && size == before;
        return whole ? null : Violation.NOT_DEFLATE;
    }

    /// @return false if it becomes too long, or has too many blocks that say they are the last
    private boolean accept(Inflater inflater, byte[] packed, int length)
            throws DataFormatException {
        inflater.setInput(packed, 0, length);
        while (true) {
            if (size == bytes.length && size < mostBytes) {
                grow();
            }
            boolean full = size == Math.min(bytes.length, mostBytes);
            // At the limit one more byte is asked for, to see whether there is any.
            int made =
                    full
                            ? inflater.inflate(bench.probe)
                            : inflater.inflate(
                                    bytes, size, Math.min(bytes.length, mostBytes) - size);
            if (made > 0 && full) {
                return false;
            }
            size += made;
            if (made == 0) {
                if (!inflater.finished() || inflater.getRemaining() == 0) {
                    return true;
                }
                if (++lastBlocks == MOST_LAST_BLOCKS) {
                    return false;
                }
                // A block may say that it is the last, and others follow: section 7.2.3.4.
                int rest = inflater.getRemaining();
                inflater.reset();
                inflater.setInput(packed, length - rest, rest);
            }
        }
    }

    private void grow() {
        byte[] longer = bench.takeArray((int) Math.min((long) GROWTH * bytes.length, mostBytes));
        System.arraycopy(bytes, 0, longer, 0, size);
        release();
        bytes = longer;
    }

    /// The message, in the first [#size()] bytes.
    byte[] bytes() {
        return bytes;
    }

    int size() {
        return size;
    }

    /// Gives the memory back.
    void release() {
        bench.arrays.give(bytes);
        bytes = bench.second;
    }
}
