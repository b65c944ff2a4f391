package dev.gyre.internal.loop;

/// How much the current run may still do.
///
/// Loop thread only.
final class RunLimits {
    private long callbacksLeft;
    private long waitsLeft;
    private boolean waitsForNothing;
    private boolean forOne;
    private boolean timed;
    private long untilNanos;

    /// For a run without bounds.
    void none() {
        callbacksLeft = Long.MAX_VALUE;
        waitsLeft = Long.MAX_VALUE;
        waitsForNothing = true;
        timed = false;
        forOne = false;
    }

    void limitCallbacks(long most) {
        callbacksLeft = most;
        forOne = most == 1;
    }

    void limitWaits(long most) {
        waitsLeft = most;
    }

    /// Does not wait when nothing is alive.
    void blockOnlyIfAlive() {
        waitsForNothing = false;
    }

    void limitTime(long deadlineNanos) {
        timed = true;
        untilNanos = deadlineNanos;
    }

    /// Whether the run ends with its first callback.
    boolean isForOne() {
        return forOne;
    }

    boolean mayRun() {
        return callbacksLeft > 0;
    }

    boolean mayWait() {
        return waitsLeft > 0;
    }

    boolean waitsForNothing() {
        return waitsForNothing;
    }

    void bookCallback() {
        callbacksLeft--;
    }

    void bookWait() {
        waitsLeft--;
    }

    boolean isOver(long nowNanos) {
        return timed && untilNanos - nowNanos <= 0;
    }

    /// The given instant, or the run's own end if that is earlier.
    long earlier(long nanos) {
        return timed && untilNanos - nanos < 0 ? untilNanos : nanos;
    }
}
