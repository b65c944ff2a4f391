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

    private static final java.util.regex.Pattern ENCODED =
            java.util.regex.Pattern.compile("%[0-9A-Fa-f]{2}");

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
                segments.add(new Segment(part, false));
                continue;
            }
            if (!part.endsWith("}")) {
                throw new IllegalArgumentException("a brace is not closed: " + text);
            }
            String name = part.substring(1, part.length() - 1);
            boolean takesRest = name.endsWith("...");
            name = takesRest ? name.substring(0, name.length() - 3) : name;
            if (name.isEmpty() || !names.add(name)) {
                throw new IllegalArgumentException(
                        "parameters have a name each, and each its own: " + text);
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
