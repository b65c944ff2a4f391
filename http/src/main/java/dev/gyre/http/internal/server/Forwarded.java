package dev.gyre.http.internal.server;

import dev.gyre.http.ForwardedHeaders;
import dev.gyre.http.Headers;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The client of a request as trusted proxies forwarded it.
///
/// Each proxy appends the address that it got the request from. The client's is the last one that
/// is no trusted proxy: all before it may be forged. A proxy writes either `X-Forwarded-*` or
/// `Forwarded` (RFC 7239), and may pass on the other one as the client sent it. So only the
/// configured kind counts.
///
/// @param scheme `http` or `https`; `null` if not forwarded
/// @param host `null` if not forwarded
record Forwarded(SocketAddress client, @Nullable String scheme, @Nullable String host) {
    private static final Pattern PAIR =
            Pattern.compile("\\s*+([A-Za-z]++)=(?:\"([^\"\\\\]*+)\"|([^\";,\\s]*+))\\s*+(?:;|$)");

    /// A host with or without a port, as in [dev.gyre.http.internal.message.RequestHead].
    private static final Pattern HOST =
            Pattern.compile("([A-Za-z0-9._~-]+|\\[[0-9A-Fa-f:.]+])(:\\d*)?");

    private static final Pattern PORT = Pattern.compile("\\d{1,5}");

    /// One proxy's part.
    private record Hop(@Nullable String address, @Nullable String scheme, @Nullable String host) {}

    /// Returns the client of a request.
    ///
    /// @param remote the address of the connection
    static Forwarded of(
            TrustedProxies trusted, ForwardedHeaders kind, SocketAddress remote, Headers headers) {
        if (!trusted.contains(remote)) {
            return new Forwarded(remote, null, null);
        }
        return walk(
                trusted,
                remote,
                switch (kind) {
                    case X_FORWARDED -> commonHops(headers);
                    case FORWARDED -> standardHops(headers);
                });
    }

    /// Follows the proxies from the last to the first that is not trusted.
    private static Forwarded walk(TrustedProxies trusted, SocketAddress remote, List<Hop> hops) {
        SocketAddress client = remote;
        String scheme = null;
        String host = null;
        for (int i = hops.size() - 1; i >= 0 && trusted.contains(client); i--) {
            Hop hop = hops.get(i);
            if (hop.scheme != null && isScheme(hop.scheme)) {
                scheme = hop.scheme.toLowerCase(Locale.ROOT);
            }
            host = isHost(hop.host) ? hop.host : host;
            SocketAddress next = hop.address == null ? null : address(hop.address);
            if (next == null) {
                break; // An obfuscated or malformed address: the last known proxy stands for it.
            }
            client = next;
        }
        return new Forwarded(client, scheme, host);
    }

    private static boolean isScheme(@Nullable String text) {
        return "http".equalsIgnoreCase(text) || "https".equalsIgnoreCase(text);
    }

    private static boolean isHost(@Nullable String text) {
        return text != null && HOST.matcher(text).matches();
    }

    private static List<Hop> commonHops(Headers headers) {
        List<String> addresses = elements(headers, "X-Forwarded-For");
        List<String> schemes = elements(headers, "X-Forwarded-Proto");
        List<String> hosts = elements(headers, "X-Forwarded-Host");
        List<Hop> hops = new ArrayList<>();
        int count = Math.max(1, addresses.size());
        for (int i = 0; i < count; i++) {
            hops.add(
                    new Hop(
                            i < addresses.size() ? addresses.get(i) : null,
                            of(schemes, i, count),
                            of(hosts, i, count)));
        }
        return hops;
    }

    /// Returns a proxy's element of a list. Some proxies append theirs, and others replace the
    /// list.
    private static @Nullable String of(List<String> elements, int hop, int hops) {
        if (elements.size() == hops) {
            return elements.get(hop);
        }
        return hop == hops - 1 && !elements.isEmpty() ? elements.getLast() : null;
    }

    private static List<String> elements(Headers headers, String name) {
        List<String> all = new ArrayList<>();
        for (String line : headers.getAll(name)) {
            for (String element : line.split(",", -1)) {
                all.add(element.strip());
            }
        }
        return all;
    }

    private static List<Hop> standardHops(Headers headers) {
        // A comma in a quoted string splits, too. So a quote that a client opens cannot swallow the
        // elements that proxies append. No address, scheme or host contains a comma.
        return elements(headers, "Forwarded").stream().map(Forwarded::standardHop).toList();
    }

    private static Hop standardHop(String element) {
        Matcher pair = PAIR.matcher(element);
        String address = null;
        String scheme = null;
        String host = null;
        for (int at = 0; at < element.length(); at = pair.end()) {
            if (!pair.find(at) || pair.start() != at) {
                return new Hop(null, null, null); // Malformed: none of it counts.
            }
            String value = pair.group(2) == null ? pair.group(3) : pair.group(2);
            switch (Objects.requireNonNull(pair.group(1)).toLowerCase(Locale.ROOT)) {
                case "for" -> address = value;
                case "proto" -> scheme = value;
                case "host" -> host = value;
                default -> {} // "by" and extensions.
            }
        }
        return new Hop(address, scheme, host);
    }

    /// Parses an address with or without a port: `192.0.2.1:47`, `[2001:db8::1]:47`, `2001:db8::1`.
    ///
    /// @return with port 0 if it has none; `null` if it is malformed
    private static @Nullable SocketAddress address(String text) {
        int bracket = text.indexOf(']');
        int colon = text.lastIndexOf(':');
        boolean hasPort = colon > bracket && (bracket >= 0 || text.indexOf(':') == colon);
        String host = hasPort ? text.substring(0, colon) : text;
        if (host.startsWith("[") && host.endsWith("]")) {
            host = host.substring(1, host.length() - 1);
        }
        InetAddress address = TrustedProxies.address(host);
        String port = hasPort ? text.substring(colon + 1) : "0";
        if (address == null || !PORT.matcher(port).matches() || Integer.parseInt(port) > 0xffff) {
            return null;
        }
        return new InetSocketAddress(address, Integer.parseInt(port));
    }
}
