package dev.gyre.http.internal.server;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;

/// What a route's path looks like: literal segments, parameters, and perhaps one that takes the rest.
///
/// @param segments what stands between the slashes
/// @param rest the name of what takes all that is left; empty if nothing does
record Pattern(List<Segment> segments, String rest) {
    /// @param text the literal, or the name of the parameter
    record Segment(String text, boolean isParameter) {}

    /// Escapes, except those of characters with a meaning in patterns of this or other routers.
    private static final java.util.regex.Pattern ENCODED =
            java.util.regex.Pattern.compile("%(?!3A|2A|7B|7D)[0-9A-Fa-f]{2}");

    private static final java.util.regex.Pattern NAME =
            java.util.regex.Pattern.compile("[\\p{L}_][\\p{L}\\p{N}_-]*");

    /// A parameter as other routers write it: `:id`, `*`, `**`, `*rest`, `<id>`.
    private static final java.util.regex.Pattern FOREIGN =
            java.util.regex.Pattern.compile(":.*|\\*+[\\p{L}\\p{N}_-]*|<.*>");

    /// @throws IllegalArgumentException if it is none
    static Pattern of(String text) {
        if (!text.startsWith("/")) {
            throw new IllegalArgumentException("a pattern begins with a slash: " + text);
        }
        requirePath(text);
        List<Segment> segments = new ArrayList<>();
        Set<String> names = new HashSet<>();
        String[] parts = text.substring(1).split("/", -1);
        for (int i = 0; i < parts.length; i++) {
            String part = parts[i];
            if (!part.startsWith("{")) {
                if (part.indexOf('{') >= 0 || part.indexOf('}') >= 0) {
                    throw new IllegalArgumentException(
                            "a parameter is a whole segment, as in /users/{id}: " + text);
                }
                requireLiteral(text, part, i == parts.length - 1);
                segments.add(new Segment(unescaped(part), false));
                continue;
            }
            if (!part.endsWith("}")) {
                throw new IllegalArgumentException("a brace is not closed: " + text);
            }
            String name = part.substring(1, part.length() - 1);
            boolean takesRest = name.endsWith("...");
            name = takesRest ? name.substring(0, name.length() - 3) : name;
            if (!NAME.matcher(name).matches()) {
                throw new IllegalArgumentException(
                        "a parameter is a name in braces, {id}, or {rest...} for the rest;"
                                + " check its value in the handler: "
                                + text);
            }
            if (!names.add(name)) {
                throw new IllegalArgumentException("each parameter has its own name: " + text);
            }
            if (!takesRest) {
                segments.add(new Segment(name, true));
            } else if (i == parts.length - 1) {
                return new Pattern(List.copyOf(segments), name);
            } else {
                throw new IllegalArgumentException("nothing comes behind the rest: " + text);
            }
        }
        return new Pattern(List.copyOf(segments), "");
    }

    /// Rejects a parameter or wildcard in the syntax of another router. As a literal, all its
    /// requests would get 404.
    private static void requireLiteral(String text, String part, boolean last) {
        if (FOREIGN.matcher(part).matches()) {
            boolean rest = last && part.startsWith("*");
            String name = part.replaceAll("[^\\p{L}\\p{N}_-]", "");
            String usual = NAME.matcher(name).matches() ? name : rest ? "rest" : "name";
            throw new IllegalArgumentException(
                    text
                            + " has "
                            + part
                            + ", which is not a parameter: write {"
                            + usual
                            + (rest ? "...}" : "}")
                            + literally(part));
        }
        if (part.indexOf('*') >= 0) {
            throw new IllegalArgumentException(
                    text
                            + " has a star in "
                            + part
                            + ", which is not a wildcard: a parameter is a whole"
                            + " segment, {name}; check its value in the handler"
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

    /// What would never match, or one spelling alone.
    private static void requirePath(String text) {
        if (text.indexOf('?') >= 0) {
            throw new IllegalArgumentException(
                    text
                            + " has a question mark: a pattern is a path alone, and a handler asks"
                            + " for the query by request.query");
        }
        if (text.indexOf('#') >= 0) {
            throw new IllegalArgumentException(
                    text
                            + " has a number sign: what is behind it stays with the browser, so"
                            + " leave it out");
        }
        Matcher encoded = ENCODED.matcher(text);
        if (encoded.find()) {
            throw new IllegalArgumentException(
                    text
                            + " is encoded, as "
                            + encoded.group()
                            + " shows: write a pattern decoded, /caf\u00e9 and not /caf%C3%A9, and"
                            + " it stands for every spelling");
        }
    }

    boolean isLiteral() {
        return rest.isEmpty() && segments.stream().noneMatch(Segment::isParameter);
    }
}
