package dev.gyre.http.internal.websocket;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Validates UTF-8 that arrives in pieces, and detects the first invalid byte.
///
/// Between two bytes it keeps the number of missing bytes and the bounds of the next one. The
/// bounds exclude overlong forms, surrogates, and characters beyond U+10FFFF.
///
/// Loop thread only.
final class Utf8Validator {
    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long HIGH_BITS = 0x8080_8080_8080_8080L;
    private static final int MIN = 0x80;
    private static final int MAX = 0xbf;

    // Loop thread only.
    private int missing;
    private int min;
    private int max;

    /// Prepares for another text.
    void reset() {
        missing = 0;
    }

    /// Returns whether the text ends with a complete character.
    boolean isComplete() {
        return missing == 0;
    }

    /// Validates the next bytes. After an invalid byte the result is undefined until [#reset()].
    boolean accept(byte[] bytes, int from, int length) {
        int end = from + length;
        int at = from;
        while (at < end) {
            if (missing == 0) {
                at = skipAscii(bytes, at, end);
                if (at == end) {
                    return true;
                }
                if (!begin(bytes[at] & 0xff)) {
                    return false;
                }
            } else {
                int next = bytes[at] & 0xff;
                if (next < min || next > max) {
                    return false;
                }
                missing--;
                min = MIN;
                max = MAX;
            }
            at++;
        }
        return true;
    }

    private static int skipAscii(byte[] bytes, int from, int end) {
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
        min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : MIN;
        max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : MAX;
        missing = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
        return first >= 0xc2 && first <= 0xf4;
    }
}
