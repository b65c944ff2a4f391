package dev.gyre.internal.promise;

import dev.gyre.internal.count.Counter;

import org.jspecify.annotations.Nullable;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// Which promises are pending: id → weak reference, clause R-1. It keeps nothing alive; what it is for is to reject
/// what is pending when the loop ends, and to be looked at.
///
/// A hash table with linear probing whose slots are also the ring that the cursor goes round: a few slots each
/// tick, every slot once a cycle. Entries of promises that are settled or were collected go then. Removing one
/// closes the gap by moving later entries back, never past the cursor, so that none is missed.
///
/// A burst may register more between two ticks than the cursor looks at. So before the table grows, it is rebuilt
/// from what is still pending, and grows only if that fills it; a cycle that ends with less than a quarter
/// filled rebuilds it smaller. Both cost a constant time for each promise.
///
/// Loop thread only, except for the counters.
final class Registry {
    static final int LEAST = 64;

    private static final class Entry extends WeakReference<LoopPromise<?>> {
        final long id;

        Entry(LoopPromise<?> promise) {
            super(promise);
            id = promise.id();
        }

        boolean isDead() {
            LoopPromise<?> promise = get();
            return promise == null || !promise.isPending();
        }
    }

    private @Nullable Entry[] table = new @Nullable Entry[LEAST];
    private int cursor;

    final Counter live = new Counter();
    final Counter scavenged = new Counter();
    final Counter rebuilt = new Counter();

    int capacity() {
        return table.length;
    }

    void add(LoopPromise<?> promise) {
        if ((live.get() + 1) * 4 > table.length * 3L) {
            rebuild();
        }
        live.add(1);
        insert(table, new Entry(promise));
    }

    @Nullable LoopPromise<?> find(long id) {
        for (int slot = home(id, table); ; slot = slot + 1 & table.length - 1) {
            Entry entry = table[slot];
            if (entry == null) {
                return null;
            }
            if (entry.id == id) {
                return entry.get();
            }
        }
    }

    /// All that are pending, in the order they were made.
    List<LoopPromise<?>> pending() {
        List<LoopPromise<?>> found = new ArrayList<>();
        for (Entry entry : table) {
            LoopPromise<?> promise = entry == null ? null : entry.get();
            if (promise != null && promise.isPending()) {
                found.add(promise);
            }
        }
        found.sort(Comparator.comparingLong(LoopPromise::id));
        return found;
    }

    /// Looks at the next few slots.
    void scavenge(int slots) {
        if (live.get() == 0 && table.length == LEAST) {
            return;
        }
        for (int left = Math.min(slots, table.length); left > 0; left--) {
            Entry entry = table[cursor];
            while (entry != null && entry.isDead()) {
                closeGap(cursor);
                live.add(-1);
                scavenged.add(1);
                entry = table[cursor]; // What moved here has not been looked at.
            }
            cursor = cursor + 1 & table.length - 1;
            if (cursor == 0 && isSparse()) {
                rebuild();
                return;
            }
        }
    }

    private boolean isSparse() {
        return table.length > LEAST && live.get() < table.length / 4;
    }

    /// Moves the pending ones to a new table, which they fill to between a quarter and a half.
    private void rebuild() {
        int pending = 0;
        for (Entry entry : table) {
            if (entry != null && !entry.isDead()) {
                pending++;
            }
        }
        int capacity = LEAST;
        while (capacity < (pending + 1) * 2) {
            capacity *= 2;
        }
        @Nullable Entry[] moved = new @Nullable Entry[capacity];
        int kept = 0;
        for (Entry entry : table) {
            if (entry != null && !entry.isDead()) { // One may have been collected meanwhile.
                insert(moved, entry);
                kept++;
            }
        }
        scavenged.add(live.get() - kept);
        live.add(kept - live.get());
        rebuilt.add(1);
        table = moved;
        cursor = 0;
    }

    private static void insert(@Nullable Entry[] table, Entry entry) {
        int slot = home(entry.id, table);
        while (table[slot] != null) {
            slot = slot + 1 & table.length - 1;
        }
        table[slot] = entry;
    }

    /// Empties a slot, and moves each later entry of the run into the gap that may lie there.
    private void closeGap(int gap) {
        int mask = table.length - 1;
        table[gap] = null;
        for (int slot = gap + 1 & mask; ; slot = slot + 1 & mask) {
            Entry entry = table[slot];
            if (entry == null) {
                return;
            }
            // It may lie in the gap if that is no farther from its home than where it lies now.
            int distance = slot - home(entry.id, table) & mask;
            if (distance >= (slot - gap & mask)) {
                table[gap] = entry;
                table[slot] = null;
                gap = slot;
            }
        }
    }

    /// Ids follow one another; times the golden ratio they spread evenly.
    private static int home(long id, @Nullable Entry[] table) {
        return (int) ((id * 0x9E3779B97F4A7C15L) >>> (Long.numberOfLeadingZeros(table.length) + 1));
    }
}
