package dev.gyre.http.internal.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.http.internal.message.Percent;
import dev.gyre.http.internal.message.RequestHead;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Finds the site of a path. Most paths are literal and sent as they are: those are found by comparing bytes, in a
/// hash table. All others are cut into segments and looked up in a tree, where a literal goes before a parameter
/// and that before a rest.
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
    private @Nullable Literal[] table = new @Nullable Literal[16];
    private int literals;

    /// The site of a pattern, made if there is none yet.
    ///
    /// @throws IllegalArgumentException if it is no pattern, or one with other names of parameters stands for the same paths
    Site at(String text) {
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
        if (site.pattern.isLiteral()) {
            addLiteral(site);
        }
        return site;
    }

    /// Whether some site answers that method by name.
    boolean knows(String method) {
        return byText.values().stream().anyMatch(site -> site.knows(method));
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

    /// What was found, and what stands for its parameters.
    record Found(Site site, List<String> values) {}

    /// The site of a path, by its segments; null if there is none.
    ///
    /// @throws dev.gyre.http.HttpException 400 if it is badly encoded
    @Nullable Found find(String path) {
        if (!path.startsWith("/")) {
            return null;
        }
        // The slashes count before what is encoded is read: one that is encoded separates nothing.
        String[] segments = path.substring(1).split("/", -1);
        for (int i = 0; i < segments.length; i++) {
            segments[i] = Percent.require(segments[i], false);
        }
        return find(root, segments, 0, new String[segments.length + 1], 0);
    }

    private static @Nullable Found find(
            Node node, String[] segments, int at, String[] values, int count) {
        if (at == segments.length) {
            return node.site == null ? null : found(node.site, values, count);
        }
        Node literal = node.literals.get(segments[at]);
        Found found = literal == null ? null : find(literal, segments, at + 1, values, count);
        if (found == null && node.parameter != null && !segments[at].isEmpty()) {
            values[count] = segments[at];
            found = find(node.parameter, segments, at + 1, values, count + 1);
        }
        if (found == null && node.rest != null) {
            values[count] = String.join("/", Arrays.asList(segments).subList(at, segments.length));
            found = found(node.rest, values, count + 1);
        }
        return found;
    }

    private static Found found(Site site, String[] values, int count) {
        return new Found(site, List.of(Arrays.copyOf(values, count)));
    }
}
