package dev.gyre.http.internal.files;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// The byte ranges that a `Range` header requests.
///
/// @param parts in the requested order; empty unless the kind is [Kind#PARTS]
record ByteRanges(Kind kind, List<Part> parts) {
    /// A header with more ranges is ignored.
    private static final int MAX_PARTS = 16;

    private static final ByteRanges WHOLE = new ByteRanges(Kind.WHOLE, List.of());
    private static final ByteRanges UNSATISFIABLE = new ByteRanges(Kind.UNSATISFIABLE, List.of());

    private static final long MISSING = -1;
    private static final long BAD = -2;

    enum Kind {
        /// The header is malformed or ignored: the whole file is sent.
        WHOLE,
        PARTS,
        /// The file has none of the requested bytes.
        UNSATISFIABLE
    }

    /// @param bytes at least one
    record Part(long offset, long bytes) {
        long last() {
            return offset + bytes - 1;
        }

        boolean overlaps(Part other) {
            return offset <= other.last() && other.offset <= last();
        }
    }

    /// Parses the value of a `Range` header for a file of this size.
    static ByteRanges of(String header, long size) {
        int equals = header.indexOf('=');
        if (equals < 0
                || !header.substring(0, equals).strip().toLowerCase(Locale.ROOT).equals("bytes")) {
            return WHOLE;
        }
        String[] specs = header.substring(equals + 1).split(",", MAX_PARTS + 2);
        if (specs.length > MAX_PARTS) {
            return WHOLE;
        }
        List<Part> parts = new ArrayList<>();
        for (String untrimmed : specs) {
            String spec = untrimmed.strip();
            int dash = spec.indexOf('-');
            if (dash < 0) {
                return WHOLE;
            }
            long first = number(spec.substring(0, dash));
            long last = number(spec.substring(dash + 1));
            boolean isSuffix = first == MISSING;
            boolean isInvalid = isSuffix ? last == MISSING : last >= 0 && first > last;
            // The suffix of an empty file is the whole file; no Content-Range can express it.
            boolean isEmptySuffix = isSuffix && last > 0 && size == 0;
            if (first == BAD || last == BAD || isInvalid || isEmptySuffix) {
                return WHOLE;
            }
            long from = isSuffix ? Math.max(0, size - last) : first;
            long to = isSuffix || last == MISSING ? size - 1 : Math.min(last, size - 1);
            if (from < size && from <= to) {
                parts.add(new Part(from, to - from + 1));
            }
        }
        if (parts.isEmpty()) {
            return UNSATISFIABLE;
        }
        return hasOverlap(parts) ? WHOLE : new ByteRanges(Kind.PARTS, List.copyOf(parts));
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
            // Saturates: no file is that long.
            value = value > Long.MAX_VALUE / 16 ? value : value * 10 + (c - '0');
        }
        return value;
    }
}
