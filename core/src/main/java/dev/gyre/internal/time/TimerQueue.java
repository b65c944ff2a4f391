package dev.gyre.internal.time;

import dev.gyre.Timer;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.StackReserve;

import org.jspecify.annotations.Nullable;

import java.util.function.Consumer;

/// The loop's timers: a coarse [TimerWheel] for the many that are far, in front of an exact [NearQueue] for
/// the few that are near.
///
/// Firing takes two steps. [#collectDue] moves everything that is due to a list, in order, and
/// [#takeDue] hands the list out one by one. What a callback schedules meanwhile goes elsewhere, so it
/// waits for a later tick however early its deadline; and what a callback cancels is unlinked from the
/// list, so it does not fire although it was due.
///
/// Loop thread only.
public final class TimerQueue {
    private static final int MOST = 1 << 26;

    final LoopContext host;
    final TimerBindings bindings = new TimerBindings();

    private final NearQueue near = new NearQueue();
    private final TimerWheel wheel;
    private final DueTimers due = new DueTimers();
    private int size;
    private int unreferenced;
    private long nextSequence;

    /// @param nowNanos the time at which the queue begins
    public TimerQueue(LoopContext host, long nowNanos) {
        this.host = host;
        this.wheel = new TimerWheel(near, nowNanos);
    }

    /// Schedules a new timer.
    ///
    /// @param periodNanos zero for one-shot
    public LoopTimer schedule(
            long deadlineNanos, long periodNanos, Consumer<? super Timer> callback) {
        StackReserve.requireSmall();
        LoopTimer timer = new LoopTimer(this, deadlineNanos, periodNanos, callback);
        if (size >= MOST) {
            throw new IllegalStateException("too many timers: " + size);
        }
        ensureCapacity(deadlineNanos);
        insert(timer);
        return timer;
    }

    /// Lets go of all cancellations that timers listen to. Any thread, when the loop ends.
    public void release() {
        bindings.close();
    }

    /// How many timers are scheduled.
    public int size() {
        return size;
    }

    /// How many of them keep the loop alive.
    public int referenced() {
        return size - unreferenced;
    }

    /// The nearest deadline, or `otherwise` if that is earlier. May be somewhat before it if a timer that was
    /// nearer has been cancelled.
    public long nearest(long otherwise) {
        return near.first() != null && !wheel.hasPendingMoves()
                ? near.nearest(otherwise)
                : wheel.nearest(otherwise);
    }

    /// Moves all timers whose deadline has come to the list of due ones, in order.
    public void collectDue(long nowNanos) {
        wheel.advance(nowNanos);
        for (LoopTimer first = near.first();
                first != null && first.deadlineNanos - nowNanos <= 0;
                first = near.first()) {
            due.ensureCapacity(); // Before the removal: memory may be short.
            near.remove(first);
            due.add(first);
        }
    }

    /// Takes the next due timer, and puts a repeating one back for its next period.
    ///
    /// @return the timer to fire, or null when none is left
    public @Nullable LoopTimer takeDue(long nowNanos) {
        LoopTimer timer = due.first();
        if (timer == null) {
            return null;
        }
        if (timer.periodNanos == 0) {
            remove(timer);
            timer.firedDeadlineNanos = timer.deadlineNanos;
            return timer;
        }
        // To the next multiple that lies ahead: missed periods fire once, now.
        long missed = (nowNanos - timer.deadlineNanos) / timer.periodNanos;
        long next = timer.deadlineNanos + (missed + 1) * timer.periodNanos;
        ensureCapacity(next);
        remove(timer);
        timer.firedDeadlineNanos = timer.deadlineNanos;
        timer.deadlineNanos = next;
        insert(timer);
        return timer;
    }

    /// Gives a timer, scheduled or not, another deadline; among equal ones it is now the last.
    void reschedule(LoopTimer timer, long deadlineNanos) {
        if (wheel.mayKeep(timer, deadlineNanos)) {
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

    /// Takes a timer out, wherever it is.
    ///
    /// @return whether the timer was scheduled
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
            if (timer.place != LoopTimer.NOWHERE) {
                unreferenced += wanted ? -1 : 1;
            }
        }
    }

    /// Grows the structure for a timer of that deadline before anything changes (E-4).
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
}
