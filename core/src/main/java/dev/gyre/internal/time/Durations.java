package dev.gyre.internal.time;

import java.time.Duration;
import java.util.Objects;

/// Durations as nanoseconds, refused where they do not fit.
public final class Durations {
    /// Half of what a long can hold, so that it can be added to any instant.
    private static final Duration MAX_WAIT = Duration.ofNanos(Long.MAX_VALUE / 2);

    private Durations() {}

    /// The duration in nanoseconds.
    ///
    /// @param what what it is, for the message
    /// @throws IllegalArgumentException if it is negative or beyond 292 years
    public static long nanos(String what, Duration duration) {
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

    /// The same, but what is beyond 146 years counts as that long: for waiting, which is as good as for ever.
    ///
    /// @throws IllegalArgumentException if it is negative
    public static long saturatedNanos(String what, Duration duration) {
        Objects.requireNonNull(duration, what);
        return duration.compareTo(MAX_WAIT) > 0 ? MAX_WAIT.toNanos() : nanos(what, duration);
    }

    /// Refuses an instant that is so far away that it cannot be told whether it is ahead or past.
    ///
    /// @throws IllegalArgumentException if it is more than 292 years from the other one
    public static void requireComparable(String what, long instantNanos, long fromNanos) {
        boolean ahead = instantNanos > fromNanos;
        if (ahead != instantNanos - fromNanos > 0 && instantNanos != fromNanos) {
            throw new IllegalArgumentException(
                    what + " must be within 292 years of now, but is " + instantNanos + " ns");
        }
    }

    /// The instant so many nanoseconds after another.
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
