package dev.gyre.internal.time;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// The timers in one slot of the wheel, in no order: an array in which each timer knows its index, so
/// that any of them can be taken out by moving the last one into its place.
///
/// An array and not a list, for the sake of memory. A timer that comes and goes touches no other, where
/// a list would write to its neighbours; and when many are moved on, they are read ahead of instead of
/// being waited for one after the other.
///
/// Loop thread only.
final class TimerSlot {
    /// A slot that has run empty keeps no larger array for its next timers: 512 slots could.
    private static final int MAX_RETAINED = 1_024;

    private static final int MIN_CAPACITY = 16;
    private static final @Nullable LoopTimer[] NONE = {};

    private @Nullable LoopTimer[] timers = NONE;
    private int size;

    /// No timer is earlier; the one that was this early may be gone, or put off.
    long minNanos;

    int size() {
        return size;
    }

    int capacity() {
        return timers.length;
    }

    LoopTimer get(int index) {
        LoopTimer timer = timers[index];
        assert timer != null : "hole in a slot at " + index;
        return timer;
    }

    /// Ensures that the next timer can be added without an allocation.
    void ensureCapacity() {
        if (size == timers.length) {
            timers = Arrays.copyOf(timers, Math.max(MIN_CAPACITY, 2 * size));
        }
    }

    /// Allocates only if the slot was emptied and shrunk since [#ensureCapacity].
    void add(LoopTimer timer) {
        ensureCapacity();
        if (size == 0 || timer.deadlineNanos - minNanos < 0) {
            minNanos = timer.deadlineNanos;
        }
        timers[size] = timer;
        timer.index = size++;
    }

    void remove(LoopTimer timer) {
        int hole = timer.index;
        size--;
        if (hole != size) {
            LoopTimer last = get(size);
            timers[hole] = last;
            last.index = hole;
        }
        timers[size] = null;
        if (size == 0) {
            shrink();
        }
    }

    private void shrink() {
        if (timers.length > MAX_RETAINED) {
            timers = NONE;
        }
    }
}
