package dev.gyre.http.internal.message;

import dev.gyre.io.Buffer;

/// Looks at bytes of a buffer eight at a time: a look costs the buffer's checks, and eight cost no more than one.
///
/// Sums are over seven bits a byte, so that nothing carries into the neighbour: the usual shorter tricks are wrong for bytes
/// behind the first hit, and those come first here, as the first byte is in the highest bits.
final class Octets {
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

    private static final long ONES = 0x0101010101010101L;
    private static final long HIGHS = 0x80 * ONES;
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

    /// The eight bytes from a position on; beyond the end there are zeros, which are in no set and are controls: every
    /// scan stops at the end by itself.
    ///
    /// @param at up to the end
    static long word(Buffer data, int at, int end) {
        return end - at >= Long.BYTES ? data.peekLong(at) : lastWord(data, at, end);
    }

    private static long lastWord(Buffer data, int at, int end) {
        int left = end - at;
        if (left == 0) {
            return 0;
        }
        if (end >= Long.BYTES) {
            return data.peekLong(end - Long.BYTES) << (Long.SIZE - Byte.SIZE * left);
        }
        long word = 0;
        for (int i = 0; i < left; i++) {
            word |= (data.peek(at + i) & 0xffL) << (Long.SIZE - Byte.SIZE * (i + 1));
        }
        return word;
    }

    /// Up to eight characters as [#word] has them.
    static long word(String text) {
        long word = 0;
        for (int i = 0; i < text.length(); i++) {
            word |= (long) text.charAt(i) << (Long.SIZE - Byte.SIZE * (i + 1));
        }
        return word;
    }

    /// Letters in lower case, if all bytes are of names: others may become what they are not.
    static long lower(long word) {
        return word | CASE;
    }

    /// Where the first byte is that is not in the set; the end if there is none.
    ///
    /// @param set has all letters, digits, `-` and `.`, which are looked at eight at a time
    static int firstNot(boolean[] set, Buffer data, int from, int end) {
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
    static int firstNotIn(boolean[] set, Buffer data, int from, int end) {
        int at = from;
        while (at < end && set[data.peek(at) & 0xff]) {
            at++;
        }
        return at;
    }

    /// The highest bit of each byte that is a letter, a digit, `-` or `.`.
    private static long plain(long word) {
        long low = word & LOWS;
        long small = low | CASE;
        long letters = (small + (0x80 - 'a') * ONES) & ~(small + (0x7f - 'z') * ONES);
        // From - to 9 there is also the slash.
        long digits = (low + (0x80 - '-') * ONES) & ~(low + (0x7f - '9') * ONES);
        return (letters | (digits & ~zeros(word ^ ('/' * ONES)))) & ~word;
    }

    /// Where the first control byte is that is not a tab; the end if there is none.
    static int firstControl(Buffer data, int from, int end) {
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

    /// Where the first byte is that is not visible ASCII, or is `#` or `?`; the end if there is none.
    static int firstOutsidePath(Buffer data, int from, int end) {
        for (int at = from; at < end; at += Long.BYTES) {
            long word = word(data, at, end);
            long low = word & LOWS;
            long outside = ~(low + 0x5f * ONES) | (low + ONES) | word;
            long marks = zeros(word ^ ('?' * ONES)) | zeros(word ^ ('#' * ONES));
            outside = (outside | marks) & HIGHS;
            if (outside != 0) {
                return at + Long.numberOfLeadingZeros(outside) / Byte.SIZE;
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
    static int textEnd(Buffer data, int at, int end) {
        if (at == end) {
            return 0;
        }
        return switch (data.peek(at)) {
            case CR -> lineEnd(data, at, end);
            case LF -> Refusal.BARE_LF.code();
            default -> Refusal.CONTROL_BYTE.code();
        };
    }

    /// Where the next line begins after a CR.
    ///
    /// @return behind its LF; 0 if that is not there yet, or the code of a refusal
    static int lineEnd(Buffer data, int cr, int end) {
        if (cr + 1 >= end) {
            return 0;
        }
        return data.peek(cr + 1) == LF ? cr + 2 : Refusal.BARE_CR.code();
    }

    static boolean isSpace(byte octet) {
        return octet == SPACE || octet == TAB;
    }

    static int skipSpace(Buffer data, int from, int end) {
        int at = from;
        while (at < end && isSpace(data.peek(at))) {
            at++;
        }
        return at;
    }

    static int trimSpace(Buffer data, int from, int end) {
        int last = end;
        while (last > from && isSpace(data.peek(last - 1))) {
            last--;
        }
        return last;
    }

    /// Whether the bytes are this text, without regard to case.
    static boolean is(Buffer data, int at, int end, String text) {
        if (end - at != text.length()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (lower(data.peek(at + i) & 0xff) != lower(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    static int lower(int octet) {
        return octet >= 'A' && octet <= 'Z' ? octet + ('a' - 'A') : octet;
    }
}
