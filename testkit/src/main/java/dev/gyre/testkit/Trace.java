package dev.gyre.testkit;

import java.util.List;
import java.util.Objects;

/// What has happened in a simulated world so far: every call to the kernel with its result, every delivery,
/// every event, each with the simulated time in nanoseconds since the world began. Bytes are named by a hash.
///
/// Two runs of one seed and one program have equal digests. The lines are for reading: their format may change.
///
/// Immutable.
///
/// @param lines the latest lines, at most 10 000
/// @param total how many lines there were in all
/// @param digest a hash of all lines, also of those no longer kept
public record Trace(List<String> lines, long total, long digest) {
    /// Checks the parts.
    public Trace {
        lines = List.copyOf(Objects.requireNonNull(lines, "lines"));
    }

    /// The last lines, at most so many, as one text.
    public String tail(int most) {
        if (most < 0) {
            throw new IllegalArgumentException("most must not be negative, but is " + most);
        }
        return String.join("\n", lines.subList(Math.max(0, lines.size() - most), lines.size()));
    }

    /// All kept lines, and the digest.
    @Override
    public String toString() {
        String before = total > lines.size() ? (total - lines.size()) + " earlier lines\n" : "";
        return before + String.join("\n", lines) + "\ndigest " + Long.toHexString(digest);
    }
}
