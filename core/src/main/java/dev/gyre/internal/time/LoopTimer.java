package dev.gyre.internal.time;

import dev.gyre.Cancellation;
import dev.gyre.Timer;
import dev.gyre.internal.base.LoopContext;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;

/// A timer. It is its own queue node, so moving it allocates nothing.
///
/// Loop thread only, like its queue.
public final class LoopTimer implements Timer {
    static final int UNSCHEDULED = -1;
    static final int NEAR = -2;
    static final int DUE = -3;

    final TimerQueue queue;

    /// The user's callback, or a [TimerBinding] if the timer is bound to a cancellation.
    private Consumer<? super Timer> callback;

    /// Zero if one-shot.
    final long periodNanos;

    long firedDeadlineNanos;
    long deadlineNanos;

    /// The order of scheduling. Breaks ties between equal deadlines.
    long sequence;

    /// The index of its wheel slot; or [#UNSCHEDULED], [#NEAR], or [#DUE] in this tick.
    int place = UNSCHEDULED;

    /// Its index in the array of that structure.
    int index;

    boolean referenced = true;

    /// Whether it is bound to a cancellation. The flag fits into padding and saves a type check.
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

    /// Runs the callback. The loop calls this after [TimerQueue#pollDue(long)].
    public void fire() {
        callback.accept(this);
    }

    @Override
    public boolean cancel() {
        queue.context.requireConfined("cancel");
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
        LoopContext context = queue.context;
        context.requireOpen("reschedule");
        long deadline = Durations.deadline("delay", context.nowNanos(), nanos);
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
    @SuppressWarnings("ReferenceEquality") // none() is a single instance
    public Timer cancelOn(Cancellation cancellation) {
        Objects.requireNonNull(cancellation, "cancellation");
        queue.context.requireConfined("cancelOn");
        if (cancellation == Cancellation.none()) {
            return this;
        }
        if (bound) {
            binding().addCancellation(cancellation);
        } else {
            callback = new TimerBinding(this, callback, cancellation);
            bound = true;
        }
        if (cancellation.isCancelled()) {
            cancel();
        } else if (place != UNSCHEDULED) {
            binding().listen();
        }
        return this;
    }

    private TimerBinding binding() {
        return (TimerBinding) callback;
    }

    @Override
    public boolean isScheduled() {
        queue.context.requireConfined("isScheduled");
        return place != UNSCHEDULED && !(bound && binding().isCancelled());
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
        queue.context.requireConfined("unreference");
        queue.setReferenced(this, false);
        return this;
    }

    @Override
    public Timer reference() {
        queue.context.requireConfined("reference");
        queue.setReferenced(this, true);
        return this;
    }
}
