package dev.gyre.internal.promise;

import dev.gyre.LoopOverloadedException;
import dev.gyre.internal.base.Counter;

import org.jspecify.annotations.Nullable;

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
/// from what is still pending, and grows only if that fills it. Once less than a quarter of it is pending, it is
/// rebuilt smaller, in the same tick, so a loop that then idles keeps no memory. Both cost a constant time for each
/// promise. Only a scan finds promises that were collected while the loop slept. After a wait of
/// more than a second, all slots are scanned.
///
/// Looking at an entry does not touch its promise. To ask a weak reference for its object tells a collector that is
/// marking just now that the object is in use; a busy loop looks so often that a dropped promise would be kept by
/// every collection. So a promise that settles says so to its entry.
///
/// Loop thread, or with the lock of [Promises], except for the counters.
final class Registry {
    static final int MIN_CAPACITY = 64;

    /// The largest table. It is filled to three quarters.
    static final int MAX_CAPACITY = 1 << 30;

    private @Nullable RegistryEntry[] table = new @Nullable RegistryEntry[MIN_CAPACITY];
    private int cursor;
    private long registered;

    /// How many entries have a settled promise. Known without a scan, unlike collected promises.
    private int settled;

    private ArrayList<Step<?, ?>> steps = new ArrayList<>();

    final Counter live = new Counter();
    final Counter scavenged = new Counter();
    final Counter rebuilt = new Counter();

    int capacity() {
        return table.length;
    }

    /// Only while it is pending. If this throws, nothing has changed.
    void add(LoopPromise<?> promise) {
        assert promise.isPending() : "it would never leave: " + promise;
        if ((live.get() + 1) * 4 > table.length * 3L) {
            rebuild();
        }
        RegistryEntry entry = promise.entry();
        entry.order = ++registered;
        insert(table, entry);
        live.add(1);
    }

    /// Adds a promise, and all steps that wait for it and for each other. Those that are there already stay.
    void addWithSteps(LoopPromise<?> promise) {
        addIfAbsent(promise);
        for (int next = 0; next < steps.size(); next++) {
            addIfAbsent(steps.get(next));
        }
        if (steps.size() > MIN_CAPACITY) {
            steps = new ArrayList<>(); // A long chain must not leave its array behind.
        } else {
            steps.clear();
        }
    }

    /// Records that the promise of this entry has settled.
    void onSettled(RegistryEntry entry) {
        if (!entry.isSettled()) {
            entry.markSettled();
            if (entry.order != 0) {
                settled++;
            }
        }
    }

    private void addIfAbsent(LoopPromise<?> promise) {
        if (promise.entry().order == 0) {
            add(promise);
            promise.collectSteps(steps);
        }
    }

    /// Forgets all of them, when the loop is over.
    void clear() {
        scavenged.add(live.get());
        live.add(-live.get());
        settled = 0;
        table = new @Nullable RegistryEntry[MIN_CAPACITY];
        cursor = 0;
    }

    @Nullable LoopPromise<?> find(long id) {
        RegistryEntry entry = entry(id);
        return entry == null ? null : entry.get();
    }

    @Nullable RegistryEntry entry(long id) {
        int slot = slotOf(id, table);
        RegistryEntry entry = table[slot];
        while (entry != null && entry.id != id) {
            slot = slot + 1 & table.length - 1;
            entry = table[slot];
        }
        return entry;
    }

    /// All that are pending, in the order they were added.
    List<LoopPromise<?>> pending() {
        List<RegistryEntry> found = new ArrayList<>();
        for (RegistryEntry entry : table) {
            if (entry != null && !entry.isDead()) {
                found.add(entry);
            }
        }
        found.sort(Comparator.comparingLong(entry -> entry.order));
        List<LoopPromise<?>> pending = new ArrayList<>(found.size());
        for (RegistryEntry entry : found) {
            LoopPromise<?> promise = entry.get();
            if (promise != null) {
                pending.add(promise);
            }
        }
        return pending;
    }

    /// Scans the next few slots, or rebuilds at once if most promises have settled. The cost is
    /// amortised: half of the table must settle before the next rebuild.
    void scavenge(int slots) {
        if (live.get() == 0 && table.length == MIN_CAPACITY) {
            return;
        }
        if (isSparse()) {
            rebuild();
            return;
        }
        for (int left = Math.min(slots, table.length); left > 0; left--) {
            RegistryEntry entry = table[cursor];
            while (entry != null && entry.isDead()) {
                closeGap(cursor);
                if (entry.isSettled()) {
                    settled--;
                }
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

    /// Scans all slots for promises that were collected while the loop was idle.
    void reap() {
        if (table.length > MIN_CAPACITY) {
            scavenge(table.length);
        }
    }

    private boolean isSparse() {
        return table.length > MIN_CAPACITY && live.get() - settled < table.length / 4;
    }

    /// Moves the pending ones to a new table, which they fill to between a quarter and a half.
    private void rebuild() {
        int pending = 0;
        for (RegistryEntry entry : table) {
            if (entry != null && !entry.isDead()) {
                pending++;
            }
        }
        @Nullable RegistryEntry[] moved = new @Nullable RegistryEntry[capacityFor(pending)];
        int kept = 0;
        for (RegistryEntry entry : table) {
            if (entry != null && !entry.isDead()) { // One may have been collected meanwhile.
                insert(moved, entry);
                kept++;
            }
        }
        scavenged.add(live.get() - kept);
        live.add(kept - live.get());
        settled = 0;
        rebuilt.add(1);
        table = moved;
        cursor = 0;
    }

    /// For that many and one more.
    static int capacityFor(int pending) {
        if (pending >= MAX_CAPACITY / 4 * 3) {
            throw new LoopOverloadedException("too many promises are pending: " + pending);
        }
        long wanted = Math.min(MAX_CAPACITY, (pending + 1L) * 2);
        int capacity = MIN_CAPACITY;
        while (capacity < wanted) {
            capacity *= 2;
        }
        return capacity;
    }

    private static void insert(@Nullable RegistryEntry[] table, RegistryEntry entry) {
        int slot = slotOf(entry.id, table);
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
            RegistryEntry entry = table[slot];
            if (entry == null) {
                return;
            }
            // It may lie in the gap if that is no farther from its home than where it lies now.
            int distance = slot - slotOf(entry.id, table) & mask;
            if (distance >= (slot - gap & mask)) {
                table[gap] = entry;
                table[slot] = null;
                gap = slot;
            }
        }
    }

    /// Ids follow one another; times the golden ratio they spread evenly.
    private static int slotOf(long id, @Nullable RegistryEntry[] table) {
        return (int) ((id * 0x9E3779B97F4A7C15L) >>> (Long.numberOfLeadingZeros(table.length) + 1));
    }
}
