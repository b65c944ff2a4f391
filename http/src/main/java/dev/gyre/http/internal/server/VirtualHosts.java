package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.http.internal.message.RequestHead;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/// The virtual hosts of a server, by name and by wildcard.
///
/// Loop thread only.
final class VirtualHosts {
    private static final Pattern NAME =
            Pattern.compile("(\\*\\.)?[a-z0-9_-]+(\\.[a-z0-9_-]+)*|\\[[0-9a-f:.]+]");

    /// A power of two.
    private static final int MAX_CACHED = 64;

    /// The result for a host as it was sent, with case and port.
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Found(byte[] host, RouteScope.@Nullable Group group) {
        boolean isFor(RequestHead head, int from, int length) {
            boolean same = host.length == length;
            for (int i = 0; same && i < length; i++) {
                same = host[i] == head.byteAt(from + i);
            }
            return same;
        }
    }

    private final Map<String, RouteScope.Group> exact = new HashMap<>();

    /// By suffix: `.example.com` for `*.example.com`.
    private final Map<String, RouteScope.Group> wildcards = new HashMap<>();

    /// The last results by hash, so that a request to a known host allocates nothing.
    private final @Nullable Found[] cache = new @Nullable Found[MAX_CACHED];

    /// Returns the group of a host, which is created if absent.
    ///
    /// @throws IllegalArgumentException if the name is malformed
    RouteScope.Group group(LoopServer server, String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        if (!NAME.matcher(lower).matches()) {
            throw new IllegalArgumentException(
                    "a virtual host must be a name such as api.example.com or *.example.com,"
                            + " without scheme and port, international names as xn--…, but is "
                            + name);
        }
        Arrays.fill(cache, null);
        boolean wildcard = lower.startsWith("*");
        return (wildcard ? wildcards : exact)
                .computeIfAbsent(
                        wildcard ? lower.substring(1) : lower,
                        _ -> new RouteScope.Group(server, new Router(), ""));
    }

    /// Returns the group for the host of a request; `null` if none matches. Never the forwarded
    /// host: many proxies pass on the one that the client sent.
    RouteScope.@Nullable Group find(RequestHead head) {
        int from = head.valueAt("Host");
        int length = head.valueEnd("Host") - from;
        int hash = 0;
        for (int i = 0; i < length; i++) {
            hash = hash * 31 + head.byteAt(from + i);
        }
        int at = (hash ^ hash >>> 15) & MAX_CACHED - 1;
        Found known = cache[at];
        if (known == null || !known.isFor(head, from, length)) {
            String host = head.text(from, from + length);
            known = new Found(host.getBytes(ISO_8859_1), find(name(host)));
            cache[at] = known;
        }
        return known.group;
    }

    private RouteScope.@Nullable Group find(String name) {
        RouteScope.Group found = exact.get(name);
        for (int dot = name.indexOf('.'); found == null && dot >= 0; ) {
            found = wildcards.get(name.substring(dot));
            dot = name.indexOf('.', dot + 1);
        }
        return found;
    }

    /// Whether a route of any host names the method.
    boolean hasMethod(String method) {
        return exact.values().stream().anyMatch(each -> each.router.hasMethod(method))
                || wildcards.values().stream().anyMatch(each -> each.router.hasMethod(method));
    }

    /// Returns the name without port, case and the dot of a fully qualified name.
    private static String name(String host) {
        int colon = host.lastIndexOf(':');
        boolean hasPort = colon > host.lastIndexOf(']');
        String name = hasPort ? host.substring(0, colon) : host;
        name = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
        return name.toLowerCase(Locale.ROOT);
    }
}
