package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A used-up microtask budget: a burst causes no alarm, a flood does.
@Timeout(60)
class MicrotaskFloodTest {
    private final ScriptedBackend backend = new ScriptedBackend();
    private final List<Integer> breaches = new ArrayList<>();
    private final List<Integer> floods = new ArrayList<>();
    private EventLoop loop =
            Loop.open(
                    LoopConfig.DEFAULT.withObserver(
                            new LoopObserver() {
                                @Override
                                public void onMicrotaskBudgetExceeded(EventLoop in, int remaining) {
                                    breaches.add(remaining);
                                }

                                @Override
                                public void onMicrotaskFlood(EventLoop in, int remaining) {
                                    floods.add(remaining);
                                }
                            }),
                    backend);

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    @Test
    @Clause("M-2")
    void burst_ofPipelinedPromises_breachesTheBudgetAndLogsNothing() {
        loop.close();
        loop = Loop.open(LoopConfig.DEFAULT.withObserver(LoopObserver.logging()), backend);
        try (LogCapture logged = new LogCapture()) {
            settlePipelined(5_000);
            assertThat(logged.messages()).isEmpty();
        }
    }

    @Test
    @Clause("M-2")
    void burst_ofAnySize_isNoFlood() {
        settlePipelined(100_000);
        assertThat(breaches).as("each tick but the last").hasSizeGreaterThanOrEqualTo(97);
        assertThat(floods).isEmpty();
    }

    private void settlePipelined(int count) {
        loop.submit(
                () -> {
                    for (int i = 0; i < count; i++) {
                        Promise.resolved(loop, i).then(n -> n + 1);
                    }
                });
        loop.runUntilEmpty();
    }

    @Test
    @Clause("M-2")
    void microtasksThatAddOthersForEver_areAFlood() {
        goOn(1);
        assertThat(floods).isNotEmpty();
        assertThat(breaches.size() / floods.size()).as("breaches a flood").isBetween(17, 18);
    }

    @Test
    @Clause("M-2")
    void microtasksThatAddOthersForEver_besideABurst_areAFloodOnceTheBurstIsOver() {
        settlePipelined(50_000);
        goOn(3);
        assertThat(floods).isNotEmpty();
    }

    @Test
    @Clause("M-2")
    void flood_isLoggedEverMoreSparsely() {
        loop.close();
        loop = Loop.open(LoopConfig.DEFAULT.withObserver(LoopObserver.logging()), backend);
        try (LogCapture logged = new LogCapture()) {
            goOn(1);
            assertThat(logged.messages())
                    .isNotEmpty()
                    .hasSizeLessThan(10)
                    .allMatch(line -> line.contains("the microtask budget is used up"));
        }
    }

    /// Runs microtasks that add each other for 300 ticks.
    private void goOn(int microtasks) {
        for (int i = 0; i < microtasks; i++) {
            loop.microtask(this::again);
        }
        loop.after(Duration.ofNanos(300 * 1_024), timer -> loop.stop());
        loop.run();
    }

    private void again() {
        backend.advance(1);
        loop.microtask(this::again);
    }
}
