package dev.gyre.internal.time;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// The near timers in exact order: a binary heap by deadline, then by order of scheduling. Each
/// timer stores its index, so any timer can be removed.
///
/// Loop thread only.
final class NearQueue {
    private @Nullable LoopTimer[] heap = new @Nullable LoopTimer[16];
    private int size;

    @Nullable LoopTimer first() {
        return heap[0];
    }

    /// Returns the first deadline, or the limit if that is earlier or the queue is empty.
    long nearest(long limitNanos) {
        LoopTimer first = heap[0];
        return first != null && first.deadlineNanos - limitNanos < 0
                ? first.deadlineNanos
                : limitNanos;
    }

    /// Ensures that the next timer can be inserted without an allocation.
    void ensureCapacity() {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
    }

    void insert(LoopTimer timer) {
        assert timer.place != LoopTimer.NEAR : "scheduled twice";
        ensureCapacity();
        timer.place = LoopTimer.NEAR;
        siftUp(size++, timer);
    }

    void remove(LoopTimer timer) {
        int hole = timer.index;
        assert heap[hole] == timer : "wrong index: " + hole;
        timer.place = LoopTimer.UNSCHEDULED;
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
        assert timer != null : "gap in the heap at " + index;
        return timer;
    }

    private void put(int index, LoopTimer timer) {
        heap[index] = timer;
        timer.index = index;
    }
}
