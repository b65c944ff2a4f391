package dev.gyre.internal.io;

import dev.gyre.LoopOverloadedException;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Timer;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.sys.MappedMemory;
import dev.gyre.internal.sys.MemoryCalls;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// The loop's memory for buffers, within a limit. It is mapped in slabs, each cut into parts of one
/// size; a larger buffer has a mapping of its own.
///
/// A part has one view that is handed out again and again, so that taking and releasing allocate
/// nothing. Whoever takes it is trusted not to use it after its release, when it may be somebody
/// else's. Users are not: they get a view of their own each time.
///
/// The limit also bounds resident memory: parts in use, and free parts that were used before. Free
/// parts are returned to the system after [#TRIM_INTERVAL] without use, or when another size needs
/// the memory. A failed mapping is treated like reaching the limit.
///
/// Loop thread only, but for what [#used()] says. Buffers are released on any thread.
public final class BufferPool {
    private static final int[] SIZES = {1 << 12, 1 << 14, 1 << 16};
    private static final int SLAB_BYTES = 1 << 20;

    /// How long free memory is kept for the next burst.
    private static final Duration TRIM_INTERVAL = Duration.ofSeconds(1);

    /// How much free memory is never returned.
    private static final long MIN_IDLE_BYTES = 1 << 20;

    /// The maximum of slabs per trim: unmapping a slab briefly stops every thread of the process.
    private static final int MAX_SLABS_PER_TRIM = 32;

    /// The maximum of parts discarded per trim, at one system call each.
    private static final int MAX_PARTS_PER_TRIM = 1_024;

    /// The delay before the next trim if memory is left to free.
    private static final Duration REST_INTERVAL = Duration.ofMillis(50);

    private final LoopOperations operations;
    private final MemoryCalls calls;
    private final SizeClass[] sizeClasses = new SizeClass[SIZES.length];
    private final long limit;
    private final long nearLimitAbove;
    private final Counter used = new Counter();

    /// Bytes in use, plus free parts that were used before. Never above the limit.
    private long resident;

    /// Resident bytes that are free. `minIdle` is their minimum since the last trim.
    private long idle;

    private long minIdle;

    /// Bytes of all slabs, resident or not.
    private long reserved;

    /// Memory to free once the JDK call that uses it returns.
    private final List<MappedMemory> pendingFrees = new ArrayList<>();

    private boolean trimPlanned;

    /// Whether the system refused memory since the last trim.
    private boolean mapRefused;

    private final TaskRing waiters = new TaskRing("waiters for buffer memory");
    private final Runnable runWaiters = this::runWaiters;
    private boolean waitersScheduled;

    /// What lies ready of one size. A stack: the part used last is the one still in the cache.
    private static final class SizeClass {
        final int size;
        @Nullable Part[] free = new @Nullable Part[0];
        int top;

        /// How many parts at the bottom are not resident.
        int cold;

        /// How many there are, out or free.
        int parts;

        SizeClass(int size) {
            this.size = size;
        }
    }

    private static final class Slab {
        final MappedMemory memory;
        int free;
        boolean dropped;

        Slab(MappedMemory memory) {
            this.memory = memory;
        }
    }

    /// A part of a slab, or, without a shelf, all of a mapping of its own.
    private final class Part implements RefCountedMemory.Owner, Runnable {
        final @Nullable SizeClass shelf;
        final Slab slab;
        final long at;
        final RefCountedMemory piece;
        final NativeBuffer view;

        Part(@Nullable SizeClass shelf, Slab slab, long at, long size) {
            this.shelf = shelf;
            this.slab = slab;
            this.at = at;
            piece = new RefCountedMemory(slab.memory.bytes().part(at, size), this);
            view = new NativeBuffer(piece);
        }

        @Override
        public void reclaim() {
            operations.onLoop(this);
        }

        @Override
        public void run() {
            release(this);
        }
    }

    BufferPool(LoopOperations operations, MemoryCalls calls, long limit) {
        this.operations = operations;
        this.calls = calls;
        this.limit = limit;
        nearLimitAbove = limit / 4 * 3;
        for (int i = 0; i < SIZES.length; i++) {
            sizeClasses[i] = new SizeClass(SIZES[i]);
        }
    }

    /// Takes an empty buffer, for code of ours.
    ///
    /// @return null if there is no more memory within the limit
    public @Nullable NativeBuffer acquire(int atLeast) {
        Part part = part(atLeast);
        if (part == null) {
            return null;
        }
        part.view.reset();
        return part.view;
    }

