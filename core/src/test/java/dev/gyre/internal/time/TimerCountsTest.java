package dev.gyre.internal.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Cancellation;
import dev.gyre.CancellationSource;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Timer;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.base.LoopContext;
import dev.gyre.internal.base.TestLoopContext;
import dev.gyre.internal.loop.Loop;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The counts of the queue: a timer that only seems unscheduled would keep a loop alive.
class TimerCountsTest {
    private static final long SECOND = 1_000_000_000L;

    private final List<String> log = new ArrayList<>();
    private final Loop loop = Loop.open(LoopConfig.DEFAULT, new ScriptedBackend());
    private final CancellationSource source = new CancellationSource();
    private final Cancellation cancellation = source.cancellation();

    /// A context with a real loop that logs its checks.
    private final LoopContext host =
            new TestLoopContext() {
                @Override
                public void requireConfined(String method) {
                    log.add("confined " + method);
                }

                @Override
                public void requireOpen(String method) {
                    log.add("open " + method);
                }

                @Override
                public EventLoop loop() {
                    return loop;
                }
            };

    private final TimerQueue queue = new TimerQueue(host, 0);

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    private LoopTimer timer(long deadline, String name) {
        return queue.schedule(deadline, 0, timer -> log.add(name));
    }

    /// Fires due timers and returns the log.
    private List<String> fireAll(long now) {
        log.clear();
        queue.collectDue(now);
        for (LoopTimer due = queue.pollDue(now); due != null; due = queue.pollDue(now)) {
            due.fire();
        }
        return log;
    }

    // ------------------------------------------------------------------ references

    @Test
    @Clause("L-8")
    void unreferenced_overRepeatRescheduleAndCancel_isCountedOnce() {
        LoopTimer repeating = queue.schedule(10, 10, timer -> {});
        LoopTimer kept = timer(SECOND, "kept");
        assertThat(queue.referenced()).isEqualTo(2);
        assertThat(repeating.unreference()).isSameAs(repeating);
        repeating.unreference();
        assertThat(queue.referenced()).isEqualTo(1);
        for (long now = 10; now <= 50; now += 10) {
            fireAll(now);
            assertThat(queue.referenced()).as("after the period of %d", now).isEqualTo(1);
            assertThat(queue.size()).isEqualTo(2);
        }
        queue.reschedule(repeating, 3 * SECOND); // Elsewhere.
        queue.reschedule(repeating, 3 * SECOND + 1); // Kept where it is.
        assertThat(queue.referenced()).isEqualTo(1);
        kept.cancel();
        assertThat(queue.referenced()).isZero();
        assertThat(queue.size()).isEqualTo(1);
        repeating.cancel();
        assertThat(queue.referenced()).isZero();
        assertThat(queue.size()).isZero();
    }

    @Test
    @Clause("L-8")
    void reference_ofATimerThatIsNotScheduled_countsFromItsNextSchedule() {
        LoopTimer timer = timer(10, "timer");
        timer.unreference();
        fireAll(10);
        assertThat(queue.referenced()).isZero();
        timer.reference();
        timer.unreference();
        assertThat(queue.referenced()).as("neither counts now").isZero();
        queue.reschedule(timer, 20);
        assertThat(queue.referenced()).isZero();
        assertThat(timer.reference()).isSameAs(timer);
        assertThat(queue.referenced()).isEqualTo(1);
        timer.cancel();
        assertThat(queue.referenced()).isZero();
    }

    // ------------------------------------------------------------------ order

    @Test
    @Clause("T-2")
    void equalDeadlines_afterReschedule_fireInTheOrderOfTheirLastScheduling() {
        LoopTimer first = timer(SECOND, "first");
        timer(SECOND, "second");
        queue.reschedule(first, SECOND);
        timer(SECOND, "third");
        timer(SECOND, "fourth");
        queue.reschedule(first, SECOND);
        timer(SECOND, "fifth");
        assertThat(fireAll(SECOND)).containsExactly("second", "third", "fourth", "first", "fifth");
    }

    @Test
    @Clause("T-2")
    void equalDeadlines_ofNearTimersAfterReschedule_fireInTheOrderOfTheirLastScheduling() {
        fireAll(SECOND);
        LoopTimer first = timer(SECOND, "first");
        timer(SECOND, "second");
        queue.reschedule(first, SECOND);
        timer(SECOND, "third");
        assertThat(first.place).isEqualTo(LoopTimer.NEAR);
        assertThat(fireAll(SECOND)).containsExactly("second", "first", "third");
    }

    // ------------------------------------------------------------------ threads

    @Test
    @Clause("T-1")
    void methods_askWhetherTheCallerMay() {
        LoopTimer timer = timer(10, "timer");
        timer.isScheduled();
        timer.unreference();
        timer.reference();
        timer.cancelOn(cancellation);
        assertThat(timer.reschedule(Duration.ofSeconds(1))).isSameAs(timer);
        timer.cancel();
        assertThat(log)
                .containsExactly(
                        "confined isScheduled",
                        "confined unreference",
                        "confined reference",
                        "confined cancelOn",
                        "open reschedule",
                        "confined cancel");
    }

    // ------------------------------------------------------------------ cancellations

