package dev.gyre.internal.time;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// The timers that fire in this tick, in the order they do.
///
/// Loop thread only.
final class DueTimers {
    /// Once all have fired, no larger array is kept for the next tick.
    private static final int MAX_RETAINED = 1_024;

    private static final int MIN_CAPACITY = 16;

    /// From the first one that has not been taken to the last; where one was removed, null.
    private @Nullable LoopTimer[] timers = new @Nullable LoopTimer[MIN_CAPACITY];

    private int first;
    private int end;

    int capacity() {
        return timers.length;
    }

    /// Ensures that the next timer can be added without an allocation.
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

    /// Takes out any of them.
    void remove(LoopTimer timer) {
        assert timers[timer.index] == timer : "not at its place: " + timer.index;
        timers[timer.index] = null;
        timer.place = LoopTimer.UNSCHEDULED;
    }

    /// The next one, still in its place, or null.
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
