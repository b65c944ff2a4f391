package dev.gyre.http.internal.server;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The pattern of a route's path: literal segments, parameters, and at most one rest parameter.
///
/// @param rest the name of the rest parameter; empty if absent
record PathPattern(List<Segment> segments, String rest) {
    /// @param text the literal, or the name of the parameter
    record Segment(String text, boolean isParameter) {}

    /// Escapes, except those of characters with a meaning in patterns of this or other routers.
    private static final Pattern ENCODED = Pattern.compile("%(?!3A|2A|7B|7D)[0-9A-Fa-f]{2}");

    private static final Pattern NAME = Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_-]*");

    /// A parameter as other routers write it: `:id`, `*`, `**`, `*rest`, `<id>`.
    private static final Pattern FOREIGN = Pattern.compile(":.*|\\*+[\\p{L}\\p{N}_-]*|<.*>");

    /// @throws IllegalArgumentException if the pattern is malformed
    static PathPattern of(String text) {
        requirePath(text);
        List<Segment> segments = new ArrayList<>();
        Set<String> names = new HashSet<>();
        String[] parts = text.substring(1).split("/", -1);
        for (int i = 0; i < parts.length; i++) {
            String part = parts[i];
            boolean last = i == parts.length - 1;
            if (!part.startsWith("{")) {
                requireLiteral(text, part, last);
                segments.add(new Segment(unescaped(part), false));
                continue;
            }
            require(part.endsWith("}"), "a brace is not closed", text);
            boolean isRest = part.endsWith("...}");
            String name = part.substring(1, part.length() - (isRest ? 4 : 1));
            require(
                    NAME.matcher(name).matches(),
                    "a parameter is a name in braces, {id}, or {rest...} for the rest; check its"
                            + " value in the handler",
                    text);
            require(names.add(name), "each parameter has its own name", text);
            if (isRest) {
                require(last, "a rest parameter is last: nothing is matched behind it", text);
                return new PathPattern(List.copyOf(segments), name);
            }
            segments.add(new Segment(name, true));
        }
        return new PathPattern(List.copyOf(segments), "");
    }

    private static void require(boolean holds, String rule, String text) {
        if (!holds) {
            throw new IllegalArgumentException(rule + ": " + text);
        }
    }

    /// Rejects a parameter or wildcard in the syntax of another router. As a literal, all its
    /// requests would get 404.
    private static void requireLiteral(String text, String part, boolean last) {
        require(
                part.indexOf('{') < 0 && part.indexOf('}') < 0,
                "a parameter is a whole segment, as in /users/{id}",
                text);
        if (FOREIGN.matcher(part).matches()) {
            boolean rest = last && part.startsWith("*");
            String name = part.replaceAll("[^\\p{L}\\p{N}_-]", "");
            String valid = NAME.matcher(name).matches() ? name : rest ? "rest" : "name";
            throw new IllegalArgumentException(
                    "%s has %s, which is not a parameter: write {%s%s}%s"
                            .formatted(text, part, valid, rest ? "..." : "", literally(part)));
        }
        if (part.indexOf('*') >= 0) {
            throw new IllegalArgumentException(
                    "%s has a star in %s, which is not a wildcard: a parameter is a whole segment,"
                                    .formatted(text, part)
                            + " {name}; check its value in the handler"
                            + literally(part));
        }
    }

    /// Returns a hint on how to write the segment as a literal.
    private static String literally(String part) {
        String literal = part.startsWith(":") ? "%3A" + part.substring(1) : part;
        literal = literal.replace("*", "%2A");
        return literal.equals(part) ? "" : ", or " + literal + " if it is a literal";
    }

    private static String unescaped(String part) {
        return part.replace("%3A", ":").replace("%2A", "*").replace("%7B", "{").replace("%7D", "}");
    }

    /// Rejects patterns that would match no request, or only one encoding of their path.
    private static void requirePath(String text) {
        require(
                text.indexOf('?') < 0,
                "a pattern is a path without a question mark: the handler reads the query with"
                        + " request.queryParam",
                text);
        require(
                text.indexOf('#') < 0,
                "browsers do not send the part after a number sign: leave it out",
                text);
        Matcher encoded = ENCODED.matcher(text);
        if (encoded.find()) {
            throw new IllegalArgumentException(
                    "%s is encoded, as %s shows: write a pattern decoded, /caf\u00e9 and not"
                                    .formatted(text, encoded.group())
                            + " /caf%C3%A9, and it matches every encoding");
        }
    }

    boolean isLiteral() {
        return rest.isEmpty() && segments.stream().noneMatch(Segment::isParameter);
    }
}
