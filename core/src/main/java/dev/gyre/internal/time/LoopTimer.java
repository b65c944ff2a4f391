package dev.gyre.internal.time;

import dev.gyre.Timer;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// A timer and its own place in the queue: being its own node, it costs no allocation to move.
///
/// Loop thread only, like the queue it belongs to.
public final class LoopTimer implements Timer {
    static final int NOWHERE = -1;
    static final int DUE = -2;

    final TimerQueue queue;
    final Consumer<? super Timer> callback;

    /// Zero for one-shot.
    final long periodNanos;

    long deadlineNanos;
    long firedDeadlineNanos;

    /// Breaks ties between equal deadlines: the order of scheduling.
    long sequence;

    /// Index in the heap, [#NOWHERE], or [#DUE] for the list of those that fire in this tick.
    int place = NOWHERE;

    boolean referenced = true;
    @Nullable LoopTimer previousDue;
    @Nullable LoopTimer nextDue;

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
        queue.confinement.check("cancel");
        return queue.remove(this);
    }

    @Override
    public boolean isScheduled() {
        queue.confinement.check("isScheduled");
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
        queue.confinement.check("unreference");
        queue.setReferenced(this, false);
        return this;
    }

    @Override
    public Timer reference() {
        queue.confinement.check("reference");
        queue.setReferenced(this, true);
        return this;
    }
}
