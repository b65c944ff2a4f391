package dev.gyre.internal.time;

import org.jspecify.annotations.Nullable;

/// The far timers: a hierarchical wheel that is coarse and does not order what lies in one slot.
///
/// Time is cut into ticks of 2²⁰ ns, about a millisecond. Level 0 has a slot for each of 64 ticks, level 1
/// for each of 64 stretches of 64 ticks, and so on; eight levels cover every deadline a long can hold. A
/// timer lies on the level of the highest group of six bits in which its tick differs from the wheel's
/// own. So everything on level 0 comes before everything on level 1, and the next occupied slot is found
/// from one bit map a level, however far away it is.
///
/// ```
///   wheel's tick   … 000001 000010 000011
///   timer's tick   … 000001 000010 010000   differs in group 0: level 0, slot 16
///                  … 000001 001111 101010   differs in group 1: level 1, slot 15
/// ```
///
/// The wheel fires nothing. When its time reaches a slot of level 0, the slot's timers go to the exact
/// [NearQueue]; when it enters the stretch of a slot on a higher level, they move down to finer slots. A
/// timer that is cancelled before that has cost one linking and one unlinking, whatever the count.
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
    private final @Nullable LoopTimer[] first = new @Nullable LoopTimer[LEVELS * SLOTS];
    private final @Nullable LoopTimer[] last = new @Nullable LoopTimer[LEVELS * SLOTS];

    /// No timer of the slot is earlier; the one that was this early may be gone.
    private final long[] leastNanos = new long[LEVELS * SLOTS];

    private final long[] occupied = new long[LEVELS];

    /// Timers of earlier ticks are in the near queue.
    private long tick;

    private int size;

    /// @param near where timers go when their time has come
    /// @param anchorNanos the instant at which ticks begin
    TimerWheel(NearQueue near, long anchorNanos) {
        this.near = near;
        this.anchorNanos = anchorNanos;
    }

    int size() {
        return size;
    }

    /// Takes the timer in, or declines it because it is so near that its order matters now.
    boolean tryInsert(LoopTimer timer) {
        long sinceAnchor = timer.deadlineNanos - anchorNanos;
        long timersTick = sinceAnchor >> TICK_SHIFT;
        if (timersTick < tick) {
            return false;
        }
        link(timer, timersTick);
        return true;
    }

    void remove(LoopTimer timer) {
        int slot = LoopTimer.slotOf(timer.place);
        LoopTimer previous = timer.previous;
        LoopTimer next = timer.next;
        if (previous == null) {
            first[slot] = next;
        } else {
            previous.next = next;
        }
        if (next == null) {
            last[slot] = previous;
            if (previous == null) {
                occupied[slot >> LEVEL_SHIFT] &= ~(1L << (slot & SLOT_MASK));
            }
        } else {
            next.previous = previous;
        }
        timer.previous = null;
        timer.next = null;
        timer.place = LoopTimer.NOWHERE;
        size--;
    }

    /// Hands over all timers whose tick has begun, and perhaps some of the same tick that are later.
    void advance(long nowNanos) {
        advanceTo((nowNanos - anchorNanos) >> TICK_SHIFT);
    }

    /// The nearest deadline, or somewhat before it if a timer that was nearer has been cancelled. Always
    /// ahead of the instant last advanced to.
    ///
    /// @return the instant, or `otherwise` if that is earlier or there is none
    long nearest(long otherwise) {
        int slot = nextOccupiedSlot();
        return slot != NONE && leastNanos[slot] - otherwise < 0 ? leastNanos[slot] : otherwise;
    }

    private void advanceTo(long target) {
        for (int slot = nextOccupiedSlot(); slot != NONE; slot = nextOccupiedSlot()) {
            long start = startOf(slot);
            if (start > target) {
                break;
            }
            enter(start);
            if (slot < SLOTS) {
                for (LoopTimer timer = first[slot]; timer != null; timer = first[slot]) {
                    remove(timer);
                    near.insert(timer);
                }
                enter(start + 1);
            }
        }
        if (tick <= target) {
            enter(target + 1);
        }
    }

    /// Moves the wheel's time, past empty slots only, and moves timers down from each slot whose stretch it
    /// thereby enters.
    private void enter(long newTick) {
        long old = tick;
        tick = newTick;
        if (old >> LEVEL_SHIFT == newTick >> LEVEL_SHIFT) {
            return;
        }
        for (int level = LEVELS - 1; level > 0; level--) {
            int slot = slotAt(level, newTick);
            for (LoopTimer timer = first[slot]; timer != null; timer = first[slot]) {
                remove(timer);
                link(timer, (timer.deadlineNanos - anchorNanos) >> TICK_SHIFT);
            }
        }
    }

    private int nextOccupiedSlot() {
        // The current slot of level 0 counts; those above are empty, their timers having moved
        // down.
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

    /// The tick at which a slot ahead begins.
    private long startOf(int slot) {
        int shift = (slot >> LEVEL_SHIFT) * LEVEL_SHIFT;
        long turn = (tick >> shift) & ~SLOT_MASK;
        return (turn | (slot & SLOT_MASK)) << shift;
    }

    private void link(LoopTimer timer, long timersTick) {
        int highestBit = 63 - Long.numberOfLeadingZeros((timersTick ^ tick) | SLOT_MASK);
        int slot = slotAt(highestBit / LEVEL_SHIFT, timersTick);
        LoopTimer previous = last[slot];
        timer.previous = previous;
        if (previous == null) {
            first[slot] = timer;
            leastNanos[slot] = timer.deadlineNanos;
            occupied[slot >> LEVEL_SHIFT] |= 1L << (slot & SLOT_MASK);
        } else {
            previous.next = timer;
            if (timer.deadlineNanos - leastNanos[slot] < 0) {
                leastNanos[slot] = timer.deadlineNanos;
            }
        }
        last[slot] = timer;
        timer.place = LoopTimer.placeOf(slot);
        size++;
    }

    private static int slotAt(int level, long tick) {
        return (level << LEVEL_SHIFT) | ((int) (tick >> (level * LEVEL_SHIFT)) & SLOT_MASK);
    }
}
