package dev.gyre.testkit;

import java.util.List;
import java.util.Objects;

/// The events of a simulated world so far: each call to the kernel with its result, each delivery
/// and each event. Each line starts with the simulated time in nanoseconds since the world was
/// created. Bytes are shown as a hash.
///
/// Two runs of one seed and one program have equal digests. The format of the lines may change.
///
/// Immutable.
///
/// @param lines the latest lines, at most 10 000
/// @param total the number of all lines
/// @param digest a hash of all lines, including those no longer kept
public record Trace(List<String> lines, long total, long digest) {
    /// Creates a trace.
    public Trace {
        lines = List.copyOf(Objects.requireNonNull(lines, "lines"));
    }

    /// Returns the last lines as one text.
    public String tail(int maxLines) {
        if (maxLines < 0) {
            throw new IllegalArgumentException("maxLines must not be negative, but is " + maxLines);
        }
        return String.join("\n", lines.subList(Math.max(0, lines.size() - maxLines), lines.size()));
    }

    /// Returns all kept lines and the digest.
    @Override
    public String toString() {
        String before = total > lines.size() ? (total - lines.size()) + " earlier lines\n" : "";
        return before + String.join("\n", lines) + "\ndigest " + Long.toHexString(digest);
    }
}
