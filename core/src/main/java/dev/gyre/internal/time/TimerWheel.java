package dev.gyre.internal.time;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/// The far timers: a hierarchical timing wheel. It is coarse and does not order timers in a slot.
///
/// Time is divided into ticks of 2²⁰ ns, about a millisecond. Level 0 has a slot for each of 64
/// ticks, level 1 for each of 64 spans of 64 ticks, and so on. Eight levels cover every deadline of
/// a long. A timer's level is the highest group of six bits in which its tick differs from the
/// wheel's tick. So all timers on level 0 precede all timers on level 1. One bit map per level
/// locates the next occupied slot at any distance.
///
/// ```
///   wheel's tick   … 000001 000010 000011
///   timer's tick   … 000001 000010 010000   differs in group 0: level 0, slot 16
///                  … 000001 001111 101010   differs in group 1: level 1, slot 15
/// ```
///
/// The wheel fires nothing. When it reaches a slot of level 0, the slot's timers move to the exact
/// [NearQueue]. When it enters the span of a slot on a higher level, they move down to finer slots.
/// A timer that is cancelled before that costs one insertion and one removal, each in constant
/// time.
///
/// Loop thread only.
final class TimerWheel {
    static final int TICK_SHIFT = 20;
    static final int LEVEL_SHIFT = 6;
    static final int SLOTS = 1 << LEVEL_SHIFT;
    static final int LEVELS = 8;

    private static final int SLOT_MASK = SLOTS - 1;
    private static final int NONE = -1;

    private final NearQueue near;
    private final long anchorNanos;
    private final Slot[] slots = new Slot[LEVELS * SLOTS];
    private final long[] occupied = new long[LEVELS];

    /// The current tick. Timers of earlier ticks are in the near queue.
    private long tick;

    /// The highest level with timers still to move out of slots that the wheel has entered; 0 if
    /// none. Positive between calls only after memory ran out during a move.
    private int unmovedLevel;

    /// @param near receives the timers of the slots that are reached
    /// @param anchorNanos the instant of tick 0
    TimerWheel(NearQueue near, long anchorNanos) {
        this.near = near;
        this.anchorNanos = anchorNanos;
        Arrays.setAll(slots, _ -> new Slot());
    }

    /// Returns whether the deadline belongs in the wheel. Nearer deadlines need the exact order of
    /// the near queue.
    boolean accepts(long deadlineNanos) {
        return tickOf(deadlineNanos) >= tick;
    }

    /// Ensures that a timer with that deadline can be inserted without an allocation. Requires
    /// [#accepts].
    void ensureCapacity(long deadlineNanos) {
        slots[slotFor(tickOf(deadlineNanos))].ensureCapacity();
    }

    /// Requires a preceding [#ensureCapacity].
    void insert(LoopTimer timer) {
        int slot = slotFor(tickOf(timer.deadlineNanos));
        slots[slot].add(timer);
        timer.place = slot;
        occupied[slot >> LEVEL_SHIFT] |= 1L << (slot & SLOT_MASK);
    }

    /// Returns whether a timer can keep its slot with a new deadline, because the wheel reaches
    /// that slot in time.
    boolean canStay(LoopTimer timer, long deadlineNanos) {
        return timer.place >= 0 && deadlineNanos - slots[timer.place].minNanos >= 0;
    }

    void remove(LoopTimer timer) {
        Slot slot = slots[timer.place];
        slot.remove(timer);
        if (slot.size() == 0) {
            int place = timer.place;
            occupied[place >> LEVEL_SHIFT] &= ~(1L << (place & SLOT_MASK));
        }
        timer.place = LoopTimer.UNSCHEDULED;
    }

    /// Moves the timers of every reached slot to the near queue, possibly before their deadlines.
    void advance(long nowNanos) {
        long target = tickOf(nowNanos);
        moveDown();
        for (int slot = nextOccupiedSlot(); slot != NONE; slot = nextOccupiedSlot()) {
            long start = startOf(slot);
            if (start > target) {
                break;
            }
            enter(start);
            if (slot < SLOTS) {
                empty(slot);
                enter(start + 1);
            }
        }
        if (tick <= target) {
            enter(target + 1);
        }
    }

    /// Returns the nearest deadline, or an earlier instant if a nearer timer was cancelled. The
    /// result is always after the instant last advanced to.
    ///
    /// @return the instant, or the limit if that is earlier or the wheel is empty
    long nearest(long limitNanos) {
        if (hasPendingMoves()) {
            long now = anchorNanos + (tick << TICK_SHIFT);
            return now - limitNanos < 0 ? now : limitNanos;
        }
        int slot = nextOccupiedSlot();
        if (slot == NONE) {
            return limitNanos;
        }
        long min = slots[slot].minNanos;
        return min - limitNanos < 0 ? min : limitNanos;
    }

