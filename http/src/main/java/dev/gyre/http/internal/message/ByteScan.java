package dev.gyre.http.internal.message;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Scans bytes, eight at a time.
///
/// Sums use seven bits of each byte, so that nothing carries into the next byte. Common shorter
/// tricks are wrong for bytes after the first hit, which are in the lower bits here.
final class ByteScan {
    static final VarHandle WORD =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    static final byte CR = '\r';
    static final byte LF = '\n';
    static final byte SPACE = ' ';
    static final byte TAB = '\t';

    static final boolean[] DIGIT = set("0123456789");
    static final boolean[] HEX = set("0123456789abcdefABCDEF");
    static final boolean[] TOKEN =
            set(
                    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            + "!#$%&'*+-.^_`|~");

    /// Bytes of a path or a query except `?` and escapes (RFC 3986, 3.3 and 3.4). The grammar
    /// allows brackets only in an authority, but browsers send them unescaped in queries.
    private static final boolean[] PATH =
            set(
                    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            + "-._~!$&'()*+,;=:@/[]");

    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x8080808080808080L;
    private static final long LOWS = 0x7f * ONES;
    private static final long CASE = 0x20 * ONES;

    private ByteScan() {}

    static boolean[] set(String members) {
        boolean[] set = new boolean[256];
        for (int i = 0; i < members.length(); i++) {
            set[members.charAt(i)] = true;
        }
        return set;
    }

    static long word(byte[] data, int at) {
        return (long) WORD.get(data, at);
    }

    /// Returns eight bytes, with zeros beyond the end. Zeros are controls and in no set, so every
    /// scan stops at the end.
    ///
    /// @param data of a [HeadBuffer], which has room beyond its end
    static long word(byte[] data, int at, int end) {
        int left = end - at;
        long word = (long) WORD.get(data, at);
        return left >= Long.BYTES ? word : word & ~(-1L >>> (Byte.SIZE * left));
    }

    static long word(String text) {
        long word = 0;
        for (int i = 0; i < text.length(); i++) {
            word |= (long) text.charAt(i) << (Long.SIZE - Byte.SIZE * (i + 1));
        }
        return word;
    }

    /// Returns letters in lower case. Only for bytes of names: others may change.
    static long lowerName(long word) {
        return word | CASE;
    }

    /// Returns the index of the first byte that is not in the set; the end if absent.
    ///
    /// @param set contains all letters, digits, `-` and `.`, which are compared eight at a time
    static int firstNot(boolean[] set, byte[] data, int from, int end) {
        for (int at = from; at < end; at += Long.BYTES) {
            long word = word(data, at, end);
            int first = Long.numberOfLeadingZeros(~plain(word) & HIGHS) / Byte.SIZE;
            for (int i = first; i < Long.BYTES; i++) {
                if (!set[(int) (word >>> (56 - Byte.SIZE * i)) & 0xff]) {
                    return at + i;
                }
            }
        }
        return end;
    }

    /// Does the same for any set.
    static int firstNotIn(boolean[] set, byte[] data, int from, int end) {
        int at = from;
        while (at < end && set[data[at] & 0xff]) {
            at++;
        }
        return at;
    }

    /// Returns the highest bit of each byte that is a letter, a digit, `-` or `.`.
    private static long plain(long word) {
        return plainOrSlash(word) & ~zeros(word ^ ('/' * ONES));
    }

    private static long plainOrSlash(long word) {
        long low = word & LOWS;
        long small = low | CASE;
        long letters = (small + (0x80 - 'a') * ONES) & ~(small + (0x7f - 'z') * ONES);
        // From - to 9: also the dot and the slash.
        long digits = (low + (0x80 - '-') * ONES) & ~(low + (0x7f - '9') * ONES);
        return (letters | digits) & ~word;
    }

    /// Returns the index of the first control byte except tabs; the end if absent.
    static int firstControl(byte[] data, int from, int end) {
        int at = from;
        while (at < end) {
            long word = word(data, at, end);
            long low = word & LOWS;
            long controls = (~(low + 0x60 * ONES) | (low + ONES)) & ~word & HIGHS;
            if (controls == 0) {
                at += Long.BYTES;
                continue;
            }
            int first = Long.numberOfLeadingZeros(controls);
            at += first / Byte.SIZE;
            if (at >= end || (byte) (word >>> (56 - first)) != TAB) {
                return at;
            }
            at++;
        }
        return end;
    }

    /// Returns the index of the first byte that ends a path, is illegal in it, or is `?` or `%`;
    /// the end if absent.
    static int firstOutsidePath(byte[] data, int from, int end) {
        for (int at = from; at < end; at += Long.BYTES) {
            long word = word(data, at, end);
            for (long others = ~plainOrSlash(word) & HIGHS; others != 0; ) {
                int bits = Long.numberOfLeadingZeros(others);
                if (!PATH[(int) (word >>> (56 - bits)) & 0xff]) {
                    return at + bits / Byte.SIZE;
                }
                others ^= Long.MIN_VALUE >>> bits;
            }
        }
        return end;
    }

    private static long zeros(long word) {
        return ~(((word & LOWS) + LOWS) | word);
    }

    /// Returns the index after the CRLF that ends a text; 0 if it is incomplete; or an error code.
    ///
    /// @param at the result of [#firstControl]
    static int textEnd(byte[] data, int at, int end) {
        if (at == end) {
            return 0;
        }
        return switch (data[at]) {
            case CR -> lineEnd(data, at, end);
            case LF -> ParseError.BARE_LF.code();
            default -> ParseError.CONTROL_BYTE.code();
        };
    }

    /// Returns the index after a CR and its LF; 0 if it is incomplete; or an error code.
    static int lineEnd(byte[] data, int cr, int end) {
        if (cr + 1 >= end) {
            return 0;
        }
        return data[cr + 1] == LF ? cr + 2 : ParseError.BARE_CR.code();
    }

    static boolean isSpace(byte octet) {
        return octet == SPACE || octet == TAB;
    }

    static int skipSpace(byte[] data, int from, int end) {
        int at = from;
        while (at < end && isSpace(data[at])) {
            at++;
        }
        return at;
    }

    static int trimSpace(byte[] data, int from, int end) {
        int last = end;
        while (last > from && isSpace(data[last - 1])) {
            last--;
        }
        return last;
    }

    /// Returns whether the bytes equal the text, without regard to case.
    static boolean is(byte[] data, int at, int end, String text) {
        if (end - at != text.length()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (lower(data[at + i] & 0xff) != lower(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    static int lower(int octet) {
        return octet >= 'A' && octet <= 'Z' ? octet + ('a' - 'A') : octet;
    }
}
