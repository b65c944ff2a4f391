package dev.gyre.internal.base;

import dev.gyre.LoopOverloadedException;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.Consumer;

/// A queue of callbacks for one thread: a circular array that grows, and shrinks again when a burst is
/// over. A slot is nulled when it is taken.
///
/// Loop thread only.
public final class TaskRing {
    public static final int LEAST = 64;
    static final int MOST = 1 << 24;

    /// After so many additions a small array is replaced by a new one. To put a new task into an array that has
    /// been moved to the old generation costs a fence under G1, to put it into one as young as the task does not.
    /// It comes to a hundredth of a byte a task.
    private static final int RENEWAL = 1 << 16;

    private final String name;

    /// Of objects: a store into an array of an interface's type looks that interface up in the task's class.
    private @Nullable Object[] slots = new @Nullable Object[LEAST];

    // How many have ever been taken and added: the next slots, modulo the length.
    private long taken;
    private long added;

    // As they were at the last trim and at the last renewal.
    private long sizeAtTrim;
    private long addedAtTrim;
    private long addedAtRenewal;

    /// @param name what it holds, for messages
    public TaskRing(String name) {
        this.name = name;
    }

    public int size() {
        return (int) (added - taken);
    }

    public boolean isEmpty() {
        return added == taken;
    }

    public int capacity() {
        return slots.length;
    }

    /// Ensures that `more` tasks can be added without an allocation, for callers that must not fail
    /// half-way.
    public void ensureCapacity(int more) {
        while (added - taken + more > slots.length) {
            grow();
        }
    }

    public void add(Runnable task) {
        if (added - taken == slots.length) {
            grow();
        }
        slots[(int) added & slots.length - 1] = task;
        added++;
    }

    /// Only when it is not empty.
    public Runnable take() {
        int slot = (int) taken & slots.length - 1;
        Runnable task = (Runnable) slots[slot];
        assert task != null : "taken from an empty ring of " + name;
        slots[slot] = null;
        taken++;
        return task;
    }

    /// The oldest, or null if it is empty.
    public @Nullable Runnable poll() {
        return isEmpty() ? null : take();
    }

    /// Looks at those that are queued and came after an earlier look, the oldest first.
    ///
    /// @param look what that look returned, 0 for all
    /// @return for the next look
    public long forEachSince(long look, Consumer<? super Runnable> action) {
        for (long i = Math.max(taken, look); i < added; i++) {
            action.accept((Runnable) Objects.requireNonNull(slots[(int) i & slots.length - 1]));
        }
        return added;
    }

    /// Drops everything.
    ///
    /// @return how many there were
    public int clear() {
        int dropped = size();
        while (!isEmpty()) {
            take();
        }
        return dropped;
    }

    /// Halves an array of which the last round cannot have filled more than a quarter. Called once a round, so
    /// that a steady load of any size keeps its array.
    public void trim() {
        long most = sizeAtTrim + added - addedAtTrim;
        if (slots.length > LEAST && most <= slots.length / 4) {
            resize(slots.length / 2);
        } else if (added - addedAtRenewal > RENEWAL && slots.length <= 4 * LEAST) {
            resize(slots.length);
        }
        sizeAtTrim = size();
        addedAtTrim = added;
    }

    private void grow() {
        if (slots.length == MOST) {
            throw new LoopOverloadedException("too many " + name + " are queued: " + size());
        }
        resize(slots.length * 2);
    }

    private void resize(int capacity) {
        @Nullable Object[] moved = new @Nullable Object[capacity];
        for (long i = taken; i < added; i++) {
            moved[(int) i & capacity - 1] = slots[(int) i & slots.length - 1];
        }
        slots = moved;
        addedAtRenewal = added;
    }
}
