package dev.gyre.internal.loop;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// The lane of `submitPriority`: many producers, one consumer, unbounded, FIFO, behind a lock.
///
/// It uses a lock and not tickets because of two requirements that tickets make hard: it is never
/// full, and the decision to accept must be atomic with the append. The consumer acquires the lock
/// once for all queued tasks, not once per task.
///
/// Tasks are stored in chunks of 128. The consumer returns emptied chunks when it next acquires the
/// lock.
public final class PriorityLane {
    static final int CHUNK = 128;

    private static final int MAX_SPARE_CHUNKS = 16;

    private static final class Chunk {
        final @Nullable Runnable[] slots = new @Nullable Runnable[CHUNK];
        int written;
        @Nullable Chunk next;
    }

    // Shared: guarded by lock.
    private final Object lock = new Object();
    private @Nullable Chunk first;
    private @Nullable Chunk last;
    private @Nullable Chunk spares;
    private int spareCount;
    private boolean closed;

    // Shared: written under the lock, read by the consumer without it.
    private volatile long appended;

    // Consumer only, except that any thread may read `taken` for the depth.
    private @Nullable Chunk reading;
    private int readSlot;
    private @Nullable Chunk emptied;
    private int emptiedCount;
    private volatile long taken;

    /// Appends a task. Any thread. With the effect of a full fence.
    ///
    /// @return false if the lane is closed: the task will never be polled
    @SuppressWarnings("NonAtomicVolatileUpdate") // only ever under the lock
    public boolean offer(Runnable task) {
        synchronized (lock) {
            if (closed) {
                return false;
            }
            Chunk chunk = last;
            if (chunk == null || chunk.written == CHUNK) {
                chunk = append();
            }
            chunk.slots[chunk.written++] = task;
            appended++;
            return true;
        }
    }

    private Chunk append() {
        Chunk chunk = spares;
        if (chunk == null) {
            chunk = new Chunk();
        } else {
            spares = chunk.next;
            chunk.next = null;
            spareCount--;
        }
        if (last == null) {
            first = chunk;
        } else {
            last.next = chunk;
        }
        last = chunk;
        return chunk;
    }

    /// Removes the oldest task. Consumer only.
    ///
    /// @return null if the lane is empty
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    public @Nullable Runnable poll() {
        Chunk chunk = reading;
        if (chunk == null) {
            if (appended == taken) {
                return null;
            }
            chunk = detach();
        }
        Runnable task = chunk.slots[readSlot];
        assert task != null : "a written slot is filled";
        chunk.slots[readSlot++] = null;
        if (readSlot == chunk.written) {
            recycle(chunk);
        }
        taken++;
        return task;
    }

    /// Detaches all queued tasks, and returns the chunks emptied before.
    private Chunk detach() {
        synchronized (lock) {
            while (emptied != null) {
                Chunk chunk = emptied;
                emptied = chunk.next;
                emptiedCount--;
                if (spareCount < MAX_SPARE_CHUNKS) {
                    chunk.next = spares;
                    spares = chunk;
                    spareCount++;
                }
            }
            Chunk chunk = first;
            assert chunk != null : "appended tasks are in a chunk";
            reading = chunk;
            readSlot = 0;
            first = null;
            last = null;
            return chunk;
        }
    }

    private void recycle(Chunk chunk) {
        Arrays.fill(chunk.slots, null);
        reading = chunk.next;
        readSlot = 0;
        chunk.written = 0;
        chunk.next = null;
        if (emptiedCount < MAX_SPARE_CHUNKS) {
            chunk.next = emptied;
            emptied = chunk;
            emptiedCount++;
        }
    }

    /// Returns whether [#poll()] would return null. Consumer only.
    public boolean isEmpty() {
        return appended == taken;
    }

    /// Returns how many tasks are queued. Any thread.
    public int depth() {
        long before = taken;
        return (int) Math.max(0, appended - before);
    }

    /// Refuses every later offer. Tasks accepted before are visible when this returns. Idempotent.
    /// Any thread.
    public void close() {
        synchronized (lock) {
            closed = true;
        }
    }
}
