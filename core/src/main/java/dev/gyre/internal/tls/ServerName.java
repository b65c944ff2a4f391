package dev.gyre.internal.tls;

import java.net.IDN;
import java.util.Locale;
import java.util.regex.Pattern;

/// Validates and normalizes server names of certificates and clients.
final class ServerName {
    private static final int MAX_CHARS = 253;
    private static final Pattern LABEL = Pattern.compile("[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?");
    private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");

    private ServerName() {}

    /// Returns the name in lower-case ASCII without a trailing dot.
    ///
    /// @throws IllegalArgumentException if it is not a host name
    static String canonical(String name) {
        String ascii;
        try {
            ascii = IDN.toASCII(name, IDN.ALLOW_UNASSIGNED).toLowerCase(Locale.ROOT);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "'" + name + "' is not a server name: " + e.getMessage(), e);
        }
        if (ascii.endsWith(".")) {
            ascii = ascii.substring(0, ascii.length() - 1);
        }
        boolean fine = !ascii.isEmpty() && ascii.length() <= MAX_CHARS;
        for (String label : ascii.split("\\.", -1)) {
            fine &= LABEL.matcher(label).matches();
        }
        if (!fine) {
            throw new IllegalArgumentException(
                    "'" + name + "' is not a server name such as example.com");
        }
        return ascii;
    }

    /// Normalizes a pattern, whose first label may be `*`.
    static String canonicalPattern(String pattern) {
        if (!pattern.startsWith("*.")) {
            if (pattern.indexOf('*') >= 0) {
                throw new IllegalArgumentException(
                        "'"
                                + pattern
                                + "': only the whole first label may be *, as in *.example.com");
            }
            return canonical(pattern);
        }
        return "*." + canonical(pattern.substring(2));
    }

    /// The wildcard pattern for a name; the name itself if it has one label.
    static String wildcardOf(String name) {
        int dot = name.indexOf('.');
        return dot < 0 ? name : "*" + name.substring(dot);
    }

    /// Whether it is an IP address. SNI does not support those (RFC 6066, 3).
    static boolean isAddress(String host) {
        return host.indexOf(':') >= 0 || IPV4.matcher(host).matches();
    }
}
