package dev.gyre.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.AnotherThread;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopOverloadedException;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SubmitResult;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/// Chapter Q, with real producers.
public abstract class IngressContract extends ConformanceFixture {
    private static final int PRODUCERS = 4;
    private static final int TASKS = 2_000;

    @Test
    @Clause({"Q-1", "Q-2"})
    void submit_byManyThreads_losesNothingAndKeepsEachOnesOrder() throws InterruptedException {
        int[] next = new int[PRODUCERS];
        Semaphore submitted = new Semaphore(0);
        List<Thread> producers = new ArrayList<>();
        for (int i = 0; i < PRODUCERS; i++) {
            int producer = i;
            producers.add(
                    Thread.ofPlatform()
                            .start(() -> produce(next, producer, producer % 2 == 0, submitted)));
        }
        for (int i = 0; i < PRODUCERS * TASKS; i++) {
            submitted.acquire();
            runReady();
        }
        producers.forEach(ConformanceFixture::join);
        assertThat(next).containsOnly(TASKS);
        assertThat(log).as("out of order").isEmpty();
        assertThat(loop.metrics().queuedTasks() + loop.metrics().queuedPriorityTasks()).isZero();
    }

    private void produce(int[] next, int producer, boolean priority, Semaphore submitted) {
        for (int i = 0; i < TASKS; i++) {
            int number = i;
            Runnable task =
                    () -> {
                        if (next[producer]++ != number) {
                            log.add(producer + ": " + number);
                        }
                    };
            if (priority) {
                loop.submitPriority(task);
            } else {
                loop.submit(task);
            }
            submitted.release();
        }
    }

    @Test
    @Clause({"Q-2", "E-2"})
    void submit_refused_neverRuns() {
        configure(config().withHighWaterMark(2));
        loop.submit(says("first"));
        loop.submit(says("second"));
        assertThat(loop.trySubmit(says("never"))).isEqualTo(SubmitResult.OVERLOADED);
        assertThatThrownBy(() -> loop.submit(says("never")))
                .isInstanceOf(LoopOverloadedException.class);
        loop.submitPriority(says("priority"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("priority", "first", "second");
        loop.close();
        assertThat(loop.trySubmit(says("never"))).isEqualTo(SubmitResult.TERMINATED);
        assertThatThrownBy(() -> loop.submit(says("never")))
                .isInstanceOf(LoopTerminatedException.class);
        assertThat(log).hasSize(3);
    }

    @Test
    @Clause("Q-3")
    void tasks_beyondTheBudget_areLeftToTheNextTickAndTold() {
        List<Integer> told = new ArrayList<>();
        configure(
                config().withTaskBudget(4)
                        .withObserver(
                                new LoopObserver() {
                                    @Override
                                    public void onTaskBudgetExceeded(EventLoop of, int remaining) {
                                        told.add(remaining);
                                    }
                                }));
        List<Long> ticks = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            loop.submit(() -> ticks.add(loop.metrics().ticks()));
        }
        loop.runUntilEmpty();
        long first = ticks.get(0);
        assertThat(ticks.subList(0, 4)).containsOnly(first);
        assertThat(ticks.subList(4, 8)).containsOnly(first + 1);
        assertThat(ticks.subList(8, 10)).containsOnly(first + 2);
        assertThat(told).containsExactly(6, 2);
    }

    @Test
    @Clause("Q-3")
    void task_submittedByATask_runsInALaterTick() {
        List<Long> ticks = new ArrayList<>();
        loop.submit(
                () -> {
                    ticks.add(loop.metrics().ticks());
                    loop.submit(() -> ticks.add(loop.metrics().ticks()));
                });
        loop.runUntilEmpty();
        assertThat(ticks.get(1)).isGreaterThan(ticks.get(0));
    }

    @Test
    @Clause("Q-4")
    void priority_goesFirst_alsoWhatPriorityTasksAdd_andIsAcceptedWhileDraining() {
        loop.submit(
                () -> {
                    log.add("external");
                    loop.shutdown(Duration.ofSeconds(10));
                    loop.submitPriority(says("drained"));
                });
        loop.submitPriority(
                () -> {
                    log.add("priority");
                    loop.submitPriority(says("another"));
                });
        loop.run();
        assertThat(log).containsExactly("priority", "another", "external", "drained");
        assertThatThrownBy(() -> loop.submitPriority(says("never")))
                .isInstanceOf(LoopTerminatedException.class);
    }

    @Test
    @Clause({"Q-5", "Q-6"})
    void submit_toASleepingLoop_wakesItEachTime() throws InterruptedException {
        Thread runner = runAndSleep();
        for (int i = 0; i < 200; i++) {
            CountDownLatch ran = new CountDownLatch(1);
            if (i % 2 == 0) {
                loop.submit(ran::countDown);
            } else {
                loop.submitPriority(ran::countDown);
            }
            ran.await();
        }
        loop.stop();
        join(runner);
    }

    @Test
    @Clause({"Q-5", "Q-6"})
    void submit_toASleepingLoop_sendsOneSignal_andToARunningOneNone() throws InterruptedException {
        Thread runner = runAndSleep();
        long before = loop.metrics().wakeups();
        CountDownLatch ran = new CountDownLatch(1);
        loop.submit(ran::countDown);
        ran.await();
        assertThat(loop.metrics().wakeups() - before).isEqualTo(1);
        loop.stop();
        join(runner);
        long running = loop.metrics().wakeups();
        loop.submit(() -> AnotherThread.runs(() -> loop.submit(says("came"))));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("came");
        assertThat(loop.metrics().wakeups()).isEqualTo(running);
    }

    @Test
    @Clause("Q-6")
    void wakeUp_afterTheEnd_doesNothing() {
        loop.close();
        loop.stop();
        assertThat(loop.trySubmit(says("never"))).isEqualTo(SubmitResult.TERMINATED);
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("Q-7")
    void defer_runsBehindTimers_inOrder_andWhatItDefersInTheNextTurn() {
        List<Long> ticks = new ArrayList<>();
        loop.after(
                Duration.ofMillis(1),
                timer -> {
                    log.add("timer");
                    loop.defer(
                            () -> {
                                log.add("first");
                                ticks.add(loop.metrics().ticks());
                                loop.defer(
                                        () -> {
                                            log.add("third");
                                            ticks.add(loop.metrics().ticks());
                                        });
                            });
                    loop.defer(says("second"));
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("timer", "first", "second", "third");
        assertThat(ticks.get(1) - ticks.get(0)).isEqualTo(1);
    }
}
