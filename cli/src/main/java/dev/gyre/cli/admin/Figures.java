package dev.gyre.cli.admin;

import java.util.Locale;

/// Formats figures in few columns.
public final class Figures {
    private Figures() {}

    /// Formats seconds with two or three digits, as in `25us`, `1.2ms`, `3.4s`, `5min`.
    static String seconds(double seconds) {
        if (seconds < 1e-3) {
            return Math.round(seconds * 1e6) + "us";
        }
        if (seconds < 1) {
            return digits(seconds * 1e3) + "ms";
        }
        if (seconds < 120) {
            return digits(seconds) + "s";
        }
        if (seconds < 7_200) {
            return Math.round(seconds / 60) + "min";
        }
        return seconds < 172_800
                ? Math.round(seconds / 3_600) + "h"
                : Math.round(seconds / 86_400) + "d";
    }

    /// Formats a number with a decimal prefix, as in `999`, `1.2k`, `34M`.
    static String scaled(double number) {
        if (number < 999.5) {
            return Long.toString(Math.round(number));
        }
        double value = number;
        String unit = "";
        for (String next : new String[] {"k", "M", "G", "T"}) {
            if (value < 999.5) {
                break;
            }
            value /= 1_000;
            unit = next;
        }
        return digits(value) + unit;
    }

    private static String digits(double value) {
        return String.format(Locale.ROOT, value < 9.95 ? "%.1f" : "%.0f", value);
    }

    static String percent(double ratio) {
        return Math.round(100 * ratio) + "%";
    }

    /// Formats an enum constant as words.
    static String words(String constant) {
        return constant.toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /// Replaces control characters: a peer chooses paths and names, and must not move the cursor.
    public static String printable(String text) {
        StringBuilder safe = new StringBuilder(text.length());
        text.codePoints()
                .forEach(
                        c ->
                                safe.appendCodePoint(
                                        Character.isISOControl(c)
                                                        || Character.getType(c) == Character.FORMAT
                                                        || Character.getType(c)
                                                                == Character.SURROGATE
                                                ? '?'
                                                : c));
        return safe.toString();
    }
}