    @Test
    @Clause({"P-5", "T-4"})
    void cancel_onTheLoopThread_takesTheTimerOutOfTheQueueAtOnce() {
        timer(SECOND, "never").cancelOn(cancellation);
        loop.submit(
                () -> {
                    source.cancel();
                    log.add("left " + queue.size());
                });
        loop.runUntilEmpty();
        assertThat(log).last().isEqualTo("left 0");
        assertThat(loop.metrics().priorityTasks()).as("nothing handed over").isZero();
    }

    @Test
    @Clause({"P-5", "T-4"})
    void cancel_onAForeignThread_leavesItToTheLoopToTakeTheTimerOut() {
        LoopTimer timer = timer(SECOND, "never");
        timer.cancelOn(cancellation);
        source.cancel();
        assertThat(timer.isScheduled()).isFalse();
        assertThat(queue.size()).as("the queue is the loop thread's").isEqualTo(1);
        loop.runUntilEmpty();
        assertThat(queue.size()).isZero();
        assertThat(loop.metrics().priorityTasks()).isEqualTo(1);
    }

    @Test
    @Clause({"P-5", "T-4"})
    void cancel_ofABoundTimer_isTrueUnlessItWasCancelledBefore() {
        LoopTimer own = timer(SECOND, "own");
        own.cancelOn(cancellation);
        assertThat(own.cancel()).isTrue();
        assertThat(own.cancel()).isFalse();
        LoopTimer others = timer(SECOND, "others");
        others.cancelOn(cancellation);
        source.cancel(); // Not on the loop thread: it is in the queue still.
        assertThat(queue.size()).isEqualTo(1);
        assertThat(others.cancel()).isFalse();
        assertThat(queue.size()).isZero();
    }

    @Test
    @Clause({"P-5", "T-5"})
    void reschedule_ofACancelledTimer_takesItOutOfTheQueue() {
        LoopTimer timer = timer(SECOND, "never");
        timer.cancelOn(cancellation);
        source.cancel();
        assertThat(timer.reschedule(Duration.ofSeconds(2))).isSameAs(timer);
        assertThat(queue.size()).isZero();
    }

    @Test
    @Clause({"P-5", "T-5"})
    void reschedule_ofAFiredTimer_listensAgain() {
        LoopTimer timer = timer(10, "fired");
        timer.cancelOn(cancellation);
        assertThat(fireAll(10)).containsExactly("fired");
        timer.reschedule(Duration.ofSeconds(1));
        assertThat(queue.size()).isEqualTo(1);
        source.cancel();
        loop.runUntilEmpty();
        assertThat(queue.size()).isZero();
    }

    @Test
    @Clause("P-5")
    void cancelOn_aSecondCancellation_takesTheTimerOutByEither() {
        for (int which = 0; which < 2; which++) {
            CancellationSource[] sources = {new CancellationSource(), new CancellationSource()};
            Timer timer = timer(SECOND, "never");
            timer.cancelOn(sources[0].cancellation()).cancelOn(sources[1].cancellation());
            sources[which].cancel();
            loop.runUntilEmpty();
            assertThat(queue.size()).as("by source %d", which).isZero();
        }
    }

    @Test
    @Clause("P-5")
    void cancelOn_none_returnsTheTimerAndBindsNothing() {
        LoopTimer timer = timer(10, "fired");
        assertThat(timer.cancelOn(Cancellation.none())).isSameAs(timer);
        assertThat(fireAll(10)).containsExactly("fired");
    }

    @Test
    @Clause({"P-5", "T-3"})
    void cancel_byAForeignThreadWhenARepeatingTimerIsDue_leavesNothingInTheQueue() {
        LoopTimer timer = queue.schedule(10, 10, _ -> log.add("never"));
        timer.cancelOn(cancellation);
        queue.collectDue(10);
        source.cancel();
        queue.pollDue(10).fire();
        assertThat(queue.size()).as("before the loop is notified").isZero();
        assertThat(log).doesNotContain("never");
    }

    @Test
    @Clause({"P-5", "S-4"})
    void release_ofBoundTimersInAnyOrder_hearsOfNoCancellationAnyMore() {
        List<LoopTimer> timers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            LoopTimer timer = timer(SECOND, "never");
            timer.cancelOn(cancellation);
            timers.add(timer);
        }
        for (int i : new int[] {2, 4, 0}) { // From the middle, then both ends.
            assertThat(timers.get(i).cancel()).isTrue();
        }
        queue.release();
        source.cancel();
        loop.runUntilEmpty();
        assertThat(loop.metrics().priorityTasks()).isZero();
    }

    @Test
    @Clause("P-5")
    void cancel_ofSomeBoundTimers_leavesTheOthersBound() {
        List<LoopTimer> timers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            LoopTimer timer = timer(SECOND, "never");
            timer.cancelOn(cancellation);
            timers.add(timer);
        }
        for (int i : new int[] {2, 4, 0}) {
            timers.get(i).cancel();
        }
        source.cancel();
        loop.runUntilEmpty();
        assertThat(loop.metrics().priorityTasks()).isEqualTo(2);
        assertThat(queue.size()).isZero();
    }
}
