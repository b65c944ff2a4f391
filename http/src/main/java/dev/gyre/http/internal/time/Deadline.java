package dev.gyre.http.internal.time;

import dev.gyre.EventLoop;
import dev.gyre.Timer;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// A deadline that moves with every event and rarely expires. Moving it later only stores a number:
/// the timer behind it fires at the earlier time and reschedules itself.
///
/// The timer does not keep the loop alive: the stream that the deadline guards does.
///
/// Loop thread only.
public final class Deadline {
    private static final long DISARMED = Long.MAX_VALUE;

    /// The max timeout. A longer one could overflow the clock.
    private static final Duration MAX = Duration.ofDays(36_500);

    private final EventLoop loop;
    private final Runnable expired;

    // Loop thread only.
    private long atNanos = DISARMED;
    private @Nullable Timer timer;

    /// Creates a disarmed deadline.
    ///
    /// @param expired runs on the loop each time the deadline passes, which disarms it first
    public Deadline(EventLoop loop, Runnable expired) {
        this.loop = loop;
        this.expired = expired;
    }

    /// Returns a configured timeout in nanoseconds, at most 100 years.
    public static long nanos(Duration timeout) {
        return timeout.compareTo(MAX) > 0 ? MAX.toNanos() : timeout.toNanos();
    }

    /// Moves the deadline to `nanos` from now, earlier or later, and arms it.
    public void in(long nanos) {
        atNanos = loop.nowNanos() + nanos;
        Timer known = timer;
        if (known == null) {
            timer = loop.at(atNanos, _ -> fired()).unreference();
        } else if (!known.isScheduled() || known.deadlineNanos() - atNanos > 0) {
            known.reschedule(Duration.ofNanos(nanos));
        }
    }

    /// Moves the deadline to `nanos` from now if that is earlier, and arms it.
    public void inAtMost(long nanos) {
        if (!isArmed() || atNanos - loop.nowNanos() > nanos) {
            in(nanos);
        }
    }

    /// Returns whether the deadline is set and has not passed.
    public boolean isArmed() {
        return atNanos != DISARMED;
    }

    /// Removes the deadline. The timer stays scheduled, so that arming again is cheap.
    public void disarm() {
        atNanos = DISARMED;
    }

    /// Removes the deadline and its timer.
    public void cancel() {
        disarm();
        Timer known = timer;
        if (known != null) {
            known.cancel();
        }
    }

    private void fired() {
        if (!isArmed()) {
            return;
        }
        long leftNanos = atNanos - loop.nowNanos();
        if (leftNanos > 0) {
            in(leftNanos);
        } else {
            disarm();
            expired.run();
        }
    }
}
