package dev.gyre.http.internal.websocket;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// Masks and unmasks payloads, eight bytes at a time. Both are the same operation.
///
/// The first byte of a key is its highest. An offset is the number of preceding bytes in the same
/// frame.
final class Masking {
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private Masking() {}

    /// Masks a range of an array in place.
    static void apply(byte[] bytes, int from, int length, int key, long offset) {
        if (key == 0) {
            return;
        }
        int rotated = rotate(key, offset);
        long wide = widen(rotated);
        int end = from + length;
        int at = from;
        for (; at <= end - Long.BYTES; at += Long.BYTES) {
            LONGS.set(bytes, at, (long) LONGS.get(bytes, at) ^ wide);
        }
        for (int shift = 24; at < end; at++, shift -= 8) {
            bytes[at] ^= (byte) (rotated >>> (shift & 31));
        }
    }

    /// Copies bytes to another buffer and masks the copy. Advances both positions. Both buffers are
    /// in big-endian order.
    static void copy(ByteBuffer from, ByteBuffer to, int length, int key, long offset) {
        int rotated = rotate(key, offset);
        long wide = widen(rotated);
        int left = length;
        for (; left >= Long.BYTES; left -= Long.BYTES) {
            to.putLong(from.getLong() ^ wide);
        }
        for (int shift = 24; left > 0; left--, shift -= 8) {
            to.put((byte) (from.get() ^ rotated >>> (shift & 31)));
        }
    }

    private static int rotate(int key, long offset) {
        return Integer.rotateLeft(key, (int) (offset & 3) << 3);
    }

    private static long widen(int key) {
        return (long) key << 32 | (key & 0xffff_ffffL);
    }
}
