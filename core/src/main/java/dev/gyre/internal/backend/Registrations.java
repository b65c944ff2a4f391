package dev.gyre.internal.backend;

import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// Which handler belongs to which descriptor: an array indexed by the descriptor's number. The
/// [InterestUpdater] is the kernel's side of it.
///
/// The kernel is given number and generation to carry along. The generation changes with every
/// registration, so an event that was collected for an earlier owner of the number finds nobody.
///
/// Changes are made by any thread, under the lock. The loop thread looks entries up without it:
/// what it reads of an entry is immutable, and published before the kernel hears of it.
public final class Registrations {
    private static final int NUMBER_BITS = 24;

    /// One more than the largest number that can be registered.
    public static final int MOST = 1 << NUMBER_BITS;

    /// Where the tag lies in what an event carries: between the number and the generation.
    public static final int TAG_SHIFT = NUMBER_BITS;

    private static final class Entry {
        final int generation;
        final int tag;
        final ReadinessHandler handler;

        // Shared: guarded by lock.
        int interest;

        Entry(int generation, int tag, ReadinessHandler handler) {
            this.generation = generation;
            this.tag = tag;
            this.handler = handler;
        }

        long data(int number) {
            return ((long) generation << 32) | ((long) tag << TAG_SHIFT) | number;
        }
    }

    // Shared: guarded by lock.
    private final Object lock = new Object();
    private final InterestUpdater arming;
    private int generation;
    private boolean closed;

    // Shared: written under the lock, read by the loop thread without it. The array is replaced
    // when it grows; its elements are accessed through volatile reads of the reference.
    private volatile @Nullable Entry[] entries = new @Nullable Entry[64];

    public Registrations(InterestUpdater arming) {
        this.arming = arming;
    }

    /// The number in what an event carries.
    public static int numberOf(long data) {
        return (int) data & (MOST - 1);
    }

    /// The handler of a collected event, or null if its registration is gone.
    public @Nullable ReadinessHandler find(long data) {
        int number = numberOf(data);
        @Nullable Entry[] table = entries;
        Entry entry = number < table.length ? table[number] : null;
        return entry != null && entry.generation == (int) (data >>> 32) ? entry.handler : null;
    }

    public void register(int number, int interest, ReadinessHandler handler) {
        if (number < 0 || number >= MOST) {
            throw new IllegalArgumentException("not a descriptor: " + number);
        }
        synchronized (lock) {
            requireOpen();
            int tag = arming.examine(number);
            int result = tag;
            if (tag >= 0) {
                Entry entry = new Entry(nextGeneration(), tag, handler);
                entry.interest = interest;
                // Before the kernel hears of it: an edge that came at once would find nobody.
                put(number, entry);
                result = arming.arm(true, number, entry.data(number), interest);
            }
            if (result < 0) {
                forget(number);
                throw new SystemCallException(arming.call(true), -result, number);
            }
        }
    }

    public void modify(int number, int interest) {
        synchronized (lock) {
            requireOpen();
            Entry entry = entryOf(number);
            if (entry == null) {
                return;
            }
            if (arming.isStaleAfter(entry.interest, interest)) {
                entry = new Entry(nextGeneration(), entry.tag, entry.handler);
                put(number, entry);
            }
            entry.interest = interest;
            int result = arming.arm(false, number, entry.data(number), interest);
            if (result < 0) {
                throw new SystemCallException(arming.call(false), -result, number);
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // a handler is only itself
    public void deregister(int number, ReadinessHandler handler) {
        synchronized (lock) {
            Entry entry = entryOf(number);
            if (closed || entry == null || entry.handler != handler) {
                return;
            }
            forget(number);
            arming.disarm(number);
        }
    }

    /// Has nothing more reported until the next change, by the registration that an event was
    /// collected for. Does nothing if that is gone, or if the event is from before a change that
    /// made it stale.
    public void disarm(long data) {
        synchronized (lock) {
            if (!closed && find(data) != null) {
                arming.disarm(numberOf(data));
            }
        }
    }

    /// Refuses changes from now on, so that none reaches a descriptor that was given the number
    /// of the closed poller.
    public void close() {
        synchronized (lock) {
            closed = true;
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new LoopTerminatedException("the loop is over: its descriptors are released");
        }
    }

    /// Never zero: that marks the loop's own descriptors.
    private int nextGeneration() {
        generation = generation == -1 ? 1 : generation + 1;
        return generation;
    }

    private @Nullable Entry entryOf(int number) {
        @Nullable Entry[] table = entries;
        return number >= 0 && number < table.length ? table[number] : null;
    }

    private void put(int number, Entry entry) {
        @Nullable Entry[] table = entries;
        if (number >= table.length) {
            table = Arrays.copyOf(table, Math.max(number + 1, table.length * 2));
        }
        table[number] = entry;
        entries = table; // Release, also of the same array, so that the loop sees the element.
    }

    private void forget(int number) {
        @Nullable Entry[] table = entries;
        if (number < table.length) {
            table[number] = null;
            entries = table;
        }
    }
}
