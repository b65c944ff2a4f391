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

    private final EventLoop loop;
    private final Runnable passed;

    private long atNanos = NEVER;
    private @Nullable Timer timer;

    Deadline(EventLoop loop, Runnable passed) {
        this.loop = loop;
        this.passed = passed;
    }

    /// Moves it to so long from now.
    void in(long nanos) {
        // Read afresh: the tick's own time is from before the loop waited for what is told just
        // now, which
        // may be longer ago than the deadline is away.
        atNanos = loop.nanoTime() + nanos;
        Timer known = timer;
        if (known == null) {
            timer = loop.at(atNanos, _ -> fired()).unreference();
        } else if (!known.isScheduled() || known.deadlineNanos() - atNanos > 0) {
            known.reschedule(Duration.ofNanos(Math.max(0, atNanos - loop.nowNanos())));
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
