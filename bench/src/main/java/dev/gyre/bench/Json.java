package dev.gyre.bench;

import java.util.Locale;

/// The JSON formatting that a line of results needs.
public final class Json {
    private Json() {}

    /// Formats a ratio; `null` if the reference failed.
    public static String ratio(double ratio) {
        return Double.isNaN(ratio) ? "null" : String.format(Locale.ROOT, "%.3f", ratio);
    }

    public static String quoted(String text) {
        String escaped = text.replace("\\", "\\\\").replace("\"", "\\\"");
        return '"' + escaped.replaceAll("\\p{Cntrl}+", " ") + '"';
    }
}
