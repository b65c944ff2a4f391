package dev.gyre.http.internal.files;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// Which parts of a file are asked for.
///
/// @param kind what is to be done
/// @param parts in the order they were asked for; none unless it is [Kind#PARTS]
record ByteRanges(Kind kind, List<Part> parts) {
    /// Who asks for more wants something else than content.
    private static final int MOST = 16;

    private static final ByteRanges WHOLE = new ByteRanges(Kind.WHOLE, List.of());
    private static final ByteRanges NOWHERE = new ByteRanges(Kind.NOWHERE, List.of());

    enum Kind {
        /// Nothing is asked for that could be understood, or should be done: all of it is sent.
        WHOLE,
        PARTS,
        /// The file has nothing of what is asked for.
        NOWHERE
    }

    /// @param offset of its first byte
    /// @param bytes at least one
    record Part(long offset, long bytes) {
        long last() {
            return offset + bytes - 1;
        }

        boolean overlaps(Part other) {
            return offset <= other.last() && other.offset <= last();
        }
    }

    /// @param field the value of `Range`
    static ByteRanges of(String field, long size) {
        int equals = field.indexOf('=');
        if (equals < 0
                || !field.substring(0, equals).strip().toLowerCase(Locale.ROOT).equals("bytes")) {
            return WHOLE;
        }
        String[] asked = field.substring(equals + 1).split(",", MOST + 2);
        if (asked.length > MOST) {
            return WHOLE;
        }
        List<Part> parts = new ArrayList<>();
        for (String one : asked) {
            String spec = one.strip();
            int dash = spec.indexOf('-');
            if (dash < 0) {
                return WHOLE;
            }
            long first = number(spec.substring(0, dash));
            long last = number(spec.substring(dash + 1));
            if (first == BAD || last == BAD || isNone(first, last)) {
                return WHOLE;
            }
            if (first < 0 && last > 0 && size == 0) {
                // The last bytes of nothing are all of it, and cannot be said in numbers.
                return WHOLE;
            }
            if (first < 0) {
                addIfThere(parts, Math.max(0, size - last), size - 1, size);
            } else {
                addIfThere(parts, first, last < 0 ? size - 1 : Math.min(last, size - 1), size);
            }
        }
        if (parts.isEmpty()) {
            return NOWHERE;
        }
        return hasOverlap(parts) ? WHOLE : new ByteRanges(Kind.PARTS, List.copyOf(parts));
    }

    private static boolean isNone(long first, long last) {
        return first < 0 ? last < 0 : last >= 0 && first > last;
    }

    private static void addIfThere(List<Part> parts, long first, long last, long size) {
        if (first < size && first <= last) {
            parts.add(new Part(first, last - first + 1));
        }
    }

    private static boolean hasOverlap(List<Part> parts) {
        for (int i = 0; i < parts.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (parts.get(i).overlaps(parts.get(j))) {
                    return true;
                }
            }
        }
        return false;
    }

    private static final long MISSING = -1;
    private static final long BAD = -2;

    private static long number(String digits) {
        if (digits.isEmpty()) {
            return MISSING;
        }
        long value = 0;
        for (int i = 0; i < digits.length(); i++) {
            char c = digits.charAt(i);
            if (c < '0' || c > '9') {
                return BAD;
            }
            // No file is so long, so it does not matter how much longer this is.
            value = value > Long.MAX_VALUE / 16 ? value : value * 10 + (c - '0');
        }
        return value;
    }
}
