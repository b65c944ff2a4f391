package dev.gyre.cli;

import java.util.Locale;

/// The activity of a loop in a span of time.
///
/// @param spanNanos the length of the span
/// @param maxDepth the max queue depth observed
/// @param wake latency from submission to a sleeping loop until the task runs
/// @param lateness the lateness of a repeating timer
record LoopSample(
        long spanNanos,
        long ticks,
        long wakeups,
        long tasks,
        int maxDepth,
        Latency wake,
        Latency lateness) {
    /// Has the widths of [#row]: 79 columns, so that the line can be rewritten on a terminal with
    /// 80.
    static final String HEADER =
            row(
                    "time",
                    "ticks/s",
                    "wake p50",
                    "wake p99",
                    "late p50",
                    "late max",
                    "depth",
                    "wakes/s",
                    "tasks/s");

    /// Formats as one line.
    ///
    /// @param elapsedNanos time since the start of the run
    String line(long elapsedNanos) {
        return row(
                time(elapsedNanos / 1e9),
                rate(ticks),
                wake.p50(),
                wake.p99(),
                lateness.p50(),
                lateness.max(),
                compact(maxDepth),
                rate(wakeups),
                rate(tasks));
    }

    private static String time(double seconds) {
        int decimals = seconds < 100 ? 2 : seconds < 1_000 ? 1 : 0;
        return String.format(Locale.ROOT, "%." + decimals + "fs", seconds);
    }

    String rate(long count) {
        return spanNanos <= 0 ? "-" : compact(Math.round(count * 1e9 / spanNanos));
    }

    /// Formats with at most five digits, then in thousands or millions.
    static String compact(long count) {
        if (count < 100_000) {
            return Long.toString(count);
        }
        return count < 10_000_000 ? count / 1_000 + "k" : count / 1_000_000 + "M";
    }

    private static String row(
            String time,
            String ticks,
            String wakeP50,
            String wakeP99,
            String lateP50,
            String lateMax,
            String depth,
            String wakes,
            String tasks) {
        return String.format(
                Locale.ROOT,
                "%6s %8s %9s %9s %9s %9s %6s %8s %7s",
                time,
                ticks,
                wakeP50,
                wakeP99,
                lateP50,
                lateMax,
                depth,
                wakes,
                tasks);
    }
}
