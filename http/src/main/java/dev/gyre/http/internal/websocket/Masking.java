package dev.gyre.http.internal.websocket;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Puts a mask on bytes, or takes it off: the same thing, eight bytes at a time.
final class Masking {
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private Masking() {}

    /// @param key its first byte highest
    /// @param phase how many bytes of the same frame came before
    static void apply(byte[] bytes, int from, int length, int key, long phase) {
        if (key == 0) {
            return;
        }
        int turned = Integer.rotateLeft(key, (int) (phase & 3) << 3);
        long wide = (long) turned << 32 | (turned & 0xffff_ffffL);
        int end = from + length;
        int at = from;
        for (; at <= end - Long.BYTES; at += Long.BYTES) {
            LONGS.set(bytes, at, (long) LONGS.get(bytes, at) ^ wide);
        }
        for (int shift = 24; at < end; at++, shift -= 8) {
            bytes[at] ^= (byte) (turned >>> (shift & 31));
        }
    }
}
