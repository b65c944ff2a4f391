package dev.gyre.http.internal.server;

import dev.gyre.EventLoop;
import dev.gyre.Timer;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// A time that is moved with every request and hardly ever comes: moving it stores a number, and the timer behind it finds out
/// when it fires how long to go on.
///
/// Loop thread only.
final class Deadline {
    private static final long NEVER = Long.MAX_VALUE;

    /// Longer than anybody waits is for ever.
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final EventLoop loop;
    private final Runnable passed;

    private long atNanos = NEVER;
    private @Nullable Timer timer;

    Deadline(EventLoop loop, Runnable passed) {
        this.loop = loop;
        this.passed = passed;
    }

    /// A time of a configuration, in which a very long one means for ever.
    static long nanos(Duration time) {
        return time.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : time.toNanos();
    }

    /// Moves it to so long from now.
    void in(long nanos) {
        atNanos = loop.nowNanos() + nanos;
        Timer known = timer;
        if (known == null) {
            timer = loop.at(atNanos, _ -> fired()).unreference();
        } else if (!known.isScheduled() || known.deadlineNanos() - atNanos > 0) {
            known.reschedule(Duration.ofNanos(nanos));
        }
    }

    void never() {
        atNanos = NEVER;
    }

    void cancel() {
        never();
        Timer known = timer;
        if (known != null) {
            known.cancel();
        }
    }

    private void fired() {
        long leftNanos = atNanos - loop.nowNanos();
        if (atNanos == NEVER) {
            return;
        }
        if (leftNanos > 0) {
            in(leftNanos);
        } else {
            atNanos = NEVER;
            passed.run();
        }
    }
}
