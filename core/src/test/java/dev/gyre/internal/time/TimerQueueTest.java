package dev.gyre.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

class TimerQueueTest {
    private final TimerQueue queue = new TimerQueue(method -> {});

    /// The model: a list that is sorted when asked.
    private record Model(LoopTimer timer, long deadline, int order) {}

    @Property(tries = 1_000)
    @Clause({"T-2", "T-4"})
    void queue_againstASortedList_firesTheSameInTheSameOrder(
            @ForAll @Size(max = 80) List<@IntRange(max = 999) Integer> program,
            @ForAll long start) {
        TimerQueue tested = new TimerQueue(method -> {});
        List<Model> model = new ArrayList<>();
        long now = start;
        int order = 0;
        for (int step : program) {
            switch (step % 4) {
                case 0, 1 -> {
                    long deadline = now + step / 20;
                    model.add(new Model(tested.schedule(deadline, 0, t -> {}), deadline, order++));
                }
                case 2 -> {
                    if (!model.isEmpty()) {
                        Model cancelled = model.remove(step % model.size());
                        assertThat(cancelled.timer().cancel()).isTrue();
                        assertThat(cancelled.timer().cancel()).isFalse();
                    }
                }
                default -> {
                    now += step / 10;
                    assertThat(fire(tested, now)).isEqualTo(due(model, now));
                }
            }
            assertThat(tested.size()).isEqualTo(model.size());
            assertThat(tested.referenced()).isEqualTo(model.size());
        }
    }

    private static List<LoopTimer> fire(TimerQueue queue, long now) {
        List<LoopTimer> fired = new ArrayList<>();
        queue.collectDue(now);
        for (LoopTimer timer = queue.takeDue(now); timer != null; timer = queue.takeDue(now)) {
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
        for (LoopTimer timer = queue.takeDue(now); timer != null; timer = queue.takeDue(now)) {
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
    @Clause("T-3")
    void oneShot_inItsOwnCallback_isNoLongerScheduled() {
        queue.schedule(1, 0, t -> assertThat(t.isScheduled()).isFalse());
        queue.collectDue(1);
        run(1);
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
