package dev.gyre.internal.loop;

import static dev.gyre.LoopState.AWAKE;
import static dev.gyre.LoopState.RUNNING;
import static dev.gyre.LoopState.SLEEPING;
import static dev.gyre.LoopState.TERMINATED;
import static dev.gyre.LoopState.TERMINATING;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LoopState;

import org.junit.jupiter.api.Test;

import java.util.Map;
import java.util.Set;

class StateCellTest {
    private static final Map<LoopState, Set<LoopState>> CONTRACT =
            Map.of(
                    AWAKE, Set.of(RUNNING, TERMINATING),
                    RUNNING, Set.of(SLEEPING, TERMINATING, AWAKE),
                    SLEEPING, Set.of(RUNNING, TERMINATING),
                    TERMINATING, Set.of(TERMINATED),
                    TERMINATED, Set.of());

    @SuppressWarnings("EnumOrdinal") // The ordinals are part of the contract.
    @Test
    @Clause("L-1")
    void number_ofEachState_isTheContracts() {
        assertThat(AWAKE.ordinal()).isEqualTo(0);
        assertThat(TERMINATED.ordinal()).isEqualTo(1);
        assertThat(SLEEPING.ordinal()).isEqualTo(2);
        assertThat(TERMINATING.ordinal()).isEqualTo(3);
        assertThat(RUNNING.ordinal()).isEqualTo(4);
        assertThat(LoopState.values()).hasSize(5);
    }

    @Test
    @Clause("L-2")
    void isLegal_overAllPairs_isTheContractsTable() {
        for (LoopState from : LoopState.values()) {
            for (LoopState to : LoopState.values()) {
                assertThat(StateCell.isLegal(from, to))
                        .as("%s to %s", from, to)
                        .isEqualTo(CONTRACT.get(from).contains(to));
            }
        }
    }

    @Test
    @Clause("L-2")
    void move_fromAnotherState_changesNothing() {
        StateCell cell = new StateCell();
        assertThat(cell.move(RUNNING, SLEEPING)).isFalse();
        assertThat(cell.get()).isEqualTo(AWAKE);
        assertThat(cell.move(AWAKE, RUNNING)).isTrue();
        assertThat(cell.get()).isEqualTo(RUNNING);
    }

    @Test
    @Clause("L-2")
    void move_thatTheContractForbids_failsTheAssertion() {
        assertThatThrownBy(() -> new StateCell().move(AWAKE, SLEEPING))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("AWAKE to SLEEPING");
    }

    @Test
    @Clause({"L-2", "L-3"})
    void move_backToRunning_neverOverwritesTerminating() {
        StateCell cell = new StateCell();
        cell.move(AWAKE, RUNNING);
        cell.move(RUNNING, SLEEPING);
        cell.move(SLEEPING, TERMINATING);
        assertThat(cell.move(SLEEPING, RUNNING)).isFalse();
        assertThat(cell.get()).isEqualTo(TERMINATING);
        cell.terminated();
        assertThat(cell.get()).isEqualTo(TERMINATED);
        assertThat(cell.isShuttingDown()).isTrue();
    }

    @Test
    @Clause({"L-2", "Q-5"})
    void isAsleep_overAllStates_isTrueForTheTwoThatSleep() {
        StateCell cell = new StateCell();
        assertThat(cell.isAsleep()).as("AWAKE").isFalse();
        cell.move(AWAKE, RUNNING);
        assertThat(cell.isAsleep()).as("RUNNING").isFalse();
        assertThat(cell.fallAsleep(false)).isTrue();
        assertThat(cell.isAsleep()).as("SLEEPING").isTrue();
        assertThat(cell.get()).isEqualTo(SLEEPING);
        cell.move(SLEEPING, TERMINATING);
        assertThat(cell.isAsleep()).as("TERMINATING").isFalse();
        cell.awake(false);
        assertThat(cell.get()).isEqualTo(TERMINATING);
        assertThat(cell.fallAsleep(false)).as("a shutdown has begun").isFalse();
        assertThat(cell.fallAsleep(true)).isTrue();
        assertThat(cell.isAsleep()).as("draining, asleep").isTrue();
        assertThat(cell.get()).isEqualTo(TERMINATING);
        assertThat(cell.isShuttingDown()).isTrue();
        cell.awake(true);
        cell.terminated();
        assertThat(cell.isAsleep()).as("TERMINATED").isFalse();
    }
}
