package dev.gyre.cli;

import dev.gyre.os.FileChange;

import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/// Formats a file change as one line, with control characters escaped.
final class ChangeLine {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT);

    private ChangeLine() {}

    /// Formats as text: `12:00:01.250  CREATED   src/Main.java`.
    static String text(Instant time, ZoneId zone, FileChange change) {
        StringBuilder line = new StringBuilder(TIME.format(time.atZone(zone)));
        line.append(String.format(Locale.ROOT, "  %-8s  ", change.kind()));
        Path from = change.from();
        if (from != null) {
            appendVisible(line, from).append(" -> ");
        }
        appendVisible(line, change.path());
        if (change.kind() == FileChange.Kind.OVERFLOW) {
            line.append("  (changes here were missed)");
        }
        return line.toString();
    }

    /// Formats as a JSON object.
    static String json(Instant time, FileChange change) {
        StringBuilder line = new StringBuilder("{\"time\":\"");
        line.append(time.truncatedTo(ChronoUnit.MILLIS))
                .append("\",\"kind\":\"")
                .append(change.kind())
                .append("\",\"path\":");
        appendJson(line, change.path());
        Path from = change.from();
        if (from != null) {
            appendJson(line.append(",\"from\":"), from);
        }
        return line.append('}').toString();
    }

    /// A name may contain any byte but slash and NUL: a line feed would break the line, and an
    /// escape sequence could control the terminal.
    private static StringBuilder appendVisible(StringBuilder line, Path path) {
        path.toString().chars().forEach(c -> appendCharacter(line, (char) c));
        return line;
    }

    private static void appendJson(StringBuilder line, Path path) {
        line.append('"');
        path.toString()
                .chars()
                .forEach(
                        c -> {
                            if (c == '"' || c == '\\') {
                                line.append('\\');
                            }
                            appendCharacter(line, (char) c);
                        });
        line.append('"');
    }

    private static void appendCharacter(StringBuilder line, char c) {
        if (Character.isISOControl(c)) {
            line.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
        } else {
            line.append(c);
        }
    }
}
