package dev.gyre.internal.base;

import dev.gyre.LoopOverloadedException;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.Consumer;

/// A queue of callbacks for one thread: a circular array that grows, and shrinks after a burst. A
/// slot is cleared when its callback is dequeued.
///
/// Loop thread only.
public final class TaskRing {
    public static final int MIN_CAPACITY = 64;
    static final int MAX_CAPACITY = 1 << 24;

    /// After this many additions a small array is replaced by a new one. Under G1, storing a new
    /// task into an array in the old generation costs a fence. Storing it into a young array does
    /// not. The replacement costs a hundredth of a byte per task.
    private static final int RENEWAL = 1 << 16;

    private final String name;

    /// Objects, not Runnables: a store into an array of an interface type needs an interface check.
    private @Nullable Object[] slots = new @Nullable Object[MIN_CAPACITY];

    // The total numbers of tasks dequeued and added. Modulo the length they are the next slots.
    private long dequeued;
    private long added;

    // The values at the last trim and at the last renewal.
    private long sizeAtTrim;
    private long addedAtTrim;
    private long addedAtRenewal;

    /// @param name the kind of its tasks, for messages
    public TaskRing(String name) {
        this.name = name;
    }

    public int size() {
        return (int) (added - dequeued);
    }

    public boolean isEmpty() {
        return added == dequeued;
    }

    public int capacity() {
        return slots.length;
    }

    /// Ensures that `more` tasks can be added without an allocation, for callers that must not fail
    /// half-way.
    public void ensureCapacity(int more) {
        while (added - dequeued + more > slots.length) {
            grow();
        }
    }

    public void add(Runnable task) {
        if (added - dequeued == slots.length) {
            grow();
        }
        slots[(int) added & slots.length - 1] = task;
        added++;
    }

    /// Dequeues the oldest task. Requires that the ring is not empty.
    public Runnable take() {
        int slot = (int) dequeued & slots.length - 1;
        Runnable task = (Runnable) slots[slot];
        assert task != null : "taken from an empty ring of " + name;
        slots[slot] = null;
        dequeued++;
        return task;
    }

    public @Nullable Runnable poll() {
        return isEmpty() ? null : take();
    }

    /// Passes the queued tasks added since an earlier call to the action, oldest first.
    ///
    /// @param position the result of that call; 0 for all tasks
    /// @return the position for the next call
    public long forEachSince(long position, Consumer<? super Runnable> action) {
        for (long i = Math.max(dequeued, position); i < added; i++) {
            action.accept((Runnable) Objects.requireNonNull(slots[(int) i & slots.length - 1]));
        }
        return added;
    }

    public void clear() {
        while (!isEmpty()) {
            take();
        }
    }

    /// Halves the array if the last round cannot have filled more than a quarter of it. Called once
    /// per round, so a steady load of any size keeps its array.
    public void trim() {
        long most = sizeAtTrim + added - addedAtTrim;
        if (slots.length > MIN_CAPACITY && most <= slots.length / 4) {
            resize(slots.length / 2);
        } else if (added - addedAtRenewal > RENEWAL && slots.length <= 4 * MIN_CAPACITY) {
            resize(slots.length);
        }
        sizeAtTrim = size();
        addedAtTrim = added;
    }

    private void grow() {
        if (slots.length == MAX_CAPACITY) {
            throw new LoopOverloadedException("too many " + name + " are queued: " + size());
        }
        resize(slots.length * 2);
    }

    private void resize(int capacity) {
        @Nullable Object[] moved = new @Nullable Object[capacity];
        for (long i = dequeued; i < added; i++) {
            moved[(int) i & capacity - 1] = slots[(int) i & slots.length - 1];
        }
        slots = moved;
        addedAtRenewal = added;
    }
}
