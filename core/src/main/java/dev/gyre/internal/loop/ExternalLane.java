package dev.gyre.internal.loop;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.LongSupplier;

/// The lane of `submit`: many producers, one consumer, bounded, lock-free, FIFO.
///
/// A producer claims a *ticket* by advancing `tail`, then fills the slot of that ticket. Slots are
/// grouped in chunks of 128. The chunk of ticket `t` is in a ring of chunk references, the
/// *directory*, at index `t / 128`. The lane's capacity keeps head and tail less than one round of
/// the directory apart, so an index never means two chunks.
///
/// ```
///            head ▼                         ▼ tail
///   directory  [ chunk 5 | chunk 6 | chunk 7 | chunk 8 |  null  |  null  … ]
///                               └ claimed, not filled yet: consumer sees the end here
/// ```
///
/// **Chunks** are installed by the first producer that finds its place empty. The consumer moves
/// emptied chunks ahead of the tail, so a lane in steady use allocates nothing and stays in the
/// cache. A slot is nulled when its task is polled. The whole chunk is nulled again before reuse,
/// so it never keeps a task reachable. Chunks are arrays of Object: a store into an array of
/// Runnable would check the task's class, and so fetch a cache line that the consumer uses.
///
/// **Empty** means: the slot at `head` is not filled. A claimed ticket does not count, because its
/// producer, once it has filled the slot, reads the loop's state and wakes it. A full fence
/// separates the store from that read. Another separates the loop's announcement that it sleeps
/// from its read of the slot. At least one of the two sees the other.
///
/// **No holes** (E-4): a claimed slot is always filled, even if the producer runs out of memory or
/// stack. Memory is allocated before the claim. No call lies between claim and store, because only
/// a call can overflow the stack.
///
/// **Closing** sets the sign bit of `tail` in the same word that hands out tickets. Each ticket is
/// therefore before the close, and will be filled and drained, or after it, and is refused.
public final class ExternalLane {
    public enum Offer {
        ACCEPTED,
        FULL,
        CLOSED
    }

    static final int CHUNK = 128;

    private static final int CHUNK_SHIFT = 7;

    /// One task in 16 has a time stamp.
    static final int STAMP_INTERVAL = 16;

    private static final int STAMP_SHIFT = 4;

    /// The low bits of a time stamp are those of the chunk's number. They show whether it belongs
    /// to the polled task: stamp and task are plain stores, which may become visible in any order.
    private static final long STAMP_TAG = 63;

    private static final long CLOSED_BIT = Long.MIN_VALUE;

    /// Emptied chunks kept for reuse, 644 bytes each. The collector frees the surplus of a burst.
    private static final int MAX_SPARE_CHUNKS = 128;

    private static final VarHandle CURSOR = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle DIRECTORY =
            MethodHandles.arrayElementVarHandle(Object[][].class);

    // Two cache lines apart, as processors fetch lines in pairs: producers contend for `tail`, and
    // the consumer's progress must not wait for them.
    private static final int TAIL = 16;

    /// A ticket below this is certainly within capacity; above it, `head` decides.
    private static final int LIMIT = 17;

    private static final int HEAD = 32;

    /// The first place to try for the next emptied chunk. Consumer only.
    private static final int SPARE = 33;

    private final int capacity;
    private final int mask;

    // Shared: TAIL and LIMIT written by producers, HEAD by the consumer.
    private final long[] cursors = new long[48];
    // Shared: places filled by producers and the consumer, cleared by the consumer.
    private final @Nullable Object[][] directory;

    // Consumer only. Written once per chunk. Values that change with every task are in the
    // consumer's cursors, away from the fields that producers read.
    private @Nullable Object @Nullable [] headChunk;

    /// The time stamp of the task polled last, with its tag.
    private long polledStamp;

    private boolean polledStamped;

    private final LongSupplier clock;

    /// @param capacity how many tasks may be queued
    public ExternalLane(int capacity) {
        this(capacity, System::nanoTime);
    }

