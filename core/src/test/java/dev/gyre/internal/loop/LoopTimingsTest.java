package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.WatchSpec;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.io.FakeDescriptors;
import dev.gyre.metrics.CallbackKind;
import dev.gyre.metrics.LoopMetrics;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Tests what a loop measures, with a clock that only callbacks and waits move.
class LoopTimingsTest {
    private static final long MILLI = 1_000_000;

    private final ScriptedBackend backend = new ScriptedBackend();
    private final FakeDescriptors fakes = new FakeDescriptors();
    private final Loop loop = Loop.open(LoopConfig.DEFAULT, backend);
    private final LoopMetrics metrics = loop.metrics();

    private Runnable takes(int millis) {
        return () -> backend.advance(millis * MILLI);
    }

    private static void assertNear(Duration actual, long millis) {
        assertThat((double) actual.toNanos())
                .isEqualTo((double) millis * MILLI, within(0.01 * millis * MILLI + 100));
    }

    @Test
    @Clause("V-1")
    void callbackDuration_ofEachKind_includesItsMicrotasks() {
        loop.watch(
                fakes.get(7),
                WatchSpec.reading(
                        _ -> {
                            takes(50).run();
                            loop.unwatch(fakes.get(7));
                        }));
        backend.makeReady(7, Readiness.READ);
        loop.after(Duration.ZERO, _ -> takes(10).run());
        loop.submitPriority(takes(20));
        loop.submit(
                () -> {
                    takes(20).run();
                    loop.microtask(takes(10));
                });
        loop.defer(takes(40));
        loop.runUntilEmpty();
        assertNear(metrics.callbackDuration(CallbackKind.TIMER).max(), 10);
        assertNear(metrics.callbackDuration(CallbackKind.PRIORITY_TASK).max(), 20);
        assertNear(metrics.callbackDuration(CallbackKind.TASK).max(), 30);
        assertNear(metrics.callbackDuration(CallbackKind.DEFERRED).max(), 40);
        assertNear(metrics.callbackDuration(CallbackKind.IO).max(), 50);
    }

    @Test
    @Clause("V-1")
    void taskDelay_behindASlowTask_isItsDuration() {
        loop.submit(takes(300));
        for (int i = 1; i <= 16; i++) {
            loop.submit(() -> {});
        }
        loop.runUntilEmpty();
        assertThat(metrics.taskDelay().count()).isEqualTo(2);
        assertNear(metrics.taskDelay().max(), 300);
        assertThat(metrics.callbackDuration(CallbackKind.TASK).count()).isEqualTo(17);
    }

    @Test
    @Clause("V-1")
    void tasks_ofALargeBatch_areMeasuredOnceIn16() {
        int tasks = 16 * 40;
        for (int i = 0; i < tasks; i++) {
            loop.submit(takes(1));
        }
        loop.runUntilEmpty();
        assertThat(metrics.taskDelay().count()).isEqualTo(40);
        assertNear(metrics.taskDelay().max(), tasks - 16);
        assertThat(metrics.callbackDuration(CallbackKind.TASK).count()).isEqualTo(16 + 39);
        assertNear(metrics.callbackDuration(CallbackKind.TASK).max(), 1);
    }

    @Test
    @Clause("V-1")
    void callbackDuration_afterASlowTaskThatWasNotMeasured_doesNotIncludeIt() {
        for (int i = 0; i < 20; i++) {
            loop.submit(i == 18 ? takes(500) : takes(0));
        }
        loop.defer(takes(1));
        loop.runUntilEmpty();
        assertNear(metrics.callbackDuration(CallbackKind.DEFERRED).max(), 1);
        assertNear(metrics.tickDuration().max(), 501);
    }

