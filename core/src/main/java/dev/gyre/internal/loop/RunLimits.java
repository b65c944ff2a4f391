package dev.gyre.internal.loop;

/// What ends the current run: its limits, a stop request, and during a drain the deadline of the
/// shutdown.
///
/// A stop request ends the current run, or the next one if no run is in progress. It is kept until
/// a run has obeyed it.
public final class RunLimits {
    // Shared: set by any thread, cleared by the loop.
    private volatile boolean stopRequested;

    // Shared: set by any thread, for good.
    private volatile boolean expired;

    // Loop thread only.
    private boolean stopNoticed;
    private long callbacksLeft;
    private long waitsLeft;
    private boolean blocksIfDead;
    private boolean forOneCallback;
    private boolean timed;
    private long untilNanos;

    /// Resets all limits for a run without any.
    void none() {
        callbacksLeft = Long.MAX_VALUE;
        waitsLeft = Long.MAX_VALUE;
        blocksIfDead = true;
        timed = false;
        forOneCallback = false;
    }

    void limitToOneCallback() {
        callbacksLeft = 1;
        forOneCallback = true;
    }

    void limitWaits(long max) {
        waitsLeft = max;
    }

    void limitTime(long deadlineNanos) {
        timed = true;
        untilNanos = deadlineNanos;
    }

    /// Blocks only while something keeps the loop alive (L-8).
    void blockOnlyIfAlive() {
        blocksIfDead = false;
    }

    boolean isForOneCallback() {
        return forOneCallback;
    }

    boolean mayRun() {
        return callbacksLeft > 0;
    }

    boolean mayWait() {
        return waitsLeft > 0;
    }

    boolean blocksIfDead() {
        return blocksIfDead;
    }

    void countCallback() {
        callbacksLeft--;
    }

    void countWait() {
        waitsLeft--;
    }

    /// Returns the given instant, or the end of the run if that is earlier.
    long earlier(long nanos) {
        return timed && untilNanos - nanos < 0 ? untilNanos : nanos; // survives wrap-around
    }

    boolean isTimeUp(long nowNanos) {
        return timed && untilNanos - nowNanos <= 0; // survives wrap-around
    }

    /// Like [#isTimeUp], also true once [#expire] was called. A run does not check this: the state
    /// ends it.
    boolean isDrainTimeUp(long nowNanos) {
        return expired || isTimeUp(nowNanos);
    }

    /// Makes the time limit of a drain pass now. Any thread. With the effect of a full fence.
    void expire() {
        expired = true;
    }

    boolean isExpired() {
        return expired;
    }

    /// Any thread. With the effect of a full fence.
    public void requestStop() {
        stopRequested = true;
    }

    /// Returns whether a stop was requested. The request no longer keeps the loop from sleeping, as
    /// a run that drains first may have to.
    boolean noticeStop() {
        stopNoticed = stopRequested;
        return stopNoticed;
    }

    /// Ends the request when a run returns.
    void clearStop() {
        if (noticeStop()) {
            stopRequested = false;
            stopNoticed = false;
        }
    }

    /// Returns whether the loop has to check its limits before it sleeps.
    boolean isInterrupted() {
        return expired || (stopRequested && !stopNoticed);
    }
}
