package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.internal.message.PercentEncoding;
import dev.gyre.http.internal.message.RequestHead;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/// Finds the route of a request, for one host. Literal paths without escapes are looked up by their
/// bytes in a hash table. Other paths, and those whose entry lacks the method, are split into
/// segments and looked up in a tree. A literal goes before a parameter, and a parameter before a
/// rest, until an entry has the method.
///
/// Loop thread only.
final class Router {
    /// The entries below one path.
    private static final class Node {
        final Map<String, Node> literals = new HashMap<>();
        @Nullable Node parameter;
        @Nullable RouteEntry entry;
        @Nullable RouteEntry rest;
    }

    @SuppressWarnings("ArrayRecordComponent") // Never compared as a record.
    private record Literal(byte[] path, int hash, RouteEntry entry) {}

    private final Node root = new Node();
    private final Map<String, RouteEntry> byText = new HashMap<>();
    private final Set<String> methods = new HashSet<>();
    private final List<Literal> literals = new ArrayList<>();

    /// The literals by hash, with open addressing. At most half full.
    private @Nullable Literal[] table = new @Nullable Literal[16];

    int size() {
        return byText.size();
    }

    /// Whether a route names the method.
    boolean hasMethod(String method) {
        return methods.contains(method);
    }

    void addMethod(String method) {
        methods.add(method);
    }

    /// Returns the entry of a pattern, which is created if absent.
    ///
    /// @throws IllegalArgumentException if the pattern is malformed, or an entry with other
    ///     parameter names matches the same paths
    RouteEntry entry(String text) {
        RouteEntry known = byText.get(text);
        if (known != null) {
            return known;
        }
        RouteEntry entry = new RouteEntry(PathPattern.of(text), text);
        Node node = root;
        for (PathPattern.Segment segment : entry.pattern.segments()) {
            if (!segment.isParameter()) {
                node = node.literals.computeIfAbsent(segment.text(), _ -> new Node());
                continue;
            }
            if (node.parameter == null) {
                node.parameter = new Node();
            }
            node = node.parameter;
        }
        boolean isRest = !entry.pattern.rest().isEmpty();
        RouteEntry same = isRest ? node.rest : node.entry;
        if (same != null) {
            throw new IllegalArgumentException(
                    text
                            + " matches the same paths as "
                            + same.text
                            + ": use the same parameter names");
        }
        if (isRest) {
            node.rest = entry;
        } else {
            node.entry = entry;
        }
        byText.put(text, entry);
        // An unescaped percent sign in a request is malformed: the tree rejects it.
        if (entry.pattern.isLiteral() && text.indexOf('%') < 0) {
            addLiteral(entry);
        }
        return entry;
    }

    // ------------------------------------------------------------------ literal paths

    private void addLiteral(RouteEntry entry) {
        byte[] path = entry.text.getBytes(UTF_8);
        int hash = 0;
        for (byte b : path) {
            hash = hash * 31 + b;
        }
        Literal added = new Literal(path, hash, entry);
        literals.add(added);
        if (literals.size() * 2 <= table.length) {
            put(added);
        } else {
            table = new @Nullable Literal[table.length * 2];
            literals.forEach(this::put);
        }
    }

    private void put(Literal literal) {
        int at = spread(literal.hash);
        while (table[at] != null) {
            at = at + 1 & table.length - 1;
        }
        table[at] = literal;
    }

    private int spread(int hash) {
        return (hash ^ hash >>> 15) & table.length - 1;
    }

    /// Returns the entry whose literal pattern equals the path byte for byte; `null` if absent.
    @Nullable RouteEntry literal(RequestHead head) {
        if (head.isPathLeftOut()) {
            return byText.get("/");
        }
        int from = head.targetAt();
        int to = head.pathEnd();
        int hash = 0;
        for (int i = from; i < to; i++) {
            hash = hash * 31 + head.byteAt(i);
        }
        for (int at = spread(hash); ; at = at + 1 & table.length - 1) {
            Literal literal = table[at];
            if (literal == null) {
                return null;
            }
            if (literal.hash == hash && isAt(literal.path, head, from, to)) {
                return literal.entry;
            }
        }
    }

    private static boolean isAt(byte[] path, RequestHead head, int from, int to) {
        if (path.length != to - from) {
            return false;
        }
        for (int i = 0; i < path.length; i++) {
            if (path[i] != head.byteAt(from + i)) {
                return false;
            }
        }
        return true;
    }

    // ------------------------------------------------------------------ patterns

    /// A search through the trees of one or more routers.
    static final class Search {
        private final String method;
        private final String[] segments;
        private final String[] values;
        private final SortedSet<String> allowed = new TreeSet<>();
        private int count;
        private @Nullable Route route;

        /// @throws dev.gyre.http.HttpException 400 if the path is badly encoded
        Search(String path, String method) {
            this.method = method;
            // Split first: an encoded slash is no separator.
            segments = path.startsWith("/") ? path.substring(1).split("/", -1) : new String[0];
            for (int i = 0; i < segments.length; i++) {
                segments[i] = PercentEncoding.require(segments[i], false);
            }
            values = new String[segments.length];
        }

        /// Returns the route of the method in a router; `null` if absent.
        @Nullable Route in(Router router) {
            return segments.length > 0 && matches(router.root, 0, 0) ? route : null;
        }

        /// @param at the index of the next segment
        /// @param parameters the number of values so far
        private boolean matches(Node node, int at, int parameters) {
            if (at == segments.length) {
                return node.entry != null && hasMethod(node.entry, parameters);
            }
            Node literal = node.literals.get(segments[at]);
            if (literal != null && matches(literal, at + 1, parameters)) {
                return true;
            }
            if (node.parameter != null && !segments[at].isEmpty()) {
                values[parameters] = segments[at];
                if (matches(node.parameter, at + 1, parameters + 1)) {
                    return true;
                }
            }
            if (node.rest == null || !hasMethod(node.rest, parameters + 1)) {
                return false;
            }
            values[parameters] =
                    String.join("/", Arrays.asList(segments).subList(at, segments.length));
            return true;
        }

        private boolean hasMethod(RouteEntry candidate, int parameters) {
            route = candidate.route(method);
            if (route == null) {
                candidate.addAllowed(allowed);
                return false;
            }
            count = parameters;
            return true;
        }

        /// Returns the values of the found route's parameters.
        List<String> values() {
            return List.of(Arrays.copyOf(values, count));
        }

        /// Returns the methods that the path has routes for, for the `Allow` header; `null` if
        /// none.
        @Nullable String allowed() {
            return allowed.isEmpty() ? null : String.join(", ", allowed);
        }
    }
}
