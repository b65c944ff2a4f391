package dev.gyre.internal.promise;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.LoopConfig;
import dev.gyre.SubmitResult;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopMetrics;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;

/// A running loop scans a few slots of its registry per tick.
class ScavengingTest {
    private final Loop loop = Loop.open(LoopConfig.DEFAULT, new ScriptedBackend());
    private final LoopMetrics metrics = loop.metrics();
    private final List<Deferred<Integer>> made = new ArrayList<>();

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    /// Creates and registers promises in one tick.
    private void make(int count) {
        for (int i = 0; i < count; i++) {
            made.add(loop.deferred());
        }
    }

    private void settleAll() {
        made.forEach(deferred -> deferred.resolve(1));
        made.clear();
    }

    /// Runs ticks of one task each within one run. Excludes the work at the end of the run.
    private void runTicks(int count, Runnable afterEach) {
        long[] first = {metrics.ticks()};
        Runnable task =
                new Runnable() {
                    @Override
                    public void run() {
                        if (metrics.ticks() > first[0] + 1) {
                            afterEach.run();
                        }
                        if (metrics.ticks() <= first[0] + count) {
                            loop.submit(this);
                        }
                    }
                };
        loop.submit(task);
        loop.runUntilEmpty();
    }

    @Test
    @Clause("R-1")
    void tick_looksAtTwentySlots() {
        make(500); // Not running: registered at once. The cursor is at the first slot.
        Promises promises = loop.promises();
        assertThat(promises.registry.capacity()).isEqualTo(1_024);
        // As the collector does. Enough remain that the table is not rebuilt.
        for (int i = 0; i < 400; i += 2) {
            Registry.Entry entry = promises.registry.entry(made.get(i).promise().id());
            Objects.requireNonNull(entry).clear();
        }
        long before = metrics.registryRebuilds();
        int needed = Math.ceilDiv(1_024, Promises.SLOTS_PER_TICK);
        List<Long> scavenged = new ArrayList<>();
        runTicks(needed, () -> scavenged.add(metrics.promisesScavenged()));
        assertThat(scavenged).hasSize(needed);
        assertThat(scavenged.get(needed / 2))
                .as("after half of the slots, of 200 that are spread over them")
                .isBetween(60L, 140L);
        assertThat(scavenged.getLast()).as("after one cycle").isEqualTo(200);
        assertThat(metrics.promises()).isEqualTo(300);
        assertThat(metrics.registryRebuilds()).isEqualTo(before);
    }

    @Test
    @Clause("R-1")
    void tick_afterAllHaveSettled_rebuildsTheTableAtOnce() {
        make(500);
        settleAll();
        long before = metrics.registryRebuilds();
        runTicks(1, () -> {});
        assertThat(metrics.registryRebuilds()).isEqualTo(before + 1);
        assertThat(loop.promises().registry.capacity()).isEqualTo(Registry.MIN_CAPACITY);
        assertThat(metrics.promises()).isZero();
        assertThat(metrics.promisesScavenged()).isEqualTo(500);
    }

    @Test
    @Clause("R-1")
    void tick_whoseNewestAreSettled_registersNone() {
        loop.submit(
                () -> {
                    make(200);
                    settleAll();
                });
        loop.runUntilEmpty();
        assertThat(metrics.promises()).isZero();
        assertThat(metrics.promisesScavenged()).isZero();
        assertThat(metrics.registryRebuilds()).isZero();
    }

    @Test
    @Clause("R-1")
    void tick_thatMakesManyPending_registersThemAll() {
        loop.submit(() -> make(10_000));
        loop.runUntilEmpty();
        assertThat(metrics.promises()).isEqualTo(10_000);
        long last = made.getLast().promise().id();
        assertThat(loop.promises().registry.find(last)).isSameAs(made.getLast().promise());
    }

    @Test
    @Clause("R-1")
    void table_ofALoadThatOutrunsTheCursor_staysWithinFourTimesWhatIsPending() {
        int[] largest = new int[1];
        int pending = 1_000;
        runTicks(
                200,
                () -> {
                    settleAll();
                    make(pending);
                    largest[0] = Math.max(largest[0], loop.promises().registry.capacity());
                });
        assertThat(largest[0]).isLessThanOrEqualTo(4 * pending);
        assertThat(metrics.promises() + metrics.promisesScavenged())
                .as("each went in once, and those that have gone were counted once")
                .isEqualTo(200L * pending);
    }

    @Test
    @Timeout(60)
    @Clause("R-1")
    void metrics_readByAnotherThread_tellWhatTheLoopHas() throws InterruptedException {
        try (Loop real = Loop.open(LoopConfig.DEFAULT)) {
            Thread runner = Thread.ofPlatform().start(real::run);
            List<Deferred<Integer>> pending = new ArrayList<>();
            real.submit(
                    () -> {
                        for (int i = 0; i < 100; i++) {
                            pending.add(real.deferred());
                        }
                    });
            // Each counter separately: the order between counters is unspecified.
            spinUntil(() -> real.metrics().promises() == 100);
            spinUntil(() -> real.metrics().registryRebuilds() == 2); // 64 → 128 → 256
            real.submit(() -> pending.forEach(deferred -> deferred.resolve(1)));
            spinUntil(() -> tick(real) && real.metrics().promises() == 0);
            spinUntil(() -> real.metrics().promisesScavenged() == 100);
            spinUntil(() -> tick(real) && real.metrics().registryRebuilds() == 3);
            real.stop();
            runner.join();
        }
    }

    private static boolean tick(Loop running) {
        return running.trySubmit(() -> {}) != SubmitResult.TERMINATED;
    }

    private static void spinUntil(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }
}
