package dev.gyre.cli;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// Has each of a crowd send a message a second, spread evenly over it, and measures how long they take to come back.
///
/// The time of a message counts from when it was due. So one that could not be sent in time, because this
/// process or the machine was busy, counts as late: nothing that a user would have noticed is left out.
///
/// Loop thread only.
final class Load {
    private static final long SECOND = 1_000_000_000;

    /// Messages are sent in bursts, one for each of these.
    private static final long STEP = 1_000_000;

    /// The timeout for the last echoes. Long, because a late message counts by its latency, and
    /// only a lost one counts as missing.
    private static final Duration LAST_MESSAGE_TIMEOUT = Duration.ofSeconds(60);

    private static final long MOST_NANOS = 3_600 * SECOND;

    private final Crowd crowd;
    private final EventLoop loop;
    private final Deferred<@Nullable Void> done;
    private final Histogram nanos = new Histogram(MOST_NANOS, 3);
    private final long total;

    private long startNanos;
    private long due;
    private long sent;
    private long back;
    private long wrong;
    private long skipped;
    private @Nullable Timer steps;

    /// @param seconds how many messages each sends
    Load(Crowd crowd, long seconds) {
        this.crowd = crowd;
        loop = crowd.loop();
        done = loop.deferred();
        total = seconds * crowd.size();
    }

    /// Begins.
    ///
    /// @return kept when all are back, or no more can be waited for
    Promise<@Nullable Void> run() {
        startNanos = loop.nowNanos();
        steps = loop.every(Duration.ofNanos(STEP), _ -> step());
        return done.promise();
    }

    private void step() {
        long elapsed = (loop.nowNanos() - startNanos) / STEP * STEP;
        // Not elapsed times count, which would overflow after a day.
        long dueNow = elapsed / SECOND * crowd.size() + elapsed % SECOND * crowd.size() / SECOND;
        for (long until = Math.min(total, dueNow); due < until; due++) {
            if (crowd.member((int) (due % crowd.size())).send(this, dueNanos(due))) {
                sent++;
            } else {
                skipped++;
            }
        }
        if (due == total && steps != null) {
            steps.cancel();
            steps = null;
            if (back < sent) {
                Timer _ = loop.after(LAST_MESSAGE_TIMEOUT, _ -> finish()).unreference();
            } else {
                finish();
            }
        }
    }

    /// The end of the step in which it is due.
    private long dueNanos(long message) {
        long second = message / crowd.size();
        long within = message % crowd.size() * SECOND / crowd.size();
        return startNanos + second * SECOND + (within / STEP + 1) * STEP;
    }

    void cameBack(long dueNanos, boolean right) {
        back++;
        if (!right) {
            wrong++;
        }
        long took = loop.nanoTime() - dueNanos;
        nanos.recordValue(Math.clamp(took, 0, MOST_NANOS));
        if (due == total && back == sent) {
            finish();
        }
    }

    private void finish() {
        if (!done.promise().isSettled()) {
            done.resolve(null);
        }
    }

    /// How long they took.
    Histogram nanos() {
        return nanos;
    }

    /// How many were sent so far.
    long sent() {
        return sent;
    }

    /// How many did not come back, or were not sent because the one before had not, or the connection was gone.
    long missing() {
        return sent - back + skipped;
    }

    /// How many came back as something else.
    long wrong() {
        return wrong;
    }
}
