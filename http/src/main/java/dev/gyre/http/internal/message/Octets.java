package dev.gyre.http.internal.message;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/// Looks at bytes eight at a time.
///
/// Sums are over seven bits a byte, so that nothing carries into the neighbour: the usual shorter tricks are
/// wrong for bytes behind the first hit, and those come first here, as the first byte is in the highest bits.
final class Octets {
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

    private Octets() {}

    static boolean[] set(String members) {
        boolean[] set = new boolean[256];
        for (int i = 0; i < members.length(); i++) {
            set[members.charAt(i)] = true;
        }
        return set;
    }

    /// Eight bytes that are there.
    static long word(byte[] data, int at) {
        return (long) WORD.get(data, at);
    }

    /// The eight bytes from a position on; beyond the end there are zeros, which are in no set and are
    /// controls: every scan stops at the end by itself.
    ///
    /// @param data of a [Window]: it has room beyond its end
    /// @param at up to the end
    static long word(byte[] data, int at, int end) {
        int left = end - at;
        long word = (long) WORD.get(data, at);
        return left >= Long.BYTES ? word : word & ~(-1L >>> (Byte.SIZE * left));
    }

    /// Up to eight characters as [#word] has them.
    static long word(String text) {
        long word = 0;
        for (int i = 0; i < text.length(); i++) {
            word |= (long) text.charAt(i) << (Long.SIZE - Byte.SIZE * (i + 1));
        }
        return word;
    }

    /// Letters in lower case, if all bytes are those of names: others may become what they are not.
    static long lowerName(long word) {
        return word | CASE;
    }

    /// Where the first byte is that is not in the set; the end if there is none.
    ///
    /// @param set has all letters, digits, `-` and `.`, which are looked at eight at a time
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

    /// The same for a set of any kind.
    static int firstNotIn(boolean[] set, byte[] data, int from, int end) {
        int at = from;
        while (at < end && set[data[at] & 0xff]) {
            at++;
        }
        return at;
    }

    /// The highest bit of each byte that is a letter, a digit, `-` or `.`.
    private static long plain(long word) {
        return plainOrSlash(word) & ~zeros(word ^ ('/' * ONES));
    }

    private static long plainOrSlash(long word) {
        long low = word & LOWS;
        long small = low | CASE;
        long letters = (small + (0x80 - 'a') * ONES) & ~(small + (0x7f - 'z') * ONES);
        // From - to 9 there are also the dot and the slash.
        long digits = (low + (0x80 - '-') * ONES) & ~(low + (0x7f - '9') * ONES);
        return (letters | digits) & ~word;
    }

    /// Where the first control byte is that is not a tab; the end if there is none.
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

    /// Where the next line begins after text that [#firstControl] found the end of.
    ///
    /// @return behind its CRLF; 0 if that is not there yet, or the code of a refusal
    static int textEnd(byte[] data, int at, int end) {
        if (at == end) {
            return 0;
        }
        return switch (data[at]) {
            case CR -> lineEnd(data, at, end);
            case LF -> Refusal.BARE_LF.code();
            default -> Refusal.CONTROL_BYTE.code();
        };
    }

    /// Where the next line begins after a CR.
    ///
    /// @return behind its LF; 0 if that is not there yet, or the code of a refusal
    static int lineEnd(byte[] data, int cr, int end) {
        if (cr + 1 >= end) {
            return 0;
        }
        return data[cr + 1] == LF ? cr + 2 : Refusal.BARE_CR.code();
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

    /// Whether the bytes are this text, without regard to case.
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
