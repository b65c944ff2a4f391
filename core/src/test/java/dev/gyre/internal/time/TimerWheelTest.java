package dev.gyre.internal.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.internal.base.TestLoopContext;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/// The slots of timers: wrong slots would still fire on time, but at a higher cost.
class TimerWheelTest {
    private static final long TICK = 1L << TimerWheel.TICK_SHIFT;

    private final TimerQueue queue = new TimerQueue(new TestLoopContext(), 0);

    private LoopTimer timer(long deadline) {
        return queue.schedule(deadline, 0, timer -> {});
    }

    private int fire(long now) {
        queue.collectDue(now);
        int fired = 0;
        while (queue.pollDue(now) != null) {
            fired++;
        }
        return fired;
    }

    // ------------------------------------------------------------------ the wheel

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6})
    @Clause("T-5")
    void schedule_liesOnTheLevelOfTheHighestGroupThatDiffers(int level) {
        long stretch = TICK << (level * TimerWheel.LEVEL_SHIFT);
        for (int slot = 1; slot < TimerWheel.SLOTS; slot++) {
            assertThat(timer(slot * stretch).place).isEqualTo(level * TimerWheel.SLOTS + slot);
        }
    }

    @Test
    @Clause("T-5")
    void reschedule_toALaterOrTheSameDeadline_staysWhereItIs() {
        LoopTimer first = timer(10);
        LoopTimer second = timer(20);
        assertThat(first.place).isZero();
        queue.reschedule(first, 10);
        assertThat(first.index).as("neither moved nor swapped").isZero();
        queue.reschedule(second, 5 * TICK);
        assertThat(second.place).as("put off within its slot").isZero();
        queue.reschedule(second, 9);
        assertThat(fire(9)).as("earlier than all in its slot: moved").isEqualTo(1);
        assertThat(fire(10)).isEqualTo(1);
    }

    @Test
    @Clause("T-4")
    void cancel_ofTheOnlyTimerOfASlot_isNotWaitedFor() {
        LoopTimer timer = timer(5 * TICK);
        assertThat(queue.nearest(100 * TICK)).isEqualTo(5 * TICK);
        timer.cancel();
        assertThat(queue.nearest(100 * TICK)).isEqualTo(100 * TICK);
    }

    @Test
    @Clause("T-5")
    void advance_leavesTimersOfLaterSlotsInTheWheel() {
        LoopTimer far = timer(100 * TICK);
        LoopTimer farther = timer(200 * TICK);
        fire(50 * TICK);
        assertThat(far.place).isEqualTo(TimerWheel.SLOTS + 1);
        fire(70 * TICK);
        assertThat(far.place).as("moved down").isEqualTo(100 - TimerWheel.SLOTS);
        assertThat(farther.place).isEqualTo(TimerWheel.SLOTS + 3);
        assertThat(fire(100 * TICK)).isEqualTo(1);
    }

    // ------------------------------------------------------------------ memory

    @Test
    @Clause("T-5")
    void slot_afterABurst_keepsNoLargeArray() {
        for (boolean handedOver : new boolean[] {false, true}) {
            TimerWheel.Slot slot = new TimerWheel.Slot();
            List<LoopTimer> timers = new ArrayList<>();
            for (int i = 0; i < 1_025; i++) {
                LoopTimer timer = new LoopTimer(queue, i, 0, t -> {});
                timers.add(timer);
                slot.add(timer);
            }
            assertThat(slot.capacity()).isEqualTo(2_048);
            if (handedOver) {
                timers.reversed().forEach(slot::remove); // As the wheel empties it.
            } else {
                timers.forEach(slot::remove);
            }
            assertThat(slot.capacity()).isZero();
        }
    }

    @Test
    @Clause("T-5")
    void slot_ofASteadyLoad_keepsItsArray() {
        TimerWheel.Slot slot = new TimerWheel.Slot();
        for (int i = 0; i < 1_024; i++) {
            slot.add(new LoopTimer(queue, i, 0, t -> {}));
        }
        while (slot.size() > 0) {
            slot.remove(slot.get(slot.size() - 1));
        }
        assertThat(slot.capacity()).isEqualTo(1_024);
    }

    @Test
    @Clause("T-5")
    void dueTimers_afterABurst_keepNoLargeArray() {
        for (int burst : new int[] {1_024, 1_025}) {
            TimerQueue.DueList due = new TimerQueue.DueList();
            for (int i = 0; i < burst; i++) {
                due.add(new LoopTimer(queue, i, 0, t -> {}));
            }
            for (LoopTimer first = due.first(); first != null; first = due.first()) {
                due.remove(first);
            }
            assertThat(due.capacity()).isEqualTo(burst == 1_024 ? 1_024 : 16);
        }
    }

    // ------------------------------------------------------------------ the near queue

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    @Clause({"T-2", "T-4"})
    void nearQueue_withTimersTakenOutAnywhere_staysInOrder(long seed) {
        Random random = new Random(seed);
        NearQueue near = new NearQueue();
        List<LoopTimer> model = new ArrayList<>();
        for (int step = 0; step < 2_000; step++) {
            if (model.size() < 40 || random.nextBoolean()) {
                LoopTimer timer = new LoopTimer(queue, random.nextInt(1_000), 0, t -> {});
                timer.sequence = step;
                near.insert(timer);
                model.add(timer);
            } else {
                LoopTimer removed = model.remove(random.nextInt(model.size()));
                near.remove(removed);
                assertThat(removed.place).isEqualTo(LoopTimer.UNSCHEDULED);
            }
        }
        model.sort(
                Comparator.<LoopTimer>comparingLong(timer -> timer.deadlineNanos)
                        .thenComparingLong(timer -> timer.sequence));
        for (LoopTimer expected : model) {
            assertThat(near.first()).isSameAs(expected);
            near.remove(expected);
        }
        assertThat(near.first()).isNull();
    }

    // ------------------------------------------------------------------ durations

    @Test
    @Clause("T-1")
    void saturatedNanos_beyondHalfTheRange_countsAsThatLong() {
        Duration longest = Duration.ofNanos(Long.MAX_VALUE / 2);
        assertThat(Durations.saturatedNanos("wait", Duration.ofSeconds(Long.MAX_VALUE)))
                .isEqualTo(Long.MAX_VALUE / 2);
        assertThat(Durations.saturatedNanos("wait", longest.plusNanos(1)))
                .isEqualTo(Long.MAX_VALUE / 2);
        assertThat(Durations.saturatedNanos("wait", longest.minusNanos(1)))
                .isEqualTo(Long.MAX_VALUE / 2 - 1);
        assertThatThrownBy(() -> Durations.saturatedNanos("wait", Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("wait");
    }

    @Test
    @Clause("T-1")
    void requireWithinReach_acceptsWhatCanBeComparedAndNothingElse() {
        Durations.requireComparable("deadline", 5, 5);
        Durations.requireComparable("deadline", 6, 5);
        Durations.requireComparable("deadline", 4, 5);
        Durations.requireComparable("deadline", Long.MAX_VALUE, 0);
        Durations.requireComparable("deadline", Long.MIN_VALUE + 1, 0);
        Durations.requireComparable("deadline", Long.MIN_VALUE, Long.MIN_VALUE);
        assertThatThrownBy(() -> Durations.requireComparable("deadline", Long.MAX_VALUE, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("deadline");
        assertThatThrownBy(() -> Durations.requireComparable("deadline", Long.MIN_VALUE, 1))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
