package dev.gyre.http.internal.message;

import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The scheme, host and port of a server. Connections to one origin serve all requests to it.
///
/// @param host in lower case, as in a URI: an IPv6 address is in brackets
public record Origin(boolean secure, String host, int port) {
    private static final int MAX_PORT = 65_535;

    /// A host with underscores, as in container networks. [URI] does not recognize it.
    private static final Pattern CONTAINER =
            Pattern.compile("([A-Za-z0-9_](?:[A-Za-z0-9_.-]*))(?::([0-9]{1,9})?)?");

    /// Returns the origin of a URI.
    ///
    /// @throws IllegalArgumentException if the URI is not `http` or `https` with a host, or has a
    ///     user
    public static Origin of(URI uri) {
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        boolean secure = scheme.equals("https");
        String authority = uri.getRawAuthority();
        if (!(secure || scheme.equals("http")) || authority == null) {
            throw new IllegalArgumentException(
                    "the URI must be http://host/path or https://host/path, but is " + uri);
        }
        if (authority.indexOf('@') >= 0) {
            throw new IllegalArgumentException(
                    "the URI must not contain a user, because URIs are logged: send an"
                            + " Authorization header to "
                            + authority.substring(authority.lastIndexOf('@') + 1));
        }
        String host = uri.getHost();
        int port = uri.getPort();
        if (host == null) {
            Matcher named = CONTAINER.matcher(authority);
            if (!named.matches()) {
                throw new IllegalArgumentException(
                        authority + " is not a host with an optional port, in " + uri);
            }
            host = named.group(1);
            port = named.group(2) == null ? -1 : Integer.parseInt(named.group(2));
        }
        if (port < 0) {
            port = defaultPort(secure);
        }
        if (port == 0 || port > MAX_PORT) {
            throw new IllegalArgumentException(
                    "the port must be from 1 to " + MAX_PORT + ", but is " + port + " in " + uri);
        }
        return new Origin(secure, host.toLowerCase(Locale.ROOT), port);
    }

    private static int defaultPort(boolean secure) {
        return secure ? 443 : 80;
    }

    /// Returns the address, which is resolved when a stream connects.
    public InetSocketAddress address() {
        boolean bracketed = host.startsWith("[");
        return InetSocketAddress.createUnresolved(
                bracketed ? host.substring(1, host.length() - 1) : host, port);
    }

    /// Returns the value of `Host`, without a zone, which is local to this machine (RFC 6874, 4).
    String hostHeader() {
        int zone = host.indexOf('%');
        String named = host.startsWith("[") && zone > 0 ? host.substring(0, zone) + "]" : host;
        return port == defaultPort(secure) ? named : named + ":" + port;
    }

    @Override
    public String toString() {
        return (secure ? "https://" : "http://") + host + ":" + port;
    }
}
