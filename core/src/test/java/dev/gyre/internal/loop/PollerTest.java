package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LoopState;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.backend.ScriptedBackend.Poll;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Check-then-sleep, one step at a time.
class PollerTest {
    private final StateCell state = new StateCell();
    private final ScriptedBackend backend = new ScriptedBackend();
    private final Ingress ingress = new Ingress(state, backend, 16);
    private final StopRequest stop = new StopRequest();
    private final Poller sleep = new Poller(state, ingress, backend, stop);

    @BeforeEach
    void run() {
        assertThat(state.move(LoopState.AWAKE, LoopState.RUNNING)).isTrue();
    }

    private void assertDidNotSleep() {
        assertThat(state.get()).as("awake again").isEqualTo(LoopState.RUNNING);
        assertThat(backend.polls()).isEmpty();
        assertThat(sleep.sleeps.get()).isZero();
    }

    @Test
    @Clause({"Q-6", "L-2"})
    void pollUntil_whenATaskArrivedJustBefore_doesNotSleepAndIsAwake() {
        ingress.submit(() -> {});
        sleep.pollUntil(5_000);
        assertDidNotSleep();
    }

    @Test
    @Clause({"Q-6", "L-2"})
    void pollUntil_whenAPriorityTaskArrivedJustBefore_doesNotSleepAndIsAwake() {
        ingress.submitPriority(() -> {});
        sleep.pollUntil(5_000);
        assertDidNotSleep();
    }

    @Test
    @Clause({"L-6", "L-2"})
    void pollUntil_whenAStopWasRequestedJustBefore_doesNotSleepAndIsAwake() {
        stop.request();
        sleep.pollUntil(5_000);
        assertDidNotSleep();
        assertThat(stop.notice()).isTrue();
        sleep.pollUntil(5_000);
        assertThat(sleep.sleeps.get()).as("a request that was noticed").isEqualTo(1);
    }

    @Test
    @Clause({"L-2", "Q-6"})
    void pollUntil_withNothingThere_sleepsUntilTheDeadlineOrAWakeUp() {
        backend.duringWait(
                () -> {
                    assertThat(state.get()).isEqualTo(LoopState.SLEEPING);
                    ingress.submit(() -> {});
                    assertThat(backend.wakeups()).isEqualTo(1);
                });
        sleep.pollUntil(5_000);
        assertThat(backend.polls()).containsExactly(new Poll(true, 5_000));
        assertThat(state.get()).isEqualTo(LoopState.RUNNING);
        assertThat(sleep.sleeps.get()).isEqualTo(1);
        ingress.submit(() -> {});
        assertThat(backend.wakeups()).as("awake: not woken").isEqualTo(1);
    }

    @Test
    @Clause("L-3")
    void pollUntil_whileTerminating_neitherSleepsNorMovesTheState() {
        assertThat(state.move(LoopState.RUNNING, LoopState.TERMINATING)).isTrue();
        sleep.pollUntil(5_000);
        assertThat(backend.polls()).isEmpty();
        assertThat(state.get()).isEqualTo(LoopState.TERMINATING);
    }

    @Test
    @Clause("L-3")
    void pollUntil_wokenIntoTerminating_leavesTheState() {
        backend.duringWait(() -> state.move(LoopState.SLEEPING, LoopState.TERMINATING));
        sleep.pollUntil(5_000);
        assertThat(state.get()).isEqualTo(LoopState.TERMINATING);
    }

    @Test
    @Clause({"L-2", "E-1"})
    void pollUntil_thatFails_isAwakeAgain() {
        backend.duringWait(
                () -> {
                    throw new IllegalStateException("injected");
                });
        assertThatThrownBy(() -> sleep.pollUntil(5_000)).hasMessage("injected");
        assertThat(state.get()).isEqualTo(LoopState.RUNNING);
    }

    @Test
    @Clause("L-2")
    void pollNow_staysAwakeAndIsCounted() {
        sleep.pollNow();
        assertThat(backend.polls()).singleElement().matches(poll -> !poll.blocking());
        assertThat(sleep.polls.get()).isEqualTo(1);
        assertThat(sleep.sleeps.get()).isZero();
    }
}
