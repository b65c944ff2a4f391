package dev.gyre.http;

import java.time.Duration;

/// Checks what a configuration is given, so that all of them refuse alike.
final class Limits {
    private Limits() {}

    /// @throws IllegalArgumentException if it is below one
    static int positive(String name, int value) {
        return (int) positive(name, (long) value);
    }

    /// @throws IllegalArgumentException if it is below one
    static long positive(String name, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " is at least one, not " + value);
        }
        return value;
    }

    /// @throws IllegalArgumentException if it is negative
    static int zeroOrMore(String name, int value) {
        if (value < 0) {
            throw new IllegalArgumentException(name + " is never negative: " + value);
        }
        return value;
    }

    /// @throws IllegalArgumentException if it is zero or negative
    static Duration positive(String name, Duration time) {
        if (time.isNegative() || time.isZero()) {
            throw new IllegalArgumentException(name + " is positive, not " + time);
        }
        return time;
    }

    /// @throws IllegalArgumentException if it is negative
    static Duration zeroOrMore(String name, Duration time) {
        if (time.isNegative()) {
            throw new IllegalArgumentException(name + " is never negative: " + time);
        }
        return time;
    }
}