    /// Returns whether memory ran out during a move. The next advance moves the rest.
    boolean hasPendingMoves() {
        return unmovedLevel > 0;
    }

    /// Sets the current tick, past empty slots only. Moves timers down from each slot whose span is
    /// entered.
    private void enter(long newTick) {
        long old = tick;
        tick = newTick;
        if (old >> LEVEL_SHIFT == newTick >> LEVEL_SHIFT) {
            return;
        }
        unmovedLevel = LEVELS - 1;
        moveDown();
    }

    private void moveDown() {
        for (; unmovedLevel > 0; unmovedLevel--) {
            empty(slotAt(unmovedLevel, tick));
        }
    }

    /// Moves the timers of an entered slot to a finer slot or the near queue. Ensures capacity
    /// before each move: if memory runs out, no timer is lost or duplicated.
    private void empty(int slot) {
        Slot timers = slots[slot];
        boolean lowest = slot < SLOTS;
        while (timers.size() > 0) {
            LoopTimer timer = timers.get(timers.size() - 1);
            if (lowest && tickOf(timer.deadlineNanos) <= tick) {
                near.ensureCapacity();
                remove(timer);
                near.insert(timer);
            } else { // From a higher level, or rescheduled.
                ensureCapacity(timer.deadlineNanos);
                remove(timer);
                insert(timer);
            }
        }
    }

    private int nextOccupiedSlot() {
        // The current slot of level 0 counts. Those above are empty: their timers have moved down.
        long ahead = occupied[0] & (-1L << (tick & SLOT_MASK));
        if (ahead != 0) {
            return Long.numberOfTrailingZeros(ahead);
        }
        for (int level = 1; level < LEVELS; level++) {
            ahead = occupied[level] & (-2L << (tick >> (level * LEVEL_SHIFT) & SLOT_MASK));
            if (ahead != 0) {
                return (level << LEVEL_SHIFT) | Long.numberOfTrailingZeros(ahead);
            }
        }
        return NONE;
    }

    /// Returns the tick at which a slot ahead begins.
    private long startOf(int slot) {
        int shift = (slot >> LEVEL_SHIFT) * LEVEL_SHIFT;
        long round = (tick >> shift) & ~SLOT_MASK;
        return (round | (slot & SLOT_MASK)) << shift;
    }

    private int slotFor(long timersTick) {
        int highestBit = 63 - Long.numberOfLeadingZeros((timersTick ^ tick) | SLOT_MASK);
        return slotAt(highestBit / LEVEL_SHIFT, timersTick);
    }

    private long tickOf(long nanos) {
        return (nanos - anchorNanos) >> TICK_SHIFT;
    }

    private static int slotAt(int level, long tick) {
        return (level << LEVEL_SHIFT) | ((int) (tick >> (level * LEVEL_SHIFT)) & SLOT_MASK);
    }

    /// The unordered timers of one slot: an array in which each timer stores its index. Removal
    /// moves the last timer into the gap.
    ///
    /// An array causes fewer cache misses than a linked list. Adding or removing a timer touches no
    /// neighbour, and a move of many timers benefits from prefetching.
    static final class Slot {
        /// An emptied slot drops a larger array: 512 slots could retain one each.
        private static final int MAX_RETAINED = 1_024;

        private static final int MIN_CAPACITY = 16;
        private static final @Nullable LoopTimer[] EMPTY = {};

        private @Nullable LoopTimer[] timers = EMPTY;
        private int size;

        /// A lower bound of the deadlines. The timer that set it may be gone or rescheduled.
        private long minNanos;

        int size() {
            return size;
        }

        int capacity() {
            return timers.length;
        }

        LoopTimer get(int index) {
            LoopTimer timer = timers[index];
            assert timer != null : "gap in a slot at " + index;
            return timer;
        }

        void ensureCapacity() {
            if (size == timers.length) {
                timers = Arrays.copyOf(timers, Math.max(MIN_CAPACITY, 2 * size));
            }
        }

        /// Allocates only if the slot was emptied and shrunk since [#ensureCapacity].
        void add(LoopTimer timer) {
            ensureCapacity();
            if (size == 0 || timer.deadlineNanos - minNanos < 0) {
                minNanos = timer.deadlineNanos;
            }
            timers[size] = timer;
            timer.index = size++;
        }

        void remove(LoopTimer timer) {
            int gap = timer.index;
            size--;
            if (gap != size) {
                LoopTimer last = get(size);
                timers[gap] = last;
                last.index = gap;
            }
            timers[size] = null;
            if (size == 0 && timers.length > MAX_RETAINED) {
                timers = EMPTY;
            }
        }
    }
}
