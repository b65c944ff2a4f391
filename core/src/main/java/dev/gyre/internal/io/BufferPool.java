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

/// The buffer memory of a loop, within a limit. Slabs are divided into parts of one size class. A
/// larger buffer has its own mapping.
///
/// Each part has one reusable view, so internal code acquires and releases without allocation. It
/// must not use a view after its release. Users get a new view each time, which checks that.
///
/// The limit also bounds resident memory: parts in use, and free parts that were used before. Free
/// parts are returned to the system after [#TRIM_INTERVAL] without use, or when another size needs
/// the memory. A failed mapping is treated like reaching the limit.
///
/// Loop thread only, except [#used()]. Any thread releases buffers.
public final class BufferPool {
    private static final int[] SIZES = {1 << 12, 1 << 14, 1 << 16};
    private static final int SLAB_BYTES = 1 << 20;

    /// The time that free memory is kept for the next burst.
    private static final Duration TRIM_INTERVAL = Duration.ofSeconds(1);

    /// The amount of free memory that is never trimmed.
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

    /// The free parts of one size. A stack: the part used last is still in the CPU cache.
    private static final class SizeClass {
        final int size;
        @Nullable Part[] free = new @Nullable Part[0];
        int top;

        /// The number of parts at the bottom that are not resident.
        int cold;

        /// The number of parts, used and free.
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

    /// A part of a slab, or, without a size class, a whole mapping.
    private final class Part implements RefCountedMemory.Owner, Runnable {
        final @Nullable SizeClass sizeClass;
        final Slab slab;
        final long at;
        final RefCountedMemory memory;
        final NativeBuffer view;

