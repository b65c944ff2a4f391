package dev.gyre.internal.base;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;

/// Checks of configuration values. Each returns the value. A failed check throws an
/// [IllegalArgumentException] that names the property, the allowed range and the value.
public final class Checks {
    private Checks() {}

    /// Returns the value if it is in the range. The max is `Integer.MAX_VALUE` for no limit.
    public static int range(String property, int value, int min, int max) {
        if (value < min || value > max) {
            throw outOfRange(property, value, min, max == Integer.MAX_VALUE ? null : max);
        }
        return value;
    }

    /// Returns the value if it is in the range. The max is `Long.MAX_VALUE` for no limit.
    public static long range(String property, long value, long min, long max) {
        if (value < min || value > max) {
            throw outOfRange(property, value, min, max == Long.MAX_VALUE ? null : max);
        }
        return value;
    }

    /// Returns the value if it is in the range. The max is `null` for no limit.
    public static Duration range(
            String property, Duration value, Duration min, @Nullable Duration max) {
        Objects.requireNonNull(value, property);
        if (value.compareTo(min) < 0 || (max != null && value.compareTo(max) > 0)) {
            Object limit = max == null ? null : format(max);
            throw outOfRange(property, format(value), format(min), limit);
        }
        return value;
    }

    public static Duration notNegative(String property, Duration value) {
        return range(property, value, Duration.ZERO, null);
    }

    private static IllegalArgumentException outOfRange(
            String property, Object value, Object min, @Nullable Object max) {
        String range = max == null ? "at least " + min : "from " + min + " to " + max;
        return new IllegalArgumentException(property + " must be " + range + ", but is " + value);
    }

    /// Formats a duration in the largest unit that represents it exactly, as in `250 ms`.
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
}
