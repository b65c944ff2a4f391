package dev.gyre.internal.time;

import dev.gyre.Timer;

import java.time.Duration;
import java.util.function.Consumer;

/// A timer and its own place in the queue: being its own node, it costs no allocation to move.
///
/// Loop thread only, like the queue it belongs to.
public final class LoopTimer implements Timer {
    static final int NOWHERE = -1;
    static final int NEAR = -2;
    static final int DUE = -3;

    final TimerQueue queue;
    final Consumer<? super Timer> callback;

    /// Zero for one-shot.
    final long periodNanos;

    long firedDeadlineNanos;
    long deadlineNanos;

    /// Breaks ties between equal deadlines: the order of scheduling.
    long sequence;

    /// Where the timer is: in a slot of the wheel, from 0 on; or [#NOWHERE], [#NEAR], or among those that
    /// are [#DUE] in this tick.
    int place = NOWHERE;

    /// Its place among the timers there.
    int index;

    boolean referenced = true;

    LoopTimer(
            TimerQueue queue,
            long deadlineNanos,
            long periodNanos,
            Consumer<? super Timer> callback) {
        this.queue = queue;
        this.deadlineNanos = deadlineNanos;
        this.firedDeadlineNanos = deadlineNanos;
        this.periodNanos = periodNanos;
        this.callback = callback;
    }

    boolean isBefore(LoopTimer other) {
        long difference = deadlineNanos - other.deadlineNanos; // survives wrap-around
        return difference < 0 || (difference == 0 && sequence - other.sequence < 0);
    }

    /// Runs the callback. Called by the loop, after [TimerQueue#takeDue(long)].
    public void fire() {
        callback.accept(this);
    }

    @Override
    public boolean cancel() {
        queue.host.requireConfined("cancel");
        return queue.remove(this);
    }

    @Override
    public Timer reschedule(Duration delay) {
        long nanos = Durations.nanos("delay", delay);
        TimerHost host = queue.host;
        host.requireOpen("reschedule");
        queue.reschedule(this, Durations.deadline("delay", host.nowNanos(), nanos));
        return this;
    }

    @Override
    public boolean isScheduled() {
        queue.host.requireConfined("isScheduled");
        return place != NOWHERE;
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    public long firedDeadlineNanos() {
        return firedDeadlineNanos;
    }

    @Override
    public Timer unreference() {
        queue.host.requireConfined("unreference");
        queue.setReferenced(this, false);
        return this;
    }

    @Override
    public Timer reference() {
        queue.host.requireConfined("reference");
        queue.setReferenced(this, true);
        return this;
    }
}
