package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SubmitResult;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Eight producers against a loop that sleeps as often as it can: every few tasks a producer waits until
/// the lane is empty, so that the next task meets the loop announcing its sleep, looking again,
/// sleeping or waking.
class ProducersStressTest {
    private static final int PRODUCERS = 8;
    private static final int EACH = 1_000_000;

    @Test
    @Timeout(value = 4, unit = TimeUnit.MINUTES)
    @Clause({"Q-1", "Q-2", "Q-5", "Q-6"})
    void eightProducers_ofAMillionTasksEach_loseNoneDuplicateNoneKeepTheirOrder()
            throws InterruptedException {
        try (EventLoop loop =
                EventLoop.open(LoopConfig.DEFAULT.withObserver(new LoopObserver() {}))) {
            int[] expected = new int[PRODUCERS];
            List<String> disorder = new ArrayList<>();
            Thread runner = Thread.ofPlatform().name("loop").start(loop::run);
            List<Thread> producers = new ArrayList<>();
            for (int p = 0; p < PRODUCERS; p++) {
                int producer = p;
                producers.add(
                        Thread.ofPlatform()
                                .start(() -> produce(loop, producer, expected, disorder)));
            }
            for (Thread producer : producers) {
                producer.join();
            }
            loop.submitPriority(loop::stop);
            // Everything before it was accepted, so a run until empty has the rest.
            runner.join();
            loop.runUntilEmpty();
            assertThat(disorder).isEmpty();
            assertThat(expected).containsOnly(EACH);
            assertThat(loop.metrics().tasks()).isEqualTo((long) PRODUCERS * EACH);
            assertThat(loop.metrics().queuedTasks()).isZero();
            assertThat(loop.metrics().sleeps()).as("waits").isPositive();
            assertThat(loop.metrics().wakeups())
                    .as("at most one signal on its way: each is drained by a look at the kernel")
                    .isPositive()
                    .isLessThanOrEqualTo(loop.metrics().sleeps() + loop.metrics().polls() + 1);
            assertThat(loop.metrics().wakeups())
                    .as("a running loop costs no signal")
                    .isLessThan((long) PRODUCERS * EACH / 4);
        }
    }

    private static void produce(
            EventLoop loop, int producer, int[] expected, List<String> disorder) {
        for (int i = 0; i < EACH; i++) {
            int number = i;
            Runnable task =
                    () -> {
                        if (expected[producer]++ != number) {
                            disorder.add(producer + ": " + number);
                        }
                    };
            while (loop.trySubmit(task) != SubmitResult.ACCEPTED) {
                Thread.onSpinWait();
            }
            if (i % 256 == 0) {
                for (int spins = 0; loop.metrics().queuedTasks() > 0 && spins < 10_000; spins++) {
                    Thread.onSpinWait();
                }
            }
        }
    }
}
