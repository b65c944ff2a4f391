package dev.gyre.http.internal.message;

import java.time.Duration;

/// Durations in messages.
public final class Durations {
    private Durations() {}

    /// Returns the duration as `10 s`, `250 ms`, `5 µs` or `1 ns`.
    public static String format(Duration duration) {
        int fraction = duration.toNanosPart();
        if (fraction == 0 || Math.abs(duration.toSeconds()) > Integer.MAX_VALUE) {
            return duration.toSeconds() + " s";
        }
        if (fraction % 1_000_000 == 0) {
            return duration.toMillis() + " ms";
        }
        long nanos = duration.toNanos();
        return nanos % 1_000 == 0 ? nanos / 1_000 + " µs" : nanos + " ns";
    }

    /// Returns the value of a property.
    ///
    /// @throws IllegalArgumentException if it is negative
    public static Duration requireNotNegative(String property, Duration value) {
        if (value.isNegative()) {
            throw new IllegalArgumentException(
                    property + " must be at least 0, but is " + format(value));
        }
        return value;
    }
}
