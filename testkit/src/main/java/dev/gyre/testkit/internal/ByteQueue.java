package dev.gyre.testkit.internal;

import java.util.ArrayDeque;
import java.util.Deque;

/// A queue of bytes in the pieces in which they arrived. The caller limits its size.
final class ByteQueue {
    private static final class Piece {
        final byte[] bytes;
        int from;

        Piece(byte[] bytes) {
            this.bytes = bytes;
        }

        int left() {
            return bytes.length - from;
        }
    }

    private final Deque<Piece> pieces = new ArrayDeque<>();
    private int size;

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /// Adds a piece without copying it.
    void add(byte[] bytes) {
        if (bytes.length > 0) {
            pieces.add(new Piece(bytes));
            size += bytes.length;
        }
    }

    /// Moves bytes into an array.
    ///
    /// @return the number of pieces consumed
    int take(byte[] into, int offset, int length) {
        int taken = 0;
        int used = 0;
        while (taken < length) {
            Piece first = pieces.getFirst();
            int some = Math.min(length - taken, first.left());
            System.arraycopy(first.bytes, first.from, into, offset + taken, some);
            first.from += some;
            taken += some;
            if (first.left() == 0) {
                pieces.removeFirst();
                used++;
            }
        }
        size -= length;
        return used;
    }

    byte[] take(int length) {
        byte[] bytes = new byte[length];
        take(bytes, 0, length);
        return bytes;
    }

    void clear() {
        pieces.clear();
        size = 0;
    }
}
