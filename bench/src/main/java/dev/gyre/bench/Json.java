package dev.gyre.bench;

import java.util.Locale;

/// As much of JSON as a line of results needs.
public final class Json {
    private Json() {}

    /// A ratio, or null if there is none because what it is to has failed.
    public static String ratio(double ratio) {
        return Double.isNaN(ratio) ? "null" : String.format(Locale.ROOT, "%.3f", ratio);
    }

    public static String quoted(String text) {
        String escaped = text.replace("\\", "\\\\").replace("\"", "\\\"");
        return '"' + escaped.replaceAll("\\p{Cntrl}+", " ") + '"';
    }
}
