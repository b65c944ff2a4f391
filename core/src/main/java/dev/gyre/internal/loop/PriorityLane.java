package dev.gyre.internal.loop;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// The lane of `submitPriority`: many producers, one consumer, unbounded, FIFO, behind a lock.
///
/// A lock and not tickets, because two things are asked of it that tickets make hard: it is never full,
/// and whether it still accepts must be decided together with the append. The consumer takes the lock
/// once for everything that has gathered, not once a task.
///
/// Tasks lie in chunks of 128. The consumer gives emptied chunks back when it next takes the lock.
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

    /// Any thread. With the effect of a full fence.
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

    /// Consumer only.
    ///
    /// @return the oldest task, or null if there is none
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

    /// Takes over everything that has gathered, and hands back the chunks emptied before.
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
            assert chunk != null : "appended tasks lie in a chunk";
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

    /// Consumer only: whether [#poll()] would return null.
    public boolean isEmpty() {
        return appended == taken;
    }

    /// Any thread.
    public int depth() {
        long before = taken;
        return (int) Math.max(0, appended - before);
    }

    /// Any thread, idempotent: refuses everything from now on. What was accepted before is there when this
    /// returns.
    public void close() {
        synchronized (lock) {
            closed = true;
        }
    }
}