        Part(@Nullable SizeClass sizeClass, Slab slab, long at, long size) {
            this.sizeClass = sizeClass;
            this.slab = slab;
            this.at = at;
            memory = new RefCountedMemory(slab.memory.bytes().part(at, size), this);
            view = new NativeBuffer(memory);
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

    /// Acquires an empty buffer for internal code; null if the limit is reached.
    public @Nullable NativeBuffer acquire(int atLeast) {
        Part part = part(atLeast);
        if (part == null) {
            return null;
        }
        part.view.recycle();
        return part.view;
    }

    /// Acquires an empty buffer with a new view; null if the limit is reached.
    public @Nullable NativeBuffer acquireForUser(int atLeast) {
        operations.context.requireOpen("Buffer.acquire");
        RefCountedMemory.requireSize(atLeast);
        Part part = part(atLeast);
        if (part == null) {
            return null;
        }
        NativeBuffer buffer = new NativeBuffer(part.memory);
        operations.leaks.track(buffer);
        return buffer;
    }

    public NativeBuffer acquireForUserOrThrow(int atLeast) {
        NativeBuffer buffer = acquireForUser(atLeast);
        if (buffer == null) {
            throw new LoopOverloadedException(
                    "no buffer of "
                            + atLeast
                            + " bytes: "
                            + used()
                            + " of "
                            + limit
                            + " are in use. Release buffers, or raise LoopConfig.bufferMemory");
        }
        return buffer;
    }

    private @Nullable Part part(int atLeast) {
        for (SizeClass sizeClass : sizeClasses) {
            if (atLeast <= sizeClass.size) {
                return fits(sizeClass.size) ? pop(sizeClass) : null;
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

    private @Nullable Part pop(SizeClass sizeClass) {
        if (sizeClass.top == sizeClass.cold) {
            evict(sizeClass.size);
            if (sizeClass.top == 0 && !addSlab(sizeClass)) {
                return null;
            }
            resident += sizeClass.size;
            sizeClass.cold--;
        } else {
            idle -= sizeClass.size;
            minIdle = Math.min(minIdle, idle);
        }
        Part part = Objects.requireNonNull(sizeClass.free[--sizeClass.top]);
        part.slab.free--;
        used.add(sizeClass.size);
        return part;
    }

    private void release(Part part) {
        long size = part.memory.bytes.size();
        used.add(-size);
        SizeClass sizeClass = part.sizeClass;
        if (sizeClass == null) {
            resident -= size;
            free(part.slab.memory);
        } else {
            part.slab.free++;
            sizeClass.free[sizeClass.top++] = part;
            idle += size;
            if (idle > MIN_IDLE_BYTES) {
                planTrim();
            }
        }
        if (!waiters.isEmpty()) {
            scheduleWaiters();
        }
    }

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

    private boolean addSlab(SizeClass sizeClass) {
        MappedMemory memory = map(SLAB_BYTES);
        if (memory == null) {
            return false;
        }
        int count = SLAB_BYTES / sizeClass.size;
        // The stack has room for all parts, so that a release allocates nothing.
        @Nullable Part[] larger = Arrays.copyOf(sizeClass.free, sizeClass.parts + count);
        Slab slab = new Slab(memory);
        for (int i = 0; i < count; i++) {
            long at = SLAB_BYTES - (long) (i + 1) * sizeClass.size;
            larger[i] = new Part(sizeClass, slab, at, sizeClass.size);
        }
        slab.free = count;
        sizeClass.free = larger;
        sizeClass.top = count;
        sizeClass.cold = count;
        sizeClass.parts += count;
        reserved += SLAB_BYTES;
        return true;
    }

    /// Frees idle memory of all sizes if one size would exceed the limit.
    private void evict(int bytes) {
        long missing = resident + bytes - limit;
        if (missing > 0) {
            missing -= dropFreeSlabs(missing, Integer.MAX_VALUE);
            discard(missing, Integer.MAX_VALUE);
        }
    }

    /// Unmaps slabs without parts in use, least recently used first.
    ///
    /// @param wanted the number of resident bytes to free
    /// @return the number of freed bytes
    private long dropFreeSlabs(long wanted, int max) {
        long before = resident;
        long marked = 0;
        int left = max;
        for (SizeClass sizeClass : sizeClasses) {
            int inSlab = SLAB_BYTES / sizeClass.size;
            int kept = 0;
            int cold = sizeClass.cold;
            for (int i = 0; i < sizeClass.top; i++) {
                Part part = Objects.requireNonNull(sizeClass.free[i]);
                Slab slab = part.slab;
                if (!slab.dropped && slab.free == inSlab && left > 0 && marked < wanted) {
                    slab.dropped = true;
                    left--;
                    marked += SLAB_BYTES;
                    free(slab.memory);
                    reserved -= SLAB_BYTES;
                    sizeClass.parts -= inSlab;
                }
                if (!slab.dropped) {
                    sizeClass.free[kept++] = part;
                } else if (i < cold) {
                    sizeClass.cold--;
                } else {
                    resident -= sizeClass.size;
                    idle -= sizeClass.size;
                }
            }
            Arrays.fill(sizeClass.free, kept, sizeClass.top, null);
            sizeClass.top = kept;
        }
        return before - resident;
    }

    /// Returns free parts of slabs in use to the system. The parts stay mapped.
    private void discard(long wanted, int max) {
        long left = wanted;
        int more = max;
        for (SizeClass sizeClass : sizeClasses) {
            for (; left > 0 && more > 0 && sizeClass.cold < sizeClass.top; more--) {
                Part part = Objects.requireNonNull(sizeClass.free[sizeClass.cold++]);
                part.slab.memory.discard(part.at, sizeClass.size);
                resident -= sizeClass.size;
                idle -= sizeClass.size;
                left -= sizeClass.size;
            }
        }
    }

    private void planTrim() {
        if (!trimPlanned && !operations.isShuttingDown()) {
            minIdle = idle;
            operations.context.loop().after(TRIM_INTERVAL, this::trim).unreference();
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

    public long used() {
        return used.get();
    }

    long reserved() {
        return reserved;
    }

    long resident() {
        return resident;
    }

    public long limit() {
        return limit;
    }

    /// Whether more than three quarters are in use, or the system refused memory: optional uses
    /// must wait.
    public boolean isNearLimit() {
        return mapRefused || used.get() > nearLimitAbove;
    }

    /// Whether [#isNearLimit()] would hold with this many more bytes in use.
    public boolean wouldBeNearLimit(long bytes) {
        return mapRefused || used.get() + bytes > nearLimitAbove;
    }

    /// Runs a waiter once, in a later tick, when the pool is not near its limit.
    public void whenAvailable(Runnable waiter) {
        waiters.add(waiter);
        scheduleWaiters();
    }

    private void scheduleWaiters() {
        if (waitersScheduled || isNearLimit()) {
            return;
        }
        try {
            operations.context.loop().defer(runWaiters);
            waitersScheduled = true;
        } catch (LoopTerminatedException e) {
            waiters.clear(); // No tick follows.
        }
    }

    private void runWaiters() {
        waitersScheduled = false;
        int max = waiters.size(); // Waiters added meanwhile run in a later tick.
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
