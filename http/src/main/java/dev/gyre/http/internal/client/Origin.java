package dev.gyre.http.internal.client;

import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Who answers: connections to one origin serve all requests to it.
///
/// @param host as URIs have it, in lower case: an IPv6 address is in brackets
record Origin(boolean secure, String host, int port) {
    private static final int MOST_PORT = 65_535;

    /// What a URI takes for no host, and the networks of containers for one: with underscores.
    private static final Pattern CONTAINER =
            Pattern.compile("([A-Za-z0-9_](?:[A-Za-z0-9_.-]*))(?::([0-9]{1,9})?)?");

    /// @throws IllegalArgumentException if nobody is named whom a client could ask
    static Origin of(URI uri) {
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        boolean secure = scheme.equals("https");
        if (!secure && !scheme.equals("http")) {
            throw new IllegalArgumentException("http://host/path or https://host/path, not " + uri);
        }
        String authority = uri.getRawAuthority();
        if (authority == null) {
            throw new IllegalArgumentException(
                    "there is no host in " + uri + ": http://host/path or https://host/path");
        }
        if (authority.indexOf('@') >= 0) {
            throw new IllegalArgumentException(
                    "a user has no place in a URI that others log: send an Authorization field"
                            + " to "
                            + authority.substring(authority.lastIndexOf('@') + 1));
        }
        String host = uri.getHost();
        int port = uri.getPort();
        if (host == null) {
            Matcher named = CONTAINER.matcher(authority);
            if (!named.matches()) {
                throw new IllegalArgumentException(
                        authority
                                + " is no host with or without a port, as it would have to be in "
                                + uri);
            }
            host = named.group(1);
            port = named.group(2) == null ? -1 : Integer.parseInt(named.group(2));
        }
        if (port < 0) {
            port = usualPort(secure);
        }
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
