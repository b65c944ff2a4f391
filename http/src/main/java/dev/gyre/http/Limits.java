package dev.gyre.http;

import dev.gyre.http.internal.message.Durations;

import java.time.Duration;

/// Checks of configuration values. Each returns the value. A failed check throws an
/// [IllegalArgumentException] that names the property, the allowed range and the value.
final class Limits {
    private Limits() {}

    static int positive(String property, int value) {
        return (int) range(property, value, 1, Integer.MAX_VALUE);
    }

    static long positive(String property, long value) {
        return range(property, value, 1, Long.MAX_VALUE);
    }

    static int zeroOrMore(String property, int value) {
        return (int) range(property, value, 0, Integer.MAX_VALUE);
    }

    /// @param max `Integer.MAX_VALUE` or `Long.MAX_VALUE` for no limit
    static long range(String property, long value, long min, long max) {
        if (value < min || value > max) {
            String range = max >= Integer.MAX_VALUE ? "at least " + min : min + " to " + max;
            throw new IllegalArgumentException(
                    property + " must be " + range + ", but is " + value);
        }
        return value;
    }

    static Duration positive(String property, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(
                    property + " must be positive, but is " + Durations.format(value));
        }
        return value;
    }

    static Duration zeroOrMore(String property, Duration value) {
        return Durations.requireNotNegative(property, value);
    }
}
