package dev.gyre.bench;

/// As much of JSON as a line of results needs.
public final class Json {
    private Json() {}

    public static String quoted(String text) {
        String escaped = text.replace("\\", "\\\\").replace("\"", "\\\"");
        return '"' + escaped.replaceAll("\\p{Cntrl}+", " ") + '"';
    }
}
