package dev.gyre.internal.time;

import dev.gyre.Cancellation;
import dev.gyre.Timer;
import dev.gyre.internal.base.LoopContext;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/// A timer and its own place in the queue: being its own node, it costs no allocation to move.
///
/// Loop thread only, like the queue it belongs to.
public final class LoopTimer implements Timer {
    static final int NOWHERE = -1;
    static final int NEAR = -2;
    static final int DUE = -3;

    final TimerQueue queue;

    /// A [TimerBinding] if the timer is bound.
    private Consumer<? super Timer> callback;

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

    /// Whether it was bound to a cancellation. Kept here, where it costs no memory and no further look.
    private boolean bound;

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
        boolean removed = queue.remove(this);
        if (bound) {
            binding().stopListening();
            return removed && !binding().isCancelled();
        }
        return removed;
    }

    @Override
    public Timer reschedule(Duration delay) {
        long nanos = Durations.nanos("delay", delay);
        LoopContext host = queue.host;
        host.requireOpen("reschedule");
        long deadline = Durations.deadline("delay", host.nowNanos(), nanos);
        if (bound && binding().isCancelled()) {
            cancel();
            return this;
        }
        queue.reschedule(this, deadline);
        if (bound) {
            binding().listen();
        }
        return this;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // there is one that is never cancelled
    public Timer cancelOn(Cancellation cancellation) {
        Objects.requireNonNull(cancellation, "cancellation");
        queue.host.requireConfined("cancelOn");
        if (cancellation == Cancellation.none()) {
            return this;
        }
        if (bound) {
            binding().alsoTo(cancellation);
        } else {
            callback = new TimerBinding(this, callback, cancellation);
            bound = true;
        }
        if (cancellation.isCancelled()) {
            cancel();
        } else if (place != NOWHERE) {
            binding().listen();
        }
        return this;
    }

    private TimerBinding binding() {
        return (TimerBinding) callback;
    }

    @Override
    public boolean isScheduled() {
        queue.host.requireConfined("isScheduled");
        return place != NOWHERE && !(bound && binding().isCancelled());
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
