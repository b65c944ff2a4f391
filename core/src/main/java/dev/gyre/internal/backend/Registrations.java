package dev.gyre.internal.backend;

import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// Maps descriptors to handlers by an array indexed by fd. Subclasses pass the interest to the
/// kernel, under the lock of this class; their results are zero or `-errno`.
///
/// Each event carries fd and generation. The generation changes with every registration, so that an
/// event that was collected for an earlier registration of the fd finds no handler.
///
/// Any thread changes the table, under the lock. The loop thread reads entries without it: the part
/// that it reads is immutable, and is published before the kernel knows of it.
public abstract class Registrations {
    private static final int FD_BITS = 24;

    /// One more than the largest fd.
    public static final int MAX_FDS = 1 << FD_BITS;

    /// The offset of the tag in the data of an event: between fd and generation.
    public static final int TAG_SHIFT = FD_BITS;

    private static final class Entry {
        final int generation;
        final int tag;
        final ReadinessHandler handler;

        // Shared: guarded by lock.
        int interest;

        Entry(int generation, int tag, ReadinessHandler handler, int interest) {
            this.generation = generation;
            this.tag = tag;
            this.handler = handler;
            this.interest = interest;
        }

        long data(int fd) {
            return ((long) generation << 32) | ((long) tag << TAG_SHIFT) | fd;
        }
    }

    // Shared: guarded by lock.
    private final Object lock = new Object();
    private int generation;
    private boolean closed;

    // Shared: written under the lock, read by the loop thread without it. The array is replaced
    // when it grows; its elements are accessed through volatile reads of the reference.
    private volatile @Nullable Entry[] entries = new @Nullable Entry[64];

    /// The system call of [#arm], for messages.
    ///
    /// @param registering whether the fd is new, or registered and to be changed
    protected abstract String call(boolean registering);

    /// Examines a descriptor before it is registered.
    ///
    /// @return a tag from 0 to 127 that the events of the registration carry, or `-errno` to refuse
    protected int examine(int fd) {
        return 0;
    }

    /// Returns whether a change of interest invalidates events in flight. The kernel then has to
    /// report again what lasts.
    protected boolean isStaleAfter(int interestBefore, int interestAfter) {
        return false;
    }

    /// Replaces the interest that the kernel has in a descriptor.
    ///
    /// @param data carried by each of its events
    protected abstract int arm(boolean registering, int fd, long data, int interest);

    /// Removes the interest that the kernel has in a descriptor. Its errors do not matter: the
    /// table decides.
    protected abstract void disarm(int fd);

    public static int fdOf(long data) {
        return (int) data & (MAX_FDS - 1);
    }

    /// Returns the handler of a collected event; null if its registration is gone.
    public final @Nullable ReadinessHandler find(long data) {
        int fd = fdOf(data);
        @Nullable Entry[] table = entries;
        Entry entry = fd < table.length ? table[fd] : null;
        return entry != null && entry.generation == (int) (data >>> 32) ? entry.handler : null;
    }

    /// Disarms the registration that an event was collected for, until the next change of interest.
    /// Does nothing if the registration is gone, or if a change has made the event stale.
    public final void disarmRegistration(long data) {
        synchronized (lock) {
            if (!closed && find(data) != null) {
                disarm(fdOf(data));
            }
        }
    }

    public final void register(int fd, int interest, ReadinessHandler handler) {
        if (fd < 0 || fd >= MAX_FDS) {
            throw new IllegalArgumentException("not a descriptor: " + fd);
        }
        synchronized (lock) {
            requireOpen();
            int tag = examine(fd);
            int result = tag;
            if (tag >= 0) {
                Entry entry = new Entry(nextGeneration(), tag, handler, interest);
                // Before the kernel knows of it: an immediate edge would find no handler.
                put(fd, entry);
                result = arm(true, fd, entry.data(fd), interest);
            }
            if (result < 0) {
                remove(fd);
                throw new SystemCallException(call(true), -result, fd);
            }
        }
    }

    public final void modify(int fd, int interest) {
        synchronized (lock) {
            requireOpen();
            Entry entry = entryOf(fd);
            if (entry == null) {
                return;
            }
            if (isStaleAfter(entry.interest, interest)) {
                entry = new Entry(nextGeneration(), entry.tag, entry.handler, interest);
                put(fd, entry);
            }
            entry.interest = interest;
            int result = arm(false, fd, entry.data(fd), interest);
            if (result < 0) {
                throw new SystemCallException(call(false), -result, fd);
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // handlers are compared by identity
    public final void deregister(int fd, ReadinessHandler handler) {
        synchronized (lock) {
            Entry entry = entryOf(fd);
            if (closed || entry == null || entry.handler != handler) {
                return;
            }
            remove(fd);
            disarm(fd);
        }
    }

    /// Refuses further changes: they would reach a descriptor that reuses the number of the closed
    /// poller.
    public final void close() {
        synchronized (lock) {
            closed = true;
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new LoopTerminatedException(
                    "the loop is terminated: its descriptors are released");
        }
    }

    /// Returns a generation other than zero, which marks descriptors of the backend itself.
    private int nextGeneration() {
        generation = generation == -1 ? 1 : generation + 1;
        return generation;
    }

    private @Nullable Entry entryOf(int fd) {
        @Nullable Entry[] table = entries;
        return fd >= 0 && fd < table.length ? table[fd] : null;
    }

    private void put(int fd, Entry entry) {
        @Nullable Entry[] table = entries;
        if (fd >= table.length) {
            table = Arrays.copyOf(table, Math.max(fd + 1, table.length * 2));
        }
        table[fd] = entry;
        entries = table; // Release, also of the same array, so that the loop sees the element.
    }

    private void remove(int fd) {
        @Nullable Entry[] table = entries;
        if (fd < table.length) {
            table[fd] = null;
            entries = table;
        }
    }
}
