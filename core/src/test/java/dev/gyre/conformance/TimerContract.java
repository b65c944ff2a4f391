package dev.gyre.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.Timer;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// Chapter T. Deadlines are near, since on a real kernel somebody waits for them.
public abstract class TimerContract extends ConformanceFixture {
    private final List<Long> deadlines = new ArrayList<>();
    private int early;

    /// A callback that notes for when it was, and that it is not too early.
    private void fired(Timer timer) {
        deadlines.add(timer.firedDeadlineNanos());
        if (loop.nanoTime() - timer.firedDeadlineNanos() < 0) {
            early++;
        }
    }

    @Test
    @Clause("T-1")
    void delay_thatMakesNoDeadline_isRefusedByItsName() {
        assertThatThrownBy(() -> loop.after(Duration.ofNanos(-5), this::fired))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-5 ns");
        assertThatThrownBy(() -> loop.after(Duration.ofDays(200_000), this::fired))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("delay");
        long now = loop.nowNanos();
        Timer timer = loop.at(now + 5_000_000, this::fired);
        assertThat(timer.deadlineNanos()).isEqualTo(now + 5_000_000);
    }

    @Test
    @Clause({"T-2", "T-5", "T-6"})
    void timers_ofManyDeadlines_fireInOrderAndNeverEarly() {
        Random random = new Random(7);
        long now = loop.nowNanos();
        List<Long> expected = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            long deadline = now + random.nextInt(5_000_000);
            expected.add(deadline);
            loop.at(deadline, this::fired);
        }
        expected.sort(null);
        loop.runUntilEmpty();
        assertThat(deadlines).isEqualTo(expected);
        assertThat(early).isZero();
    }

    @Test
    @Clause("T-2")
    void timers_ofOneDeadline_fireInTheOrderOfScheduling_andNewOnesInALaterTick() {
        long deadline = loop.nowNanos() + 500_000;
        List<Long> ticks = new ArrayList<>();
        for (String word : List.of("first", "second", "third")) {
            loop.at(
                    deadline,
                    timer -> {
                        log.add(word);
                        ticks.add(loop.metrics().ticks());
                        loop.after(
                                Duration.ZERO,
                                next -> {
                                    log.add(word + " again");
                                    ticks.add(loop.metrics().ticks());
                                });
                    });
        }
        loop.runUntilEmpty();
        assertThat(log)
                .containsExactly(
                        "first", "second", "third", "first again", "second again", "third again");
        assertThat(ticks.get(3)).isGreaterThan(ticks.get(2));
    }

    @Test
    @Clause("T-3")
    void oneShot_firesOnce_andARepeatingOneKeepsToItsMultiples() {
        Timer once = loop.after(Duration.ofNanos(100_000), this::fired);
        loop.runUntilEmpty();
        assertThat(once.isScheduled()).isFalse();
        deadlines.clear();
        long period = 300_000;
        Timer[] every = new Timer[1];
        every[0] =
                loop.every(
                        Duration.ofNanos(period),
                        timer -> {
                            fired(timer);
                            if (deadlines.size() == 3) {
                                world().pass(loop, Duration.ofNanos(4 * period));
                            }
                            if (deadlines.size() == 6) {
                                assertThat(timer.cancel()).isTrue();
                            }
                        });
        long first = every[0].deadlineNanos();
        loop.runUntilEmpty();
        assertThat(deadlines).hasSize(6).isSorted();
        assertThat(deadlines).allMatch(deadline -> (deadline - first) % period == 0);
        assertThat(deadlines.get(3) - deadlines.get(2))
                .as("missed ones fire once together")
                .isGreaterThanOrEqualTo(period);
        assertThat(early).isZero();
        assertThat(loop.metrics().failures()).isZero();
    }

    @Test
    @Clause("T-4")
    void cancel_fromAPeerOfTheSameTick_works_andSoDoesReschedule() {
        Timer[] victim = new Timer[1];
        long deadline = loop.nowNanos() + 200_000;
        loop.at(
                deadline,
                timer -> {
                    log.add("culprit");
                    log.add("cancelled " + victim[0].cancel());
                    log.add("again " + victim[0].cancel());
                });
        victim[0] = loop.at(deadline, timer -> log.add("victim"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("culprit", "cancelled true", "again false");
        victim[0].reschedule(Duration.ofNanos(100_000));
        loop.runUntilEmpty();
        assertThat(log).endsWith("victim");
    }

    @Test
    @Clause("T-6")
    void wait_forATimer_isOneWaitAndNoSpin() {
        loop.after(Duration.ofMillis(3), this::fired);
        long looks = loop.metrics().polls() + loop.metrics().sleeps();
        loop.runUntilEmpty();
        assertThat(early).isZero();
        assertThat(loop.metrics().polls() + loop.metrics().sleeps() - looks)
                .as("looks at the kernel: it has to be told the deadline")
                .isLessThan(20);
    }

    @Test
    @Clause("T-7")
    void lateLoop_firesAllThatIsDue_inOrder_andKeepsTheirDeadlines() {
        long now = loop.nowNanos();
        List<Long> expected = new ArrayList<>();
        for (int i = 50; i > 0; i--) {
            loop.at(now + i * 10_000L, this::fired);
            expected.addFirst(now + i * 10_000L);
        }
        loop.submit(() -> world().pass(loop, Duration.ofMillis(2)));
        loop.runUntilEmpty();
        assertThat(deadlines).isEqualTo(expected);
    }
}
