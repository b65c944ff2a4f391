package dev.gyre.http.internal.websocket;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Whether bytes that come in pieces are UTF-8, known with the first byte that is not.
///
/// Between two bytes it keeps how many are missing of the character, and within which bounds the next one has to be:
/// the bounds rule out what is longer than it needs to be, halves of surrogate pairs, and what is beyond U+10FFFF.
final class Utf8Check {
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;
    private static final int LOWEST = 0x80;
    private static final int HIGHEST = 0xbf;

    // Loop thread only.
    private int missing;
    private int least;
    private int most;

    /// Forgets what came before.
    void reset() {
        missing = 0;
    }

    /// Whether what came so far ends with a whole character.
    boolean isWhole() {
        return missing == 0;
    }

    /// Goes on with more bytes.
    ///
    /// @return whether all is well so far; if not, nothing is told by what follows
    boolean accept(byte[] bytes, int from, int length) {
        int end = from + length;
        int at = from;
        while (at < end) {
            if (missing == 0) {
                at = afterAscii(bytes, at, end);
                if (at == end) {
                    return true;
                }
                if (!begin(bytes[at] & 0xff)) {
                    return false;
                }
            } else {
                int next = bytes[at] & 0xff;
                if (next < least || next > most) {
                    return false;
                }
                missing--;
                least = LOWEST;
                most = HIGHEST;
            }
            at++;
        }
        return true;
    }

    private static int afterAscii(byte[] bytes, int from, int end) {
        int at = from;
        while (at <= end - Long.BYTES && ((long) LONGS.get(bytes, at) & HIGH_BITS) == 0) {
            at += Long.BYTES;
        }
        while (at < end && bytes[at] >= 0) {
            at++;
        }
        return at;
    }

    private boolean begin(int first) {
        least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : LOWEST;
        most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : HIGHEST;
        missing = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        return first >= 0xc2 && first <= 0xf4;
    }
}
