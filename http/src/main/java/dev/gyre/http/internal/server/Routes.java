package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.Handler;
import dev.gyre.http.internal.message.Percent;
import dev.gyre.http.internal.message.RequestHead;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/// Finds who answers a request. Most paths are literal and sent as they are: their sites are found by comparing bytes, in
/// a hash table. All others, and those whose site does not take the method, are cut into segments and looked up in a tree
/// along which a literal goes before a parameter and that before a rest, until a site takes the method.
///
/// Loop thread only.
final class Routes {
    /// What is behind a path so far.
    private static final class Node {
        final Map<String, Node> literals = new HashMap<>();
        @Nullable Node parameter;
        @Nullable Site site;
        @Nullable Site rest;
    }

    private static final class Literal {
        final byte[] path;
        final int hash;
        final Site site;

        Literal(byte[] path, int hash, Site site) {
            this.path = path;
            this.hash = hash;
            this.site = site;
        }
    }

    private final Node root = new Node();
    private final Map<String, Site> byText = new HashMap<>();
    private final Set<String> methods = new HashSet<>();
    private @Nullable Literal[] table = new @Nullable Literal[16];
    private int literals;

    /// @throws IllegalArgumentException if it is no pattern, one with other names of parameters stands for the same
    ///     paths, or the route is taken
    void add(String method, String pattern, Handler handler) {
        at(pattern).add(method, handler);
        methods.add(method);
    }

    /// For every method that has no route of its own there.
    ///
    /// @throws IllegalArgumentException as [#add]
    void addAny(String pattern, Handler handler) {
        at(pattern).addAny(handler);
    }

    /// The site of a pattern that has a route; null if there is none.
    @Nullable Site known(String pattern) {
        return byText.get(pattern);
    }

    /// The site of a pattern, made if there is none yet.
    private Site at(String text) {
        Site known = byText.get(text);
        if (known != null) {
            return known;
        }
        Site site = new Site(Pattern.of(text), text);
        Node node = root;
        for (Pattern.Segment segment : site.pattern.segments()) {
            if (segment.isParameter()) {
                if (node.parameter == null) {
                    node.parameter = new Node();
                }
                node = node.parameter;
            } else {
                node = node.literals.computeIfAbsent(segment.text(), _ -> new Node());
            }
        }
        boolean takesRest = !site.pattern.rest().isEmpty();
        Site same = takesRest ? node.rest : node.site;
        if (same != null) {
            throw new IllegalArgumentException(
                    text + " stands for the same paths as " + same.text + ": call it the same");
        }
        if (takesRest) {
            node.rest = site;
        } else {
            node.site = site;
        }
        byText.put(text, site);
        // A percent sign that is sent as it is stands for nothing: the tree refuses it.
        if (site.pattern.isLiteral() && text.indexOf('%') < 0) {
            addLiteral(site);
        }
        return site;
    }

    /// Whether some site answers that method by name.
    boolean knows(String method) {
        return methods.contains(method);
    }

    // ------------------------------------------------------------------ literal paths

    private void addLiteral(Site site) {
        if (++literals * 2 > table.length) {
            @Nullable Literal[] old = table;
            table = new @Nullable Literal[old.length * 2];
            for (Literal literal : old) {
                if (literal != null) {
                    put(literal);
                }
            }
        }
        byte[] path = site.text.getBytes(UTF_8);
        int hash = 0;
        for (byte b : path) {
            hash = hash * 31 + b;
        }
        put(new Literal(path, hash, site));
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

    /// The site of a path that is written exactly so; null if that is none of a literal pattern.
    @Nullable Site literal(RequestHead head) {
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
                return literal.site;
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

    /// Who answers a method at a path, as the tree has it.
    ///
    /// @throws dev.gyre.http.HttpException 400 if it is badly encoded
    Found find(String path, String method) {
        if (!path.startsWith("/")) {
            return new Found(method, new String[0]);
        }
        // The slashes count before what is encoded is read: one that is encoded separates nothing.
        String[] segments = path.substring(1).split("/", -1);
        for (int i = 0; i < segments.length; i++) {
            segments[i] = Percent.require(segments[i], false);
        }
        Found found = new Found(method, segments);
        boolean _ = found.isBehind(root, 0, 0);
        return found;
    }

    /// What was found: who answers and what stands for the parameters, or who else is there.
    static final class Found {
        private final String method;
        private final String[] segments;
        private final String[] values;
        private int count;
        private @Nullable Site site;
        private @Nullable Handler handler;
        private @Nullable SortedSet<String> allowed;

        private Found(String method, String[] segments) {
            this.method = method;
            this.segments = segments;
            values = new String[segments.length];
        }

        /// @param at the segment that is next
        /// @param parameters how many values there are before it
        private boolean isBehind(Node node, int at, int parameters) {
            if (at == segments.length) {
                return node.site != null && isTakenBy(node.site, parameters);
            }
            Node literal = node.literals.get(segments[at]);
            if (literal != null && isBehind(literal, at + 1, parameters)) {
                return true;
            }
            if (node.parameter != null && !segments[at].isEmpty()) {
                values[parameters] = segments[at];
                if (isBehind(node.parameter, at + 1, parameters + 1)) {
                    return true;
                }
            }
            if (node.rest == null || !isTakenBy(node.rest, parameters + 1)) {
                return false;
            }
            values[parameters] =
                    String.join("/", Arrays.asList(segments).subList(at, segments.length));
            return true;
        }

        private boolean isTakenBy(Site candidate, int parameters) {
            handler = candidate.handler(method);
            if (handler == null) {
                if (allowed == null) {
                    allowed = new TreeSet<>();
                }
                candidate.addAllowed(allowed);
                return false;
            }
            site = candidate;
            count = parameters;
            return true;
        }

        /// Who answers; null if nobody does.
        @Nullable Handler handler() {
            return handler;
        }

        /// Whose pattern it is that was found.
        Site site() {
            return Objects.requireNonNull(site);
        }

        /// What stands for its parameters.
        List<String> values() {
            return List.of(Arrays.copyOf(values, count));
        }

        /// If nobody answers: which methods somebody would, for the `Allow` field; null if none.
        @Nullable String allowed() {
            return allowed == null ? null : String.join(", ", allowed);
        }
    }
}