    /// Takes an empty buffer that no earlier one can be mistaken for.
    ///
    /// @return null if there is no more memory within the limit
    public @Nullable NativeBuffer acquireForUser(int atLeast) {
        operations.host.requireOpen("Buffer.take");
        RefCountedMemory.requireSize(atLeast);
        Part part = part(atLeast);
        if (part == null) {
            return null;
        }
        NativeBuffer taken = new NativeBuffer(part.piece);
        operations.leaks.track(taken);
        return taken;
    }

    public NativeBuffer acquireForUserOrThrow(int atLeast) {
        NativeBuffer taken = acquireForUser(atLeast);
        if (taken == null) {
            throw new LoopOverloadedException(
                    "no buffer of "
                            + atLeast
                            + " bytes: "
                            + used()
                            + " of "
                            + limit
                            + " are in use (LoopConfig.withBufferMemory)");
        }
        return taken;
    }

    private @Nullable Part part(int atLeast) {
        for (SizeClass shelf : sizeClasses) {
            if (atLeast <= shelf.size) {
                return fits(shelf.size) ? pop(shelf) : null;
            }
        }
        int page = MappedMemory.PAGE_BYTES;
        int size = (atLeast + page - 1) / page * page;
        return fits(size) ? mapLarge(size) : null;
    }

    private boolean fits(int bytes) {
        return used.get() + bytes <= limit;
    }

    private @Nullable Part mapLarge(int size) {
        evict(size);
        MappedMemory memory = map(size);
        if (memory == null) {
            return null;
        }
        Part part = new Part(null, new Slab(memory), 0, size);
        resident += size;
        used.add(size);
        return part;
    }

    private @Nullable Part pop(SizeClass shelf) {
        if (shelf.top == shelf.cold) {
            evict(shelf.size);
            if (shelf.top == 0 && !addSlab(shelf)) {
                return null;
            }
            resident += shelf.size;
            shelf.cold--;
        } else {
            idle -= shelf.size;
            minIdle = Math.min(minIdle, idle);
        }
        Part part = Objects.requireNonNull(shelf.free[--shelf.top]);
        part.slab.free--;
        used.add(shelf.size);
        return part;
    }

    private void release(Part part) {
        long size = part.piece.bytes.size();
        used.add(-size);
        SizeClass shelf = part.shelf;
        if (shelf == null) {
            resident -= size;
            free(part.slab.memory);
        } else {
            part.slab.free++;
            shelf.free[shelf.top++] = part;
            idle += size;
            if (idle > MIN_IDLE_BYTES) {
                planTrim();
            }
        }
        if (!waiters.isEmpty()) {
            scheduleWaiters();
        }
    }

    // ------------------------------------------------------------------ slabs

    private @Nullable MappedMemory map(int bytes) {
        MappedMemory memory = MappedMemory.map(calls, bytes);
        if (memory == null) {
            mapRefused = true;
            planTrim();
        }
        return memory;
    }

    private void free(MappedMemory memory) {
        if (!memory.free()) {
            pendingFrees.add(memory);
            planTrim();
        }
    }

    private boolean addSlab(SizeClass shelf) {
        MappedMemory memory = map(SLAB_BYTES);
        if (memory == null) {
            return false;
        }
        int count = SLAB_BYTES / shelf.size;
        // The stack has room for all there are, so that giving back allocates nothing.
        @Nullable Part[] larger = Arrays.copyOf(shelf.free, shelf.parts + count);
        Slab slab = new Slab(memory);
        for (int i = 0; i < count; i++) {
            long at = SLAB_BYTES - (long) (i + 1) * shelf.size;
            larger[i] = new Part(shelf, slab, at, shelf.size);
        }
        slab.free = count;
        shelf.free = larger;
        shelf.top = count;
        shelf.cold = count;
        shelf.parts += count;
        reserved += SLAB_BYTES;
        return true;
    }

    /// What one size had in a burst is not kept when another one needs it.
    private void evict(int bytes) {
        long missing = resident + bytes - limit;
        if (missing > 0) {
            missing -= dropFreeSlabs(missing, Integer.MAX_VALUE);
            discard(missing, Integer.MAX_VALUE);
        }
    }