    /// @param capacity how many tasks may be queued
    /// @param clock the source of time stamps, in nanoseconds
    public ExternalLane(int capacity, LongSupplier clock) {
        this.capacity = capacity;
        this.clock = clock;
        // One chunk more for a head, and one for a tail, that is not aligned with its chunk.
        int chunks = (capacity + CHUNK - 1) / CHUNK + 2;
        int places = Integer.highestOneBit(chunks - 1) << 1;
        this.mask = places - 1;
        this.directory = new @Nullable Object[places][];
        this.cursors[LIMIT] = capacity;
    }

    /// Any thread. With the effect of a full fence if the task was accepted.
    public Offer offer(Runnable task) {
        while (true) {
            long ticket = (long) CURSOR.getVolatile(cursors, TAIL);
            if (ticket < 0) {
                return Offer.CLOSED;
            }
            // Acquire: pairs with the release in raiseLimit(), and so with the consumer's progress.
            if (ticket >= (long) CURSOR.getAcquire(cursors, LIMIT) && !raiseLimit(ticket)) {
                return Offer.FULL;
            }
            // The chunk before the ticket: if memory ran out after the claim, the consumer would
            // wait at the hole for ever. If another producer wins the ticket, the chunk is clean
            // and serves the next producer at its place.
            @Nullable Object[] chunk = chunkOf(ticket);
            int slot = slotOf(ticket);
            long[] stamps = null;
            long stamp = 0;
            if (slot % STAMP_INTERVAL == 0) {
                stamps = stampsOf(chunk);
                stamp = (clock.getAsLong() & ~STAMP_TAG) | tagOf(ticket);
            }
            if (CURSOR.compareAndSet(cursors, TAIL, ticket, ticket + 1)) {
                // No call between claim and store: it could overflow the stack and leave a hole.
                // So the store is plain. The exchange before it, a full fence, publishes the task.
                // The fence after it makes the slot visible before the caller reads the state.
                if (stamps != null) {
                    stamps[slot >> STAMP_SHIFT] = stamp;
                }
                chunk[slot] = task;
                VarHandle.fullFence();
                return Offer.ACCEPTED;
            }
        }
    }

    /// Returns whether the ticket is within capacity of the consumer's real progress.
    private boolean raiseLimit(long ticket) {
        // Acquire: pairs with the release in poll(), so the directory's places behind it are free.
        long limit = (long) CURSOR.getAcquire(cursors, HEAD) + capacity;
        // Only upwards, or refused producers would keep taking the line of `tail` from accepted
        // ones. A late writer may lower it again, which costs the next producer one read.
        if (limit > (long) CURSOR.getOpaque(cursors, LIMIT)) {
            CURSOR.setRelease(cursors, LIMIT, limit);
        }
        return ticket < limit;
    }

    private @Nullable Object[] chunkOf(long ticket) {
        int place = placeOf(ticket);
        // Acquire: pairs with the exchange that installed it; its slots are null.
        Object[] chunk = (Object[]) DIRECTORY.getAcquire(directory, place);
        if (chunk != null) {
            return chunk;
        }
        Object[] fresh = new Object[CHUNK + 1];
        long[] stamps = new long[CHUNK / STAMP_INTERVAL];
        Arrays.fill(stamps, tagOf(ticket) ^ 1); // Of another chunk.
        fresh[CHUNK] = stamps;
        Object[] witness = (Object[]) DIRECTORY.compareAndExchange(directory, place, null, fresh);
        return witness != null ? witness : fresh;
    }

