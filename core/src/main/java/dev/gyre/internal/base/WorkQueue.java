package dev.gyre.internal.base;

import dev.gyre.internal.base.QueueingExecutor.Item;

import org.jspecify.annotations.Nullable;

import java.util.IdentityHashMap;

/// The queued items of an executor, first in, first out. All methods take constant time, because a
/// loop may cancel thousands of items at once, on its own thread and in any order.
///
/// The same work may be queued several times. Its items form a chain, and both ways out remove the
/// oldest of them, so the map needs only that one. Work is compared by identity: equals is foreign
/// code, which must not run under a lock.
///
/// Guarded by the lock of its owner. Only [#add] allocates, before it changes anything.
final class WorkQueue {
    private static final int MAX_RETAINED = 1_024;

    private IdentityHashMap<Runnable, Item> oldest = new IdentityHashMap<>();
    private final IntrusiveList<Item> items = new IntrusiveList<>();
    private int size;
    private int peak;

    int size() {
        return size;
    }

    void add(Item item) {
        if (size == 0 && peak > MAX_RETAINED) {
            // The map never shrinks by itself.
            oldest = new IdentityHashMap<>();
            peak = 0;
        }
        Item first = oldest.putIfAbsent(item.work, item);
        if (first == null) {
            item.lastSame = item;
        } else {
            assert first.lastSame != null : "the oldest item of a chain knows the youngest";
            first.lastSame.nextSame = item;
            first.lastSame = item;
        }
        items.add(item);
        size++;
        peak = Math.max(peak, size);
    }

    @Nullable Item poll() {
        Item item = items.first();
        if (item != null) {
            unlink(item);
        }
        return item;
    }

    boolean remove(Runnable work) {
        Item item = oldest.get(work);
        if (item == null) {
            return false;
        }
        unlink(item);
        return true;
    }

    private void unlink(Item item) {
        Item same = item.nextSame;
        if (same == null) {
            oldest.remove(item.work);
        } else {
            same.lastSame = item.lastSame;
            oldest.put(item.work, same);
        }
        items.remove(item);
        item.nextSame = null;
        item.lastSame = null;
        size--;
    }
}
