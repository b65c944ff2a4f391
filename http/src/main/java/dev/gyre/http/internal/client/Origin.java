package dev.gyre.http.internal.client;

import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Locale;

/// Who answers: connections to one origin serve all requests to it.
///
/// @param host as URIs have it, in lower case: an IPv6 address is in brackets
record Origin(boolean secure, String host, int port) {
    private static final int MOST_PORT = 65_535;

    /// @throws IllegalArgumentException if nobody is named whom a client could ask
    static Origin of(URI uri) {
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        boolean secure = scheme.equals("https");
        String host = uri.getHost();
        if ((!secure && !scheme.equals("http")) || host == null) {
            throw new IllegalArgumentException("http://host/path or https://host/path, not " + uri);
        }
        if (uri.getRawUserInfo() != null) {
            throw new IllegalArgumentException(
                    "a user has no place in a URI that others log: send an Authorization field"
                            + " to "
                            + host);
        }
        int port = uri.getPort() >= 0 ? uri.getPort() : usualPort(secure);
        if (port == 0 || port > MOST_PORT) {
            throw new IllegalArgumentException(
                    "ports are from 1 to " + MOST_PORT + ", not " + port);
        }
        return new Origin(secure, host.toLowerCase(Locale.ROOT), port);
    }

    private static int usualPort(boolean secure) {
        return secure ? 443 : 80;
    }

    InetSocketAddress address() {
        boolean bracketed = host.startsWith("[");
        return InetSocketAddress.createUnresolved(
                bracketed ? host.substring(1, host.length() - 1) : host, port);
    }

    /// What `Host` says. The zone of an address means something on this machine only (RFC 6874, 4).
    String field() {
        int zone = host.indexOf('%');
        String named = host.startsWith("[") && zone > 0 ? host.substring(0, zone) + "]" : host;
        return port == usualPort(secure) ? named : named + ":" + port;
    }

    @Override
    public String toString() {
        return (secure ? "https://" : "http://") + host + ":" + port;
    }
}
