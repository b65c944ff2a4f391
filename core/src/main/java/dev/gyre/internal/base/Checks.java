package dev.gyre.internal.base;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Objects;

/// Checks of configuration values. Each returns the value. A failed check throws an
/// [IllegalArgumentException] that names the property, the allowed range and the value.
public final class Checks {
    private Checks() {}

    /// Returns the value if it is in the range.
    ///
    /// @param max `Integer.MAX_VALUE` for no limit
    public static int range(String property, int value, int min, int max) {
        if (value < min || value > max) {
            throw outOfRange(property, value, min, max == Integer.MAX_VALUE ? null : max);
        }
        return value;
    }

    /// Returns the value if it is in the range.
    ///
    /// @param max `Long.MAX_VALUE` for no limit
    public static long range(String property, long value, long min, long max) {
        if (value < min || value > max) {
            throw outOfRange(property, value, min, max == Long.MAX_VALUE ? null : max);
        }
        return value;
    }

    public static Duration range(String property, Duration value, Duration min, Duration max) {
        Objects.requireNonNull(value, property);
        if (value.compareTo(min) < 0 || value.compareTo(max) > 0) {
            throw outOfRange(property, value, min, max);
        }
        return value;
    }

    public static Duration notNegative(String property, Duration value) {
        Objects.requireNonNull(value, property);
        if (value.isNegative()) {
            throw outOfRange(property, value, Duration.ZERO, null);
        }
        return value;
    }

    private static IllegalArgumentException outOfRange(
            String property, Object value, Object min, @Nullable Object max) {
        String range = max == null ? "at least " + min : "from " + min + " to " + max;
        return new IllegalArgumentException(property + " must be " + range + ", but is " + value);
    }
}
