package dev.gyre.http.internal.message;

import java.util.Locale;
import java.util.Set;

/// Which fields may come behind the content: not those that say where a message ends, who is to have it, whether it may be
/// had, or how it is to be read (RFC 9110, 6.5.1). Who merges trailers into the header would act on them.
public final class TrailerNames {
    private static final Set<String> REFUSED =
            Set.of(
                    "age",
                    "authorization",
                    "cache-control",
                    "connection",
                    "content-encoding",
                    "content-length",
                    "content-range",
                    "content-type",
                    "cookie",
                    "date",
                    "expect",
                    "expires",
                    "host",
                    "keep-alive",
                    "location",
                    "max-forwards",
                    "pragma",
                    "proxy-authenticate",
                    "proxy-authorization",
                    "proxy-connection",
                    "range",
                    "retry-after",
                    "set-cookie",
                    "te",
                    "trailer",
                    "transfer-encoding",
                    "upgrade",
                    "vary",
                    "www-authenticate");

    private TrailerNames() {}

    /// Checks a name.
    ///
    /// @throws IllegalArgumentException if no trailer field has that name
    public static void require(String name) {
        String known = name.toLowerCase(Locale.ROOT);
        if (REFUSED.contains(known) || known.startsWith("if-")) {
            throw new IllegalArgumentException(
                    name + " belongs into the header: behind the content nobody may heed it");
        }
    }
}
