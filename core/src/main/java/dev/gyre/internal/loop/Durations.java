package dev.gyre.internal.loop;

import java.time.Duration;
import java.util.Objects;

/// Durations as nanoseconds, refused where they do not fit.
final class Durations {
    private Durations() {}

    /// @param what what it is, for the message
    /// @throws IllegalArgumentException if it is negative or beyond 292 years
    static long nanos(String what, Duration duration) {
        Objects.requireNonNull(duration, what);
        if (duration.isNegative()) {
            throw new IllegalArgumentException(what + " must not be negative, but is " + duration);
        }
        try {
            return duration.toNanos();
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    what + " must be below 292 years, but is " + duration, e);
        }
    }

    /// The instant so many nanoseconds after another.
    ///
    /// @throws IllegalArgumentException if it cannot be represented
    static long deadline(String what, long fromNanos, long nanos) {
        long deadline = fromNanos + nanos;
        if (deadline < fromNanos) {
            throw new IllegalArgumentException(
                    what + " is too long: " + nanos + " ns from now cannot be represented");
        }
        return deadline;
    }
}
