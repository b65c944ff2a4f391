package dev.gyre.http.internal.files;

import dev.gyre.http.Headers;
import dev.gyre.http.internal.message.HttpDate;

import org.jspecify.annotations.Nullable;

import java.util.List;

/// Evaluates the conditional headers of a request in the order of RFC 9110, section 13.2.2.
final class Preconditions {
    enum Outcome {
        PROCEED,
        NOT_MODIFIED,
        FAILED
    }

    static final String WEAK = "W/";

    private Preconditions() {}

    /// @param etag quoted, possibly weak; empty if absent
    /// @param modified in seconds since 1970; [HttpDate#NONE] if unreliable
    static Outcome check(Headers headers, String etag, long modified) {
        if (headers.contains("If-Match")) {
            if (!matches(headers.getAll("If-Match"), etag, false)) {
                return Outcome.FAILED;
            }
        } else {
            long date = date(headers.get("If-Unmodified-Since"), modified);
            if (date != HttpDate.NONE && modified > date) {
                return Outcome.FAILED;
            }
        }
        if (headers.contains("If-None-Match")) {
            return matches(headers.getAll("If-None-Match"), etag, true)
                    ? Outcome.NOT_MODIFIED
                    : Outcome.PROCEED;
        }
        long date = date(headers.get("If-Modified-Since"), modified);
        return date != HttpDate.NONE && modified <= date ? Outcome.NOT_MODIFIED : Outcome.PROCEED;
    }

    /// Returns whether a part may be sent: the client's other parts are of the same bytes.
    static boolean matchesRange(@Nullable String ifRange, String etag, long modified) {
        if (ifRange == null) {
            return true;
        }
        // A weak tag never proves equal bytes. A date does so only if it is exactly the same.
        return ifRange.indexOf('"') >= 0
                ? ifRange.equals(etag) && !etag.startsWith(WEAK)
                : modified != HttpDate.NONE && HttpDate.parse(ifRange) == modified;
    }

    private static long date(@Nullable String header, long modified) {
        return header == null || modified == HttpDate.NONE ? HttpDate.NONE : HttpDate.parse(header);
    }

    /// Returns whether a list contains the tag. Tags may contain commas, so the scan uses the
    /// quotes.
    private static boolean matches(List<String> headers, String etag, boolean allowWeak) {
        boolean ownIsWeak = etag.startsWith(WEAK);
        String opaque = ownIsWeak ? etag.substring(WEAK.length()) : etag;
        for (String header : headers) {
            if (header.equals("*")) {
                return true;
            }
            int at = 0;
            while (at < header.length()) {
                int open = header.indexOf('"', at);
                int close = open < 0 ? -1 : header.indexOf('"', open + 1);
                if (close < 0) {
                    break;
                }
                boolean weak = ownIsWeak || (open >= 2 && header.startsWith(WEAK, open - 2));
                if ((allowWeak || !weak) && header.substring(open, close + 1).equals(opaque)) {
                    return true;
                }
                at = close + 1;
            }
        }
        return false;
    }
}