    /// Consumer only.
    ///
    /// @return the oldest task, or null if its slot is not filled
    public @Nullable Runnable poll() {
        long head = cursors[HEAD];
        @Nullable Object[] chunk = headChunk;
        if (chunk == null) {
            chunk = (Object[]) DIRECTORY.getAcquire(directory, placeOf(head));
            if (chunk == null) {
                return null;
            }
            headChunk = chunk;
        }
        int slot = slotOf(head);
        // Acquire: pairs with the store in offer(), before which the exchange has published the
        // task's own fields.
        Runnable task = (Runnable) SLOT.getAcquire(chunk, slot);
        if (task == null) {
            return null;
        }
        chunk[slot] = null;
        polledStamped = false;
        if (slot % STAMP_INTERVAL == 0) {
            polledStamp = stampsOf(chunk)[slot >> STAMP_SHIFT];
            polledStamped = (polledStamp & STAMP_TAG) == tagOf(head);
        }
        if (slot == CHUNK - 1) {
            recycle(chunk, head);
        }
        // Release: pairs with the acquire in raiseLimit(). After recycle(), so that a producer
        // admitted by it finds the place free.
        CURSOR.setRelease(cursors, HEAD, head + 1);
        return task;
    }

    /// Moves the emptied chunk to the first free place ahead of the tail.
    private void recycle(@Nullable Object[] chunk, long head) {
        Arrays.fill(chunk, 0, CHUNK, null);
        headChunk = null;
        DIRECTORY.setRelease(directory, placeOf(head), null);
        long tailChunk = tail() >>> CHUNK_SHIFT;
        long end =
                Math.min(
                        tailChunk + MAX_SPARE_CHUNKS,
                        // Not as far as a place that still belongs to the head's own round.
                        (head >>> CHUNK_SHIFT) + mask);
        for (long place = Math.max(cursors[SPARE], tailChunk + 1); place <= end; place++) {
            cursors[SPARE] = place + 1;
            if (DIRECTORY.compareAndSet(directory, (int) place & mask, null, chunk)) {
                return;
            }
        }
    }

    /// Returns whether [#poll()] would return null. Consumer only. The reads are volatile: they
    /// must not pass the announcement of sleep before them.
    public boolean isEmpty() {
        long head = cursors[HEAD];
        @Nullable Object[] chunk = headChunk;
        if (chunk == null) {
            chunk = (Object[]) DIRECTORY.getVolatile(directory, placeOf(head));
        }
        return chunk == null || SLOT.getVolatile(chunk, slotOf(head)) == null;
    }

    /// Returns how many tickets were claimed and not polled yet. Any thread.
    public int depth() {
        long taken = (long) CURSOR.getAcquire(cursors, HEAD);
        return (int) Math.max(0, tail() - taken);
    }

    /// Refuses every later offer. Idempotent. Any thread.
    public void close() {
        long tail;
        do {
            tail = (long) CURSOR.getVolatile(cursors, TAIL);
        } while (tail >= 0 && !CURSOR.compareAndSet(cursors, TAIL, tail, tail | CLOSED_BIT));
    }

    /// Returns whether every claimed ticket has been polled. Consumer only, after [#close()]. A
    /// producer fills a claimed slot within a few instructions, so the wait for it is short.
    public boolean isFinished() {
        assert cursors[TAIL] < 0 : "the lane is still open";
        return cursors[HEAD] == tail();
    }

    private long tail() {
        return (long) CURSOR.getVolatile(cursors, TAIL) & ~CLOSED_BIT;
    }

    /// Returns whether the task polled last has a time stamp. Consumer only.
    boolean isPolledStamped() {
        return polledStamped;
    }

    /// Returns when the task polled last was submitted, at most 64 ns off. Consumer only.
    long polledStamp() {
        return polledStamp & ~STAMP_TAG;
    }

    private static long[] stampsOf(@Nullable Object[] chunk) {
        return (long[]) Objects.requireNonNull(chunk[CHUNK]);
    }

    private static long tagOf(long ticket) {
        return ticket >>> CHUNK_SHIFT & STAMP_TAG;
    }

    private int placeOf(long ticket) {
        return (int) (ticket >>> CHUNK_SHIFT) & mask;
    }

    private static int slotOf(long ticket) {
        return (int) ticket & (CHUNK - 1);
    }
}