    @Test
    @Clause("V-1")
    void readyDelay_ofTheSecondEvent_isTheDurationOfTheFirstCallback() {
        for (int fd : new int[] {7, 8}) {
            loop.watch(
                    fakes.get(fd),
                    WatchSpec.reading(
                            _ -> {
                                takes(25).run();
                                loop.unwatch(fakes.get(fd));
                            }));
            backend.makeReady(fd, Readiness.READ);
        }
        loop.runUntilEmpty();
        assertThat(metrics.readyDelay().count()).isEqualTo(2);
        assertThat(metrics.readyDelay().percentile(1)).isZero();
        assertNear(metrics.readyDelay().max(), 25);
    }

    @Test
    @Clause("V-1")
    void timerLateness_behindASlowTimer_isTheDelay() {
        loop.after(Duration.ofMillis(5), _ -> takes(80).run());
        loop.after(Duration.ofMillis(6), _ -> {});
        loop.runUntilEmpty();
        assertThat(metrics.timerLateness().count()).isEqualTo(2);
        assertNear(metrics.timerLateness().max(), 79);
    }

    @Test
    @Clause("V-1")
    void times_ofWaitsAndCallbacks_addUpToTheRun() {
        loop.after(Duration.ofMillis(100), _ -> takes(40).run());
        loop.after(Duration.ofMillis(200), _ -> takes(20).run());
        loop.runUntilEmpty();
        assertThat(metrics.idleTime()).isEqualTo(Duration.ofMillis(100 + 60));
        assertThat(metrics.activeTime()).isEqualTo(Duration.ofMillis(60));
        assertThat(metrics.pollWait().sum()).isEqualTo(Duration.ofMillis(160));
        backend.advance(500 * MILLI);
        loop.submit(takes(5));
        loop.runUntilEmpty();
        assertThat(metrics.activeTime())
                .as("without time outside runs")
                .isEqualTo(Duration.ofMillis(65));
    }

    @Test
    @Clause("V-1")
    void tickDuration_ofIdleTicks_isNotRecorded() {
        loop.submit(takes(7));
        loop.after(Duration.ofSeconds(1), _ -> {});
        loop.runUntilEmpty();
        assertThat(metrics.tickDuration().count()).isPositive().isLessThan(metrics.ticks());
        assertNear(metrics.tickDuration().max(), 7);
    }

    @Test
    @Clause("V-1")
    void utilization_ofALoopThatWorksForAQuarterOfTheTime_isAQuarter() {
        for (int i = 1; i <= 20; i++) {
            loop.after(Duration.ofMillis(i * 100L), _ -> takes(25).run());
        }
        loop.runUntilEmpty();
        assertThat(metrics.utilization()).isEqualTo(0.25, within(0.02));
        backend.advance(10_000 * MILLI);
        assertThat(metrics.utilization()).as("of a loop that waits").isZero();
    }

    @Test
    @Clause("V-7")
    void running_insideACallback_hasItsKindAndTime() {
        List<Object> seen = new ArrayList<>();
        loop.after(
                Duration.ofMillis(1),
                _ -> {
                    takes(3_000).run();
                    var running = metrics.running().orElseThrow();
                    seen.add(running.kind());
                    seen.add(running.elapsed());
                    seen.add(metrics.utilization());
                });
        backend.duringWait(
                () -> {
                    seen.add(metrics.running());
                    backend.advance(MILLI);
                });
        loop.runUntilEmpty();
        assertThat(seen)
                .containsExactly(
                        Optional.empty(),
                        CallbackKind.TIMER,
                        Duration.ofSeconds(3),
                        seen.getLast());
        assertThat((double) seen.getLast()).isGreaterThan(0.99);
        assertThat(metrics.running()).isEmpty();
    }

    @Test
    @Clause({"Q-2", "V-2"})
    void tasksRejected_aboveTheHighWaterMark_areCounted() {
        try (Loop small =
                Loop.open(LoopConfig.DEFAULT.withHighWaterMark(2), new ScriptedBackend())) {
            for (int i = 0; i < 5; i++) {
                var _ = small.trySubmit(() -> {});
            }
            assertThat(small.metrics().tasksRejected()).isEqualTo(3);
        }
    }
}
