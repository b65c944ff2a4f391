package dev.gyre.internal.time;

import dev.gyre.Timer;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.StackReserve;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.function.Consumer;

/// The loop's timers: a coarse [TimerWheel] for the many far ones in front of an exact [NearQueue]
/// for the few near ones.
///
/// Firing takes two steps. [#collectDue] moves all due timers to a list, in order, and [#pollDue]
/// returns them one by one. A timer that a callback schedules is not added to that list, so it
/// fires in a later tick. A timer that a callback cancels is removed from the list and does not
/// fire.
///
/// Loop thread only.
public final class TimerQueue {
    private static final int MAX_TIMERS = 1 << 26;

    final LoopContext context;
    final TimerBinding.Registrations registrations = new TimerBinding.Registrations();

    private final NearQueue near = new NearQueue();
    private final TimerWheel wheel;
    private final DueList due = new DueList();
    private int size;
    private int unreferenced;
    private long nextSequence;

    public TimerQueue(LoopContext context, long nowNanos) {
        this.context = context;
        this.wheel = new TimerWheel(near, nowNanos);
    }

    /// Schedules a timer; a period of zero makes it one-shot.
    public LoopTimer schedule(
            long deadlineNanos, long periodNanos, Consumer<? super Timer> callback) {
        StackReserve.requireSmall();
        LoopTimer timer = new LoopTimer(this, deadlineNanos, periodNanos, callback);
        if (size >= MAX_TIMERS) {
            throw new IllegalStateException("too many timers: " + size);
        }
        ensureCapacity(deadlineNanos);
        insert(timer);
        return timer;
    }

    /// Closes the registrations of all bound timers. Any thread, when the loop terminates.
    public void release() {
        registrations.close();
    }

    public int size() {
        return size;
    }

    /// Returns the number of scheduled timers that keep the loop alive.
    public int referenced() {
        return size - unreferenced;
    }

    /// Returns the nearest deadline, or the limit if that is earlier. May return an earlier instant
    /// if a nearer timer was cancelled.
    public long nearest(long limitNanos) {
        return near.first() != null && !wheel.hasPendingMoves()
                ? near.nearest(limitNanos)
                : wheel.nearest(limitNanos);
    }

    /// Moves all timers whose deadline has passed to the list of due timers, in order.
    public void collectDue(long nowNanos) {
        wheel.advance(nowNanos);
        for (LoopTimer first = near.first();
                first != null && first.deadlineNanos - nowNanos <= 0;
                first = near.first()) {
            due.ensureCapacity(); // Before the removal, as it may throw.
            near.remove(first);
            due.add(first);
        }
    }

    /// Removes the next due timer and reinserts a repeating one for its next period.
    ///
    /// @return the timer to fire; `null` if none is left
    public @Nullable LoopTimer pollDue(long nowNanos) {
        LoopTimer timer = due.first();
        if (timer == null) {
            return null;
        }
        if (timer.periodNanos == 0) {
            remove(timer);
            timer.firedDeadlineNanos = timer.deadlineNanos;
            return timer;
        }
        // To the next multiple in the future: missed periods fire once, now.
        long missed = (nowNanos - timer.deadlineNanos) / timer.periodNanos;
        long next = timer.deadlineNanos + (missed + 1) * timer.periodNanos;
        ensureCapacity(next);
        remove(timer);
        timer.firedDeadlineNanos = timer.deadlineNanos;
        timer.deadlineNanos = next;
        insert(timer);
        return timer;
    }

    /// Sets the deadline of a timer, scheduled or not. Among equal deadlines it is now the last.
    void reschedule(LoopTimer timer, long deadlineNanos) {
        if (wheel.canStay(timer, deadlineNanos)) {
            timer.deadlineNanos = deadlineNanos;
            timer.sequence = nextSequence++;
            return;
        }
        StackReserve.requireSmall();
        ensureCapacity(deadlineNanos);
        remove(timer);
        timer.deadlineNanos = deadlineNanos;
        insert(timer);
    }

    /// Returns whether the timer was scheduled.
    boolean remove(LoopTimer timer) {
        int place = timer.place;
        if (place >= 0) {
            wheel.remove(timer);
        } else if (place == LoopTimer.NEAR) {
            near.remove(timer);
        } else if (place == LoopTimer.DUE) {
            due.remove(timer);
        } else {
            return false;
        }
        size--;
        if (!timer.referenced) {
            unreferenced--;
        }
        return true;
    }

    void setReferenced(LoopTimer timer, boolean wanted) {
        if (timer.referenced != wanted) {
            timer.referenced = wanted;
            if (timer.place != LoopTimer.UNSCHEDULED) {
                unreferenced += wanted ? -1 : 1;
            }
        }
    }

    /// Grows the structure for a timer with that deadline before anything changes (E-4).
    private void ensureCapacity(long deadlineNanos) {
        if (wheel.accepts(deadlineNanos)) {
            wheel.ensureCapacity(deadlineNanos);
        } else {
            near.ensureCapacity();
        }
    }

    /// Requires a preceding [#ensureCapacity].
    private void insert(LoopTimer timer) {
        timer.sequence = nextSequence++;
        if (wheel.accepts(timer.deadlineNanos)) {
            wheel.insert(timer);
        } else {
            near.insert(timer);
        }
        size++;
        if (!timer.referenced) {
            unreferenced++;
        }
    }

    /// The timers that fire in this tick, in firing order.
    static final class DueList {
        /// Once all timers have fired, a larger array is replaced.
        private static final int MAX_RETAINED = 1_024;

        private static final int MIN_CAPACITY = 16;

        /// The timers from `first` to `end`; `null` where one was removed.
        private @Nullable LoopTimer[] timers = new @Nullable LoopTimer[MIN_CAPACITY];

        private int first;
        private int end;

        int capacity() {
            return timers.length;
        }

        void ensureCapacity() {
            if (end == timers.length) {
                timers = Arrays.copyOf(timers, 2 * end);
            }
        }

        void add(LoopTimer timer) {
            ensureCapacity();
            timers[end] = timer;
            timer.place = LoopTimer.DUE;
            timer.index = end++;
        }

        void remove(LoopTimer timer) {
            assert timers[timer.index] == timer : "wrong index: " + timer.index;
            timers[timer.index] = null;
            timer.place = LoopTimer.UNSCHEDULED;
        }

        /// Returns the next timer without removing it; `null` if none is left.
        @Nullable LoopTimer first() {
            while (first < end) {
                LoopTimer timer = timers[first];
                if (timer != null) {
                    return timer;
                }
                first++;
            }
            first = 0;
            end = 0;
            if (timers.length > MAX_RETAINED) {
                timers = new @Nullable LoopTimer[MIN_CAPACITY];
            }
            return null;
        }
    }
}
