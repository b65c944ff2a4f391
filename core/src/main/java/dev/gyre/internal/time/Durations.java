package dev.gyre.internal.time;

import dev.gyre.internal.base.Checks;

import java.time.Duration;
import java.util.Objects;

/// Converts durations to nanoseconds and rejects those out of range.
public final class Durations {
    /// Half of the range of a long, so that it can be added to any instant.
    private static final Duration MAX_WAIT = Duration.ofNanos(Long.MAX_VALUE / 2);

    private Durations() {}

    /// Returns a duration in nanoseconds.
    ///
    /// @param what the name of the parameter, for the message
    /// @throws IllegalArgumentException if it is negative or exceeds 292 years
    public static long nanos(String what, Duration duration) {
        Checks.notNegative(what, duration);
        try {
            return duration.toNanos();
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    what + " must be below 292 years, but is " + Checks.format(duration), e);
        }
    }

    /// Returns the duration in nanoseconds, at most 146 years. For waits, where that means forever.
    ///
    /// @throws IllegalArgumentException if it is negative
    public static long saturatedNanos(String what, Duration duration) {
        Objects.requireNonNull(duration, what);
        return duration.compareTo(MAX_WAIT) > 0 ? MAX_WAIT.toNanos() : nanos(what, duration);
    }

    /// Rejects an instant too far away to tell whether it is in the future or in the past.
    ///
    /// @throws IllegalArgumentException if the instants are more than 292 years apart
    public static void requireComparable(String what, long instantNanos, long fromNanos) {
        boolean ahead = instantNanos > fromNanos;
        if (ahead != instantNanos - fromNanos > 0 && instantNanos != fromNanos) {
            throw new IllegalArgumentException(
                    what + " must be within 292 years of now, but is " + instantNanos + " ns");
        }
    }

    /// Returns the instant that many nanoseconds after another one.
    ///
    /// @throws IllegalArgumentException if it cannot be represented
    public static long deadline(String what, long fromNanos, long nanos) {
        long deadline = fromNanos + nanos;
        if (deadline < fromNanos) {
            throw new IllegalArgumentException(
                    what + " is too long: " + nanos + " ns from now cannot be represented");
        }
        return deadline;
    }
}
