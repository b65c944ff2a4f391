package dev.gyre.http.internal.server;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// What a route's path looks like: literal segments, parameters, and perhaps one that takes the rest.
///
/// @param segments what stands between the slashes
/// @param rest the name of what takes all that is left; empty if nothing does
record Pattern(List<Segment> segments, String rest) {
    /// @param text the literal, or the name of the parameter
    record Segment(String text, boolean isParameter) {}

    /// @throws IllegalArgumentException if it is none
    static Pattern of(String text) {
        if (!text.startsWith("/")) {
            throw new IllegalArgumentException("a pattern begins with a slash: " + text);
        }
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

    boolean isLiteral() {
        return rest.isEmpty() && segments.stream().noneMatch(Segment::isParameter);
    }
}
