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
    private final RunLimits limits = new RunLimits();
    private final Poller poller = new Poller(state, ingress, backend, limits);

    @BeforeEach
    void run() {
        assertThat(state.move(LoopState.AWAKE, LoopState.RUNNING)).isTrue();
    }

    private void assertDidNotSleep() {
        assertThat(state.get()).as("awake again").isEqualTo(LoopState.RUNNING);
        assertThat(backend.polls()).isEmpty();
        assertThat(poller.sleeps.get()).isZero();
    }

    @Test
    @Clause({"Q-6", "L-2"})
    void pollUntil_whenATaskArrivedJustBefore_doesNotSleepAndIsAwake() {
        ingress.submit(() -> {});
        poller.pollUntil(5_000, false);
        assertDidNotSleep();
    }

    @Test
    @Clause({"Q-6", "L-2"})
    void pollUntil_whenAPriorityTaskArrivedJustBefore_doesNotSleepAndIsAwake() {
        ingress.submitPriority(() -> {});
        poller.pollUntil(5_000, false);
        assertDidNotSleep();
    }

    @Test
    @Clause({"L-6", "L-2"})
    void pollUntil_whenAStopWasRequestedJustBefore_doesNotSleepAndIsAwake() {
        limits.requestStop();
        poller.pollUntil(5_000, false);
        assertDidNotSleep();
        assertThat(limits.noticeStop()).isTrue();
        poller.pollUntil(5_000, false);
        assertThat(poller.sleeps.get()).as("a request that was noticed").isEqualTo(1);
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
        poller.pollUntil(5_000, false);
        assertThat(backend.polls()).containsExactly(new Poll(true, 5_000));
        assertThat(state.get()).isEqualTo(LoopState.RUNNING);
        assertThat(poller.sleeps.get()).isEqualTo(1);
        ingress.submit(() -> {});
        assertThat(backend.wakeups()).as("awake: not woken").isEqualTo(1);
    }

    @Test
    @Clause("L-3")
    void pollUntil_whileTerminating_neitherSleepsNorMovesTheState() {
        assertThat(state.move(LoopState.RUNNING, LoopState.TERMINATING)).isTrue();
        poller.pollUntil(5_000, false);
        assertThat(backend.polls()).isEmpty();
        assertThat(state.get()).isEqualTo(LoopState.TERMINATING);
    }

    @Test
    @Clause("L-3")
    void pollUntil_wokenIntoTerminating_leavesTheState() {
        backend.duringWait(() -> state.move(LoopState.SLEEPING, LoopState.TERMINATING));
        poller.pollUntil(5_000, false);
        assertThat(state.get()).isEqualTo(LoopState.TERMINATING);
    }

    @Test
    @Clause({"L-2", "E-1"})
    void pollUntil_thatFails_isAwakeAgain() {
        backend.duringWait(
                () -> {
                    throw new IllegalStateException("injected");
                });
        assertThatThrownBy(() -> poller.pollUntil(5_000, false)).hasMessage("injected");
        assertThat(state.get()).isEqualTo(LoopState.RUNNING);
    }

    @Test
    @Clause("L-2")
    void pollNow_staysAwakeAndIsCounted() {
        poller.pollNow();
        assertThat(backend.polls()).singleElement().matches(poll -> !poll.blocking());
        assertThat(poller.polls.get()).isEqualTo(1);
        assertThat(poller.sleeps.get()).isZero();
    }

    // ------------------------------------------------------------------ draining

    private void drain() {
        assertThat(state.move(LoopState.RUNNING, LoopState.TERMINATING)).isTrue();
    }

    @Test
    @Clause({"S-1", "Q-5"})
    void pollUntil_whileDraining_sleepsUntilAPriorityTaskWakesIt() {
        drain();
        backend.duringWait(
                () -> {
                    assertThat(state.get()).as("to users").isEqualTo(LoopState.TERMINATING);
                    assertThat(state.isShuttingDown()).isTrue();
                    ingress.submitPriority(() -> {});
                    assertThat(backend.wakeups()).isEqualTo(1);
                });
        poller.pollUntil(5_000, true);
        assertThat(backend.polls()).containsExactly(new Poll(true, 5_000));
        assertThat(state.is(LoopState.TERMINATING)).as("awake again").isTrue();
        ingress.submitPriority(() -> {});
        assertThat(backend.wakeups()).as("awake: not woken").isEqualTo(1);
    }

    @Test
    @Clause({"S-1", "Q-6"})
    void pollUntil_whileDrainingWithATaskThere_doesNotSleep() {
        drain();
        ingress.submitPriority(() -> {});
        poller.pollUntil(5_000, true);
        assertThat(backend.polls()).isEmpty();
        assertThat(state.is(LoopState.TERMINATING)).isTrue();
    }

    @Test
    @Clause("S-3")
    void pollUntil_whileDrainingAndHurried_doesNotSleep() {
        drain();
        limits.expire();
        poller.pollUntil(5_000, true);
        assertThat(backend.polls()).isEmpty();
    }

    @Test
    @Clause({"S-1", "E-1"})
    void pollUntil_whileDrainingThatFails_isAwakeAgain() {
        drain();
        backend.duringWait(
                () -> {
                    throw new IllegalStateException("injected");
                });
        assertThatThrownBy(() -> poller.pollUntil(5_000, true)).hasMessage("injected");
        state.terminated();
        assertThat(state.get()).isEqualTo(LoopState.TERMINATED);
    }
}
