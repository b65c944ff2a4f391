package dev.gyre.http.internal.files;

import dev.gyre.http.Headers;

import org.jspecify.annotations.Nullable;

import java.util.List;

/// What a request makes its answer depend on, looked at in the order of RFC 9110, section 13.2.2.
final class Conditions {
    enum Outcome {
        GO_ON,
        /// The peer has it.
        NOT_MODIFIED,
        /// It is not what the peer takes it for.
        FAILED
    }

    static final String WEAK = "W/";

    private Conditions() {}

    /// @param etag in quotes, perhaps weak; empty for none
    /// @param modified in seconds since 1970; [HttpDates#NONE] if that is not to be relied on
    static Outcome check(Headers headers, String etag, long modified) {
        if (headers.contains("If-Match")) {
            if (!names(headers.all("If-Match"), etag, false)) {
                return Outcome.FAILED;
            }
        } else if (modified != HttpDates.NONE
                && isAfter(modified, headers.get("If-Unmodified-Since"))) {
            return Outcome.FAILED;
        }
        if (headers.contains("If-None-Match")) {
            return names(headers.all("If-None-Match"), etag, true)
                    ? Outcome.NOT_MODIFIED
                    : Outcome.GO_ON;
        }
        String since = headers.get("If-Modified-Since");
        if (since != null && modified != HttpDates.NONE) {
            long date = HttpDates.read(since);
            if (date != HttpDates.NONE && modified <= date) {
                return Outcome.NOT_MODIFIED;
            }
        }
        return Outcome.GO_ON;
    }

    /// Whether a part may be sent: the peer has the rest of this, and not of something else.
    static boolean isSame(@Nullable String ifRange, String etag, long modified) {
        if (ifRange == null) {
            return true;
        }
        // A weak tag never is the same byte by byte, and a date only if it is exactly that one.
        return ifRange.indexOf('"') >= 0
                ? ifRange.equals(etag) && !etag.startsWith(WEAK)
                : modified != HttpDates.NONE && HttpDates.read(ifRange) == modified;
    }

    private static boolean isAfter(long modified, @Nullable String field) {
        if (field == null) {
            return false;
        }
        long date = HttpDates.read(field);
        return date != HttpDates.NONE && modified > date;
    }

    /// Whether a list has a tag. Commas may be part of one, so it is not simply cut at them.
    private static boolean names(List<String> fields, String etag, boolean weakToo) {
        boolean ownIsWeak = etag.startsWith(WEAK);
        String opaque = ownIsWeak ? etag.substring(WEAK.length()) : etag;
        for (String field : fields) {
            if (field.equals("*")) {
                return true;
            }
            int at = 0;
            while (at < field.length()) {
                int open = field.indexOf('"', at);
                int close = open < 0 ? -1 : field.indexOf('"', open + 1);
                if (close < 0) {
                    break;
                }
                boolean weak = ownIsWeak || (open >= 2 && field.startsWith(WEAK, open - 2));
                if ((weakToo || !weak) && field.substring(open, close + 1).equals(opaque)) {
                    return true;
                }
                at = close + 1;
            }
        }
        return false;
    }
}
