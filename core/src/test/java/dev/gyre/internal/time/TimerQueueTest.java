package dev.gyre.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.internal.base.TestLoopContext;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

class TimerQueueTest {
    private final TimerQueue queue = new TimerQueue(new TestLoopContext(), 0);

    /// The model: a list, sorted on demand.
    private record Model(LoopTimer timer, long deadline, int order) {}

    /// Runs programs of schedule, cancel, reschedule, query and advance. Delays and jumps range
    /// from a nanosecond to a century, to reach every level and boundary of the wheel.
    @Property(tries = 10_000)
    @Clause({"T-2", "T-4", "T-5", "T-7"})
    void queue_againstASortedList_firesTheSameInTheSameOrder(
            @ForAll long seed, @ForAll @IntRange(min = 1, max = 120) int steps) {
        Random random = new Random(seed);
        long now = random.nextLong();
        TimerQueue tested = new TimerQueue(new TestLoopContext(), now);
        tested.collectDue(now);
        List<Model> model = new ArrayList<>();
        int order = 0;
        for (int step = 0; step < steps; step++) {
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> {
                    long deadline = now + anySize(random);
                    model.add(new Model(tested.schedule(deadline, 0, t -> {}), deadline, order++));
                }
                case 3 -> {
                    if (!model.isEmpty()) {
                        Model cancelled = model.remove(random.nextInt(model.size()));
                        assertThat(cancelled.timer().cancel()).isTrue();
                        assertThat(cancelled.timer().cancel()).isFalse();
                    }
                }
                case 4 -> {
                    if (!model.isEmpty()) {
                        Model moved = model.remove(random.nextInt(model.size()));
                        long deadline = now + anySize(random);
                        tested.reschedule(moved.timer(), deadline);
                        model.add(new Model(moved.timer(), deadline, order++));
                    }
                }
                case 5 -> assertNearest(tested, model, now);
                default -> {
                    now += anySize(random);
                    assertThat(fire(tested, now)).isEqualTo(due(model, now));
                }
            }
            assertThat(tested.size()).isEqualTo(model.size());
            assertThat(tested.referenced()).isEqualTo(model.size());
        }
        // Advances to the end as a loop does: from one reported instant to the next.
        for (int waits = 0; !model.isEmpty(); waits++) {
            assertThat(waits).as("waits without an end").isLessThan(steps * 12);
            now = assertNearest(tested, model, now);
            assertThat(fire(tested, now)).isEqualTo(due(model, now));
        }
    }

    private static long anySize(Random random) {
        return random.nextLong() >>> (5 + random.nextInt(59));
    }

    /// Checks that the instant is not after the nearest deadline, and not in the past forever.
    private static long assertNearest(TimerQueue queue, List<Model> model, long now) {
        long limit = now + (Long.MAX_VALUE >>> 1);
        long reported = queue.nearest(limit) - now;
        long nearest = limit - now;
        for (Model timer : model) {
            nearest = Math.min(nearest, timer.deadline() - now);
        }
        assertThat(reported).isLessThanOrEqualTo(nearest);
        assertThat(reported > 0 || nearest <= 0).as("in the future, or a timer is due").isTrue();
        return now + Math.max(0, reported);
    }

    private static List<LoopTimer> fire(TimerQueue queue, long now) {
        List<LoopTimer> fired = new ArrayList<>();
        queue.collectDue(now);
        for (LoopTimer timer = queue.pollDue(now); timer != null; timer = queue.pollDue(now)) {
            fired.add(timer);
        }
        return fired;
    }

    private static List<LoopTimer> due(List<Model> model, long now) {
        List<Model> due = new ArrayList<>();
        for (Model timer : model) {
            if (timer.deadline() - now <= 0) {
                due.add(timer);
            }
        }
        model.removeAll(due);
        due.sort(
                Comparator.<Model>comparingLong(timer -> timer.deadline() - now)
                        .thenComparingInt(Model::order));
        return due.stream().map(Model::timer).toList();
    }

    @Example
    @Clause("T-2")
    void schedule_fromATimer_waitsForALaterTickHoweverEarly() {
        List<String> log = new ArrayList<>();
        queue.schedule(
                10,
                0,
                t -> {
                    log.add("first");
                    queue.schedule(-5, 0, u -> log.add("new"));
                });
        queue.schedule(10, 0, t -> log.add("second"));
        queue.collectDue(10);
        run(10);
        assertThat(log).containsExactly("first", "second");
        queue.collectDue(10);
        run(10);
        assertThat(log).containsExactly("first", "second", "new");
    }

    private void run(long now) {
        for (LoopTimer timer = queue.pollDue(now); timer != null; timer = queue.pollDue(now)) {
            timer.fire();
        }
    }

    @Example
    @Clause("T-4")
    void cancel_fromAPeerOfTheSameTick_doesNotFire() {
        List<String> log = new ArrayList<>();
        LoopTimer[] second = new LoopTimer[1];
        queue.schedule(1, 0, t -> second[0].cancel());
        second[0] = queue.schedule(2, 0, t -> log.add("cancelled"));
        queue.schedule(3, 0, t -> log.add("third"));
        queue.collectDue(5);
        run(5);
        assertThat(log).containsExactly("third");
        assertThat(queue.size()).isZero();
        assertThat(queue.referenced()).isZero();
    }

    @Example
    @Clause("T-3")
    void repeating_keepsToItsScheduleAndFiresMissedPeriodsOnce() {
        List<Long> fired = new ArrayList<>();
        LoopTimer timer = queue.schedule(100, 100, t -> fired.add(t.firedDeadlineNanos()));
        for (long now : new long[] {100, 250, 300, 1_050, 1_099, 1_100}) {
            queue.collectDue(now);
            run(now);
        }
        assertThat(fired).containsExactly(100L, 200L, 300L, 400L, 1_100L);
        assertThat(timer.deadlineNanos()).isEqualTo(1_200);
        assertThat(timer.isScheduled()).isTrue();
        assertThat(timer.cancel()).isTrue();
        assertThat(queue.size()).isZero();
    }

    @Example
    @Clause("T-3")
    void repeating_cancelledInItsOwnCallback_isGone() {
        queue.schedule(1, 1, t -> assertThat(t.cancel()).isTrue());
        queue.collectDue(1);
        run(1);
        assertThat(queue.size()).isZero();
    }

    @Example
    @Clause({"T-5", "T-2"})
    void boundaries_ofEveryLevel_fireNeitherEarlyNorLate() {
        for (int shift = TimerWheel.TICK_SHIFT; shift < 62; shift += TimerWheel.LEVEL_SHIFT) {
            for (long offset = -1; offset <= 1; offset++) {
                TimerQueue tested = new TimerQueue(new TestLoopContext(), 0);
                tested.collectDue(0);
                long deadline = (1L << shift) + offset;
                LoopTimer timer = tested.schedule(deadline, 0, t -> {});
                assertThat(fire(tested, deadline - 1)).as("2^%d%+d", shift, offset).isEmpty();
                assertThat(tested.nearest(Long.MAX_VALUE)).isEqualTo(deadline);
                assertThat(fire(tested, deadline)).containsExactly(timer);
            }
        }
    }

    @Example
    @Clause("T-4")
    void cancel_insideCallbacks_ofItselfAndOfAllOthers_isEffective() {
        List<String> log = new ArrayList<>();
        List<LoopTimer> timers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            long deadline = i < 5 ? 7 : 7 + (1L << (20 + 4 * i));
            timers.add(
                    queue.schedule(
                            deadline,
                            0,
                            self -> {
                                log.add("fired");
                                assertThat(self.cancel()).as("it has fired").isFalse();
                                timers.forEach(LoopTimer::cancel);
                            }));
        }
        queue.collectDue(Long.MAX_VALUE >> 1);
        run(Long.MAX_VALUE >> 1);
        assertThat(log).containsExactly("fired");
        assertThat(queue.size()).isZero();
        assertThat(queue.referenced()).isZero();
    }

    @Example
    @Clause("T-3")
    void oneShot_inItsOwnCallback_isNoLongerScheduled() {
        queue.schedule(1, 0, t -> assertThat(t.isScheduled()).isFalse());
        queue.collectDue(1);
        run(1);
    }

    @Example
    @Clause("T-4")
    void reschedule_fromAPeerOfTheSameTick_firesLater() {
        List<String> log = new ArrayList<>();
        LoopTimer[] second = new LoopTimer[1];
        queue.schedule(1, 0, t -> queue.reschedule(second[0], 100));
        second[0] = queue.schedule(2, 0, t -> log.add("second"));
        queue.collectDue(5);
        run(5);
        assertThat(log).isEmpty();
        queue.collectDue(100);
        run(100);
        assertThat(log).containsExactly("second");
    }

    @Example
    @Clause("T-5")
    void aMillionTimers_fireInOrderAfterAnyJump() {
        Random random = new Random(1);
        for (int i = 0; i < 1_000_000; i++) {
            queue.schedule(anySize(random), 0, t -> {});
        }
        assertThat(queue.size()).isEqualTo(1_000_000);
        queue.collectDue(Long.MAX_VALUE);
        long last = Long.MIN_VALUE;
        int fired = 0;
        for (LoopTimer timer = queue.pollDue(0); timer != null; timer = queue.pollDue(0)) {
            assertThat(timer.firedDeadlineNanos()).isGreaterThanOrEqualTo(last);
            last = timer.firedDeadlineNanos();
            fired++;
        }
        assertThat(fired).isEqualTo(1_000_000);
        assertThat(queue.size()).isZero();
    }

    @Example
    @Clause("T-6")
    void nearest_isTheEarliestDeadlineOrTheLimit() {
        assertThat(queue.nearest(500)).isEqualTo(500);
        queue.schedule(300, 0, t -> {});
        queue.schedule(400, 0, t -> {});
        assertThat(queue.nearest(500)).isEqualTo(300);
        assertThat(queue.nearest(200)).isEqualTo(200);
    }
}
