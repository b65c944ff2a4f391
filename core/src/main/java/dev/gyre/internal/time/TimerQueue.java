package dev.gyre.internal.time;

import dev.gyre.Timer;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.function.Consumer;

/// The timers in exact order: a binary heap by deadline, then by order of scheduling.
///
/// Firing takes two steps. [#collectDue] moves everything that is due from the heap to a list, and
/// [#takeDue] hands the list out one by one. What a callback schedules meanwhile goes to the heap, so it
/// waits for a later tick however early its deadline; and what a callback cancels is unlinked from the
/// list, so it does not fire although it was due.
///
/// Loop thread only.
public final class TimerQueue {
    private static final int MOST = 1 << 26;

    final Confinement confinement;

    private @Nullable LoopTimer[] heap = new @Nullable LoopTimer[16];
    private int size;
    private int due;
    private int referenced;
    private long nextSequence;
    private @Nullable LoopTimer firstDue;
    private @Nullable LoopTimer lastDue;

    public TimerQueue(Confinement confinement) {
        this.confinement = confinement;
    }

    /// Schedules a new timer.
    ///
    /// @param periodNanos zero for one-shot
    public LoopTimer schedule(
            long deadlineNanos, long periodNanos, Consumer<? super Timer> callback) {
        LoopTimer timer = new LoopTimer(this, deadlineNanos, periodNanos, callback);
        insert(timer);
        return timer;
    }

    /// How many timers are scheduled.
    public int size() {
        return size + due;
    }

    /// How many of them keep the loop alive.
    public int referenced() {
        return referenced;
    }

    /// Whether timers were collected that have not been taken.
    public boolean hasDue() {
        return firstDue != null;
    }

    /// The nearest deadline, or `otherwise` if that is nearer or there is none.
    public long nearest(long otherwise) {
        LoopTimer first = heap[0];
        return first != null && first.deadlineNanos - otherwise < 0
                ? first.deadlineNanos
                : otherwise;
    }

    /// Moves all timers whose deadline has come to the list of due ones, in order.
    public void collectDue(long nowNanos) {
        for (LoopTimer first = heap[0];
                first != null && first.deadlineNanos - nowNanos <= 0;
                first = heap[0]) {
            removeFromHeap(first);
            appendDue(first);
        }
    }

    /// Takes the next due timer, and puts a repeating one back for its next period.
    ///
    /// @return the timer to fire, or null when none is left
    public @Nullable LoopTimer takeDue(long nowNanos) {
        LoopTimer timer = firstDue;
        if (timer == null) {
            return null;
        }
        remove(timer);
        timer.firedDeadlineNanos = timer.deadlineNanos;
        if (timer.periodNanos > 0) {
            // To the next multiple that lies ahead: missed periods fire once, now.
            long missed = (nowNanos - timer.deadlineNanos) / timer.periodNanos;
            timer.deadlineNanos += (missed + 1) * timer.periodNanos;
            insert(timer);
        }
        return timer;
    }

    /// Takes a timer out, wherever it is.
    ///
    /// @return whether the timer was scheduled
    boolean remove(LoopTimer timer) {
        if (timer.place == LoopTimer.NOWHERE) {
            return false;
        }
        if (timer.place == LoopTimer.DUE) {
            removeFromDue(timer);
        } else {
            removeFromHeap(timer);
        }
        if (timer.referenced) {
            referenced--;
        }
        return true;
    }

    void setReferenced(LoopTimer timer, boolean wanted) {
        if (timer.referenced != wanted) {
            timer.referenced = wanted;
            if (timer.place != LoopTimer.NOWHERE) {
                referenced += wanted ? 1 : -1;
            }
        }
    }

    private void insert(LoopTimer timer) {
        assert timer.place == LoopTimer.NOWHERE : "scheduled twice";
        if (size == heap.length) {
            if (size >= MOST) {
                throw new IllegalStateException("too many timers: " + size);
            }
            heap = Arrays.copyOf(heap, size * 2);
        }
        timer.sequence = nextSequence++;
        if (timer.referenced) {
            referenced++;
        }
        siftUp(size++, timer);
    }

    private void removeFromHeap(LoopTimer timer) {
        int hole = timer.place;
        timer.place = LoopTimer.NOWHERE;
        LoopTimer last = at(--size);
        heap[size] = null;
        if (hole != size) {
            if (hole > 0 && last.isBefore(at((hole - 1) >>> 1))) {
                siftUp(hole, last);
            } else {
                siftDown(hole, last);
            }
        }
    }

    private void siftUp(int index, LoopTimer timer) {
        int hole = index;
        while (hole > 0) {
            int parent = (hole - 1) >>> 1;
            if (!timer.isBefore(at(parent))) {
                break;
            }
            put(hole, at(parent));
            hole = parent;
        }
        put(hole, timer);
    }

    private void siftDown(int index, LoopTimer timer) {
        int hole = index;
        while (2 * hole + 1 < size) {
            int child = 2 * hole + 1;
            if (child + 1 < size && at(child + 1).isBefore(at(child))) {
                child++;
            }
            if (!at(child).isBefore(timer)) {
                break;
            }
            put(hole, at(child));
            hole = child;
        }
        put(hole, timer);
    }

    private LoopTimer at(int index) {
        LoopTimer timer = heap[index];
        assert timer != null : "hole in the heap at " + index;
        return timer;
    }

    private void put(int index, LoopTimer timer) {
        heap[index] = timer;
        timer.place = index;
    }

    private void appendDue(LoopTimer timer) {
        timer.place = LoopTimer.DUE;
        timer.previousDue = lastDue;
        if (lastDue == null) {
            firstDue = timer;
        } else {
            lastDue.nextDue = timer;
        }
        lastDue = timer;
        due++;
    }

    private void removeFromDue(LoopTimer timer) {
        LoopTimer previous = timer.previousDue;
        LoopTimer next = timer.nextDue;
        if (previous == null) {
            firstDue = next;
        } else {
            previous.nextDue = next;
        }
        if (next == null) {
            lastDue = previous;
        } else {
            next.previousDue = previous;
        }
        timer.previousDue = null;
        timer.nextDue = null;
        timer.place = LoopTimer.NOWHERE;
        due--;
    }
}
