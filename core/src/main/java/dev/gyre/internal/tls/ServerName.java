package dev.gyre.internal.tls;

import java.net.IDN;
import java.util.Locale;
import java.util.regex.Pattern;

/// Names of servers, as certificates and clients spell them.
final class ServerName {
    private static final int MAX_CHARS = 253;
    private static final Pattern LABEL = Pattern.compile("[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?");
    private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");

    private ServerName() {}

    /// In lower case, in ASCII and without the dot at the end.
    ///
    /// @throws IllegalArgumentException if it is no name of a host
    static String canonical(String name) {
        String ascii;
        try {
            ascii = IDN.toASCII(name, IDN.ALLOW_UNASSIGNED).toLowerCase(Locale.ROOT);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "'" + name + "' is no name of a server: " + e.getMessage(), e);
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
                    "'" + name + "' is no name of a server, such as example.com");
        }
        return ascii;
    }

    /// The same for a pattern, whose first label may be a star.
    static String canonicalPattern(String pattern) {
        if (!pattern.startsWith("*.")) {
            if (pattern.indexOf('*') >= 0) {
                throw new IllegalArgumentException(
                        "'"
                                + pattern
                                + "': only the whole first label may be a star: *.example.com");
            }
            return canonical(pattern);
        }
        return "*." + canonical(pattern.substring(2));
    }

    /// The pattern that stands for the name and its siblings; the name itself if it has no parent.
    static String wildcardOf(String name) {
        int dot = name.indexOf('.');
        return dot < 0 ? name : "*" + name.substring(dot);
    }

    /// Whether it is an address, which has no name to ask for (RFC 6066, 3).
    static boolean isAddress(String host) {
        return host.indexOf(':') >= 0 || IPV4.matcher(host).matches();
    }
}
