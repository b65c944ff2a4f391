package dev.gyre.http.internal.server;

import dev.gyre.io.Buffer;

/// Puts numbers as text, without making text of them.
final class Numbers {
    private static final byte[] HEX = {
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'
    };

    private Numbers() {}

    static void putDecimal(Buffer out, long value) {
        long unit = 1;
        while (value / unit >= 10) {
            unit *= 10;
        }
        for (; unit > 0; unit /= 10) {
            out.put((byte) ('0' + value / unit % 10));
        }
    }

    static void putHex(Buffer out, int value) {
        int shift = Math.max(0, 28 - Integer.numberOfLeadingZeros(value) / 4 * 4);
        for (; shift >= 0; shift -= 4) {
            out.put(HEX[value >>> shift & 0xf]);
        }
    }
}
