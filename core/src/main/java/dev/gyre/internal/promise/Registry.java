package dev.gyre.internal.promise;

import dev.gyre.LoopOverloadedException;
import dev.gyre.internal.base.Counter;

import org.jspecify.annotations.Nullable;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The pending promises: id → weak reference, clause R-1. It keeps no promise reachable. The loop
/// uses it to reject pending promises on termination, and for metrics.
///
/// Most promises settle in the tick that created them. So a new one is only noted in an array. At
/// the end of the tick those still pending move to the table. The array is short and emptied each
/// tick, so it keeps nothing reachable while the loop waits.
///
/// The table is a hash table with linear probing. Its slots are also the ring of the cursor, which
/// scans a few slots per tick and every slot once per cycle. It removes entries of settled or
/// collected promises. A removal closes the gap by moving later entries back, never past the
/// cursor, so no entry is missed.
///
/// A burst may register more promises between two ticks than the cursor scans. So before the table
/// grows, it is rebuilt from the pending promises, and grows only if those fill it. If less than a
/// quarter is pending, it is rebuilt smaller in the same tick, so an idle loop keeps no memory.
/// Both take amortised constant time per promise. Only a scan finds promises that were collected
/// while the loop slept. After a wait of more than a second, all slots are scanned.
///
/// A scan does not touch the promises. Reading a weak reference marks its object as live for a
/// concurrent collector. A busy loop scans so often that every collection would keep a dropped
/// promise. So a promise that settles marks its entry.
///
/// Loop thread, or with the lock of [Promises], except for the counters.
final class Registry {
    static final int MIN_CAPACITY = 64;

    /// The largest table. It is filled to three quarters.
    static final int MAX_CAPACITY = 1 << 30;

    private static final int RECENT_CAPACITY = 256;

    /// The data that few promises need: those that outlive their tick, are logged, or are traced.
    static final class Entry extends WeakReference<LoopPromise<?>> {
        final long id;
        final @Nullable Throwable createdAt;

        // Loop thread, or with the lock of the promises.
        /// The order of registration; 0 if not registered.
        private long order;

        private boolean settled;

        Entry(LoopPromise<?> promise, long id, @Nullable Throwable createdAt) {
            super(promise);
            this.id = id;
            this.createdAt = createdAt;
        }

        boolean isDead() {
            return settled || refersTo(null);
        }
    }

    private @Nullable LoopPromise<?>[] recent;
    private int recentCount;

    private @Nullable Entry[] table = new @Nullable Entry[MIN_CAPACITY];
    private int cursor;
    private long registered;

    /// The number of entries with a settled promise. Known without a scan, unlike collected ones.
    private int settled;

    private ArrayList<Step<?, ?>> steps = new ArrayList<>();

    final Counter live = new Counter();
    final Counter scavenged = new Counter();
    final Counter rebuilt = new Counter();

    Registry() {
        recent = new @Nullable LoopPromise<?>[RECENT_CAPACITY]; // javac rejects it above.
    }

    int capacity() {
        return table.length;
    }

    /// Notes a pending promise until the end of the tick.
    void register(LoopPromise<?> promise) {
        if (recentCount == RECENT_CAPACITY) {
            registerRecent();
            // A store into an array as young as the promise needs no G1 fence.
            recent = new @Nullable LoopPromise<?>[RECENT_CAPACITY];
        }
        recent[recentCount++] = promise;
    }

    /// Moves recent promises that are still pending to the table, with their steps.
    void registerRecent() {
        for (int i = 0; i < recentCount; i++) {
            LoopPromise<?> promise = recent[i];
            if (promise != null && promise.isPending()) {
                addWithSteps(promise);
            }
            recent[i] = null; // Last: if memory ran out, it is still known.
        }
        recentCount = 0;
    }

    /// Adds a pending promise. If this throws, nothing has changed.
    void add(LoopPromise<?> promise) {
        assert promise.isPending() : "settled promises are never removed: " + promise;
        if ((live.get() + 1) * 4 > table.length * 3L) {
            rebuild();
        }
        Entry entry = promise.entry();
        entry.order = ++registered;
        insert(table, entry);
        live.add(1);
    }

    /// Adds a promise and all steps that wait for it, directly or indirectly, unless present.
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

    void onSettled(Entry entry) {
        if (!entry.settled) {
            entry.settled = true;
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

    void clear() {
        scavenged.add(live.get());
        live.add(-live.get());
        settled = 0;
        table = new @Nullable Entry[MIN_CAPACITY];
        cursor = 0;
    }

    @Nullable LoopPromise<?> find(long id) {
        Entry entry = entry(id);
        return entry == null ? null : entry.get();
    }

    @Nullable Entry entry(long id) {
        int slot = slotOf(id, table);
        Entry entry = table[slot];
        while (entry != null && entry.id != id) {
            slot = slot + 1 & table.length - 1;
            entry = table[slot];
        }
        return entry;
    }

    /// Returns all pending promises in order of registration.
    List<LoopPromise<?>> pending() {
        List<Entry> found = new ArrayList<>();
        for (Entry entry : table) {
            if (entry != null && !entry.isDead()) {
                found.add(entry);
            }
        }
        found.sort(Comparator.comparingLong(entry -> entry.order));
        List<LoopPromise<?>> pending = new ArrayList<>(found.size());
        for (Entry entry : found) {
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
            Entry entry = table[cursor];
            while (entry != null && entry.isDead()) {
                closeGap(cursor);
                if (entry.settled) {
                    settled--;
                }
                live.add(-1);
                scavenged.add(1);
                entry = table[cursor]; // An entry that moved here was not scanned.
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

    /// Moves the pending entries to a new table, filled to between a quarter and a half.
    private void rebuild() {
        int pending = 0;
        for (Entry entry : table) {
            if (entry != null && !entry.isDead()) {
                pending++;
            }
        }
        @Nullable Entry[] moved = new @Nullable Entry[capacityFor(pending)];
        int kept = 0;
        for (Entry entry : table) {
            if (entry != null && !entry.isDead()) { // Some may have been collected meanwhile.
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

    /// Returns the capacity for that many entries and one more.
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

    private static void insert(@Nullable Entry[] table, Entry entry) {
        int slot = slotOf(entry.id, table);
        while (table[slot] != null) {
            slot = slot + 1 & table.length - 1;
        }
        table[slot] = entry;
    }

    /// Empties a slot, and moves each later entry of the run into the gap if probing still finds
    /// it.
    private void closeGap(int gap) {
        int mask = table.length - 1;
        table[gap] = null;
        for (int slot = gap + 1 & mask; ; slot = slot + 1 & mask) {
            Entry entry = table[slot];
            if (entry == null) {
                return;
            }
            // Allowed if the gap is not before the entry's first slot.
            int distance = slot - slotOf(entry.id, table) & mask;
            if (distance >= (slot - gap & mask)) {
                table[gap] = entry;
                table[slot] = null;
                gap = slot;
            }
        }
    }

    /// Fibonacci hashing: consecutive ids spread evenly.
    private static int slotOf(long id, @Nullable Entry[] table) {
        return (int) ((id * 0x9E3779B97F4A7C15L) >>> (Long.numberOfLeadingZeros(table.length) + 1));
    }
}
