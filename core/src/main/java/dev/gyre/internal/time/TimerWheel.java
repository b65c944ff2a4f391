package dev.gyre.internal.time;

import java.util.Arrays;

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
    private final TimerSlot[] slots = new TimerSlot[LEVELS * SLOTS];
    private final long[] occupied = new long[LEVELS];

    /// Timers of earlier ticks are in the near queue.
    private long tick;

    /// The highest level with timers still to move out of slots that the wheel has entered; 0 if
    /// none. Positive between calls only after memory ran out during a move.
    private int unmovedLevel;

    /// @param near where timers go when their time has come
    /// @param anchorNanos the instant at which ticks begin
    TimerWheel(NearQueue near, long anchorNanos) {
        this.near = near;
        this.anchorNanos = anchorNanos;
        Arrays.setAll(slots, _ -> new TimerSlot());
    }

    /// Whether the wheel accepts a timer of that deadline. It rejects deadlines so near that their
    /// order matters now.
    boolean accepts(long deadlineNanos) {
        return tickOf(deadlineNanos) >= tick;
    }

    /// Ensures that a timer of that deadline can be inserted without an allocation. The wheel must
    /// [#accepts] it.
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

    /// Whether a timer may stay where it is although its deadline becomes another: if it is in a slot,
    /// and that slot comes up in time.
    boolean canStay(LoopTimer timer, long deadlineNanos) {
        return timer.place >= 0 && deadlineNanos - slots[timer.place].minNanos >= 0;
    }

    void remove(LoopTimer timer) {
        TimerSlot slot = slots[timer.place];
        slot.remove(timer);
        if (slot.size() == 0) {
            clearOccupied(timer.place);
        }
        timer.place = LoopTimer.UNSCHEDULED;
    }

    /// Hands over all timers whose tick has begun, and perhaps some of the same tick that are later.
    void advance(long nowNanos) {
        advanceTo(tickOf(nowNanos));
    }

    /// The nearest deadline, or somewhat before it if a timer that was nearer has been cancelled. Always
    /// ahead of the instant last advanced to.
    ///
    /// @return the instant, or `otherwise` if that is earlier or there is none
    long nearest(long otherwise) {
        if (hasPendingMoves()) {
            long now = anchorNanos + (tick << TICK_SHIFT);
            return now - otherwise < 0 ? now : otherwise;
        }
        int slot = nextOccupiedSlot();
        if (slot == NONE) {
            return otherwise;
        }
        long least = slots[slot].minNanos;
        return least - otherwise < 0 ? least : otherwise;
    }

    /// Whether memory ran out while timers were moved. The next advance moves the rest.
    boolean hasPendingMoves() {
        return unmovedLevel > 0;
    }

    private void advanceTo(long target) {
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

    /// Moves the wheel's time, past empty slots only, and moves timers down from each slot whose stretch it
    /// thereby enters.
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

    /// Moves the timers of a slot that the wheel has entered to their next place. Ensures capacity
    /// before each move: if memory runs out, no timer is lost or duplicated.
    private void empty(int slot) {
        TimerSlot timers = slots[slot];
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

    private int slotFor(long timersTick) {
        int highestBit = 63 - Long.numberOfLeadingZeros((timersTick ^ tick) | SLOT_MASK);
        return slotAt(highestBit / LEVEL_SHIFT, timersTick);
    }

    private void clearOccupied(int slot) {
        occupied[slot >> LEVEL_SHIFT] &= ~(1L << (slot & SLOT_MASK));
    }

    private long tickOf(long nanos) {
        return (nanos - anchorNanos) >> TICK_SHIFT;
    }

    private static int slotAt(int level, long tick) {
        return (level << LEVEL_SHIFT) | ((int) (tick >> (level * LEVEL_SHIFT)) & SLOT_MASK);
    }
}