    /// Unmaps slabs without parts in use, least recently used first.
    ///
    /// @param wanted how many resident bytes to free
    /// @return how many bytes were freed
    private long dropFreeSlabs(long wanted, int max) {
        long before = resident;
        long marked = 0;
        int left = max;
        for (SizeClass shelf : sizeClasses) {
            int inSlab = SLAB_BYTES / shelf.size;
            int kept = 0;
            int cold = shelf.cold;
            for (int i = 0; i < shelf.top; i++) {
                Part part = Objects.requireNonNull(shelf.free[i]);
                Slab slab = part.slab;
                if (!slab.dropped && slab.free == inSlab && left > 0 && marked < wanted) {
                    slab.dropped = true;
                    left--;
                    marked += SLAB_BYTES;
                    free(slab.memory);
                    reserved -= SLAB_BYTES;
                    shelf.parts -= inSlab;
                }
                if (!slab.dropped) {
                    shelf.free[kept++] = part;
                } else if (i < cold) {
                    shelf.cold--;
                } else {
                    resident -= shelf.size;
                    idle -= shelf.size;
                }
            }
            Arrays.fill(shelf.free, kept, shelf.top, null);
            shelf.top = kept;
        }
        return before - resident;
    }

    /// Returns free parts of slabs in use to the system. The parts stay mapped.
    private void discard(long wanted, int max) {
        long left = wanted;
        int more = max;
        for (SizeClass shelf : sizeClasses) {
            for (; left > 0 && more > 0 && shelf.cold < shelf.top; more--) {
                Part part = Objects.requireNonNull(shelf.free[shelf.cold++]);
                part.slab.memory.discard(part.at, shelf.size);
                resident -= shelf.size;
                idle -= shelf.size;
                left -= shelf.size;
            }
        }
    }

    // ------------------------------------------------------------------ after a burst

    private void planTrim() {
        if (!trimPlanned && !operations.isEnding()) {
            minIdle = idle;
            operations.host.loop().after(TRIM_INTERVAL, this::trim).unreference();
            trimPlanned = true; // Only now: scheduling may throw.
        }
    }

    /// Frees the memory that stayed idle since the last trim.
    private void trim(Timer timer) {
        trimPlanned = false; // If this throws, the next release plans another trim.
        mapRefused = false;
        pendingFrees.removeIf(MappedMemory::free);
        scheduleWaiters();
        long spare = Math.min(idle, minIdle) - MIN_IDLE_BYTES;
        long before = idle;
        if (spare > 0) {
            discard(spare - dropFreeSlabs(spare, MAX_SLABS_PER_TRIM), MAX_PARTS_PER_TRIM);
        }
        long freed = before - idle;
        boolean more = freed < spare;
        minIdle = more ? Math.min(idle, minIdle - freed) : idle;
        trimPlanned = idle > MIN_IDLE_BYTES || !pendingFrees.isEmpty();
        if (trimPlanned) {
            timer.reschedule(more ? REST_INTERVAL : TRIM_INTERVAL);
        }
    }

    /// Frees all idle slabs when the loop terminates. The garbage collector frees slabs with
    /// buffers that user code still holds.
    void close() {
        dropFreeSlabs(Long.MAX_VALUE, Integer.MAX_VALUE);
    }

    // ------------------------------------------------------------------ how much there is

    /// How many bytes are out. Any thread.
    public long used() {
        return used.get();
    }

    long reserved() {
        return reserved;
    }

    /// How many bytes the system may back. Never above the limit.
    long resident() {
        return resident;
    }

    public long limit() {
        return limit;
    }

    /// Whether so much is out that whoever can do without should.
    public boolean isNearLimit() {
        return mapRefused || used.get() > nearLimitAbove;
    }

    /// Whether that many more bytes would make it tight.
    public boolean wouldBeNearLimit(long bytes) {
        return mapRefused || used.get() + bytes > nearLimitAbove;
    }

    /// Calls once, in a turn of the loop to come, when it is not tight.
    public void whenAvailable(Runnable waiter) {
        waiters.add(waiter);
        scheduleWaiters();
    }

    private void scheduleWaiters() {
        if (waitersScheduled || isNearLimit()) {
            return;
        }
        try {
            operations.host.loop().defer(runWaiters);
            waitersScheduled = true;
        } catch (LoopTerminatedException e) {
            waiters.clear(); // There is no turn to come.
        }
    }

    private void runWaiters() {
        waitersScheduled = false;
        int max = waiters.size(); // Who waits again in its call is called in a later turn.
        try {
            while (max-- > 0 && !isNearLimit()) {
                waiters.take().run();
            }
        } finally {
            if (!waiters.isEmpty()) {
                scheduleWaiters();
            }
        }
    }
}
