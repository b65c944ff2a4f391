package dev.gyre.internal.loop;

import dev.gyre.LoopOverloadedException;

import org.jspecify.annotations.Nullable;

/// A queue of callbacks for one thread: a circular array that grows, and shrinks again when a burst is
/// over. A slot is nulled when it is taken.
///
/// Loop thread only.
public final class TaskRing {
    static final int LEAST = 64;
    static final int MOST = 1 << 24;

    /// After so many additions a small array is replaced by a new one. To put a new task into an array that has
    /// been moved to the old generation costs a fence under G1, to put it into one as young as the task does not.
    /// It comes to a hundredth of a byte a task.
    private static final int RENEWAL = 1 << 16;

    private final String name;
    private @Nullable Runnable[] slots = new @Nullable Runnable[LEAST];
    private int head;
    private int size;
    private int peak;
    private int addedSinceRenewal;

    /// @param name what it holds, for messages
    TaskRing(String name) {
        this.name = name;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    int capacity() {
        return slots.length;
    }

    void add(Runnable task) {
        if (size == slots.length) {
            if (size == MOST) {
                throw new LoopOverloadedException("too many " + name + " are queued: " + size);
            }
            resize(size * 2);
        }
        slots[head + size & slots.length - 1] = task;
        size++;
        peak = Math.max(peak, size);
        addedSinceRenewal++;
    }

    /// Only when it is not empty.
    Runnable take() {
        Runnable task = slots[head];
        assert task != null : "taken from an empty ring of " + name;
        slots[head] = null;
        head = head + 1 & slots.length - 1;
        size--;
        return task;
    }

    /// Drops everything.
    ///
    /// @return how many there were
    int clear() {
        int dropped = size;
        while (size > 0) {
            take();
        }
        return dropped;
    }

    /// Halves an array that the last round filled to no more than a quarter. Called once a round, so that
    /// a steady load of any size keeps its array.
    void trim() {
        if (slots.length > LEAST && peak <= slots.length / 4) {
            resize(slots.length / 2);
        } else if (addedSinceRenewal > RENEWAL && slots.length <= 4 * LEAST) {
            resize(slots.length);
        }
        peak = size;
    }

    private void resize(int capacity) {
        @Nullable Runnable[] moved = new @Nullable Runnable[capacity];
        for (int i = 0; i < size; i++) {
            moved[i] = slots[head + i & slots.length - 1];
        }
        slots = moved;
        addedSinceRenewal = 0;
        head = 0;
    }
}
