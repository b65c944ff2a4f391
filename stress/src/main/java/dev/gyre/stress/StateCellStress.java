package dev.gyre.stress;

import static dev.gyre.LoopState.AWAKE;
import static dev.gyre.LoopState.RUNNING;
import static dev.gyre.LoopState.SLEEPING;
import static dev.gyre.LoopState.TERMINATING;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.LoopState;
import dev.gyre.internal.loop.StateCell;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZL_Result;

/// [StateCell]: of two that move it, one wins, and an end that has begun stays.
public final class StateCellStress {
    private StateCellStress() {}

    private static StateCell cellIn(LoopState state) {
        StateCell cell = new StateCell();
        if (state != AWAKE) {
            cell.move(AWAKE, RUNNING);
        }
        if (state == SLEEPING) {
            cell.move(RUNNING, SLEEPING);
        }
        return cell;
    }

    /// Catches a move made of a load and a store: both threads would run the loop.
    @JCStressTest
    @Outcome(id = "true, false, RUNNING", expect = ACCEPTABLE, desc = "A runs the loop.")
    @Outcome(id = "false, true, RUNNING", expect = ACCEPTABLE, desc = "B runs the loop.")
    @Outcome(expect = FORBIDDEN, desc = "Both run the loop, or nobody does.")
    @State
    public static class TwoRuns {
        private final StateCell cell = cellIn(AWAKE);

        @Actor
        public void a(ZZL_Result result) {
            result.r1 = cell.move(AWAKE, RUNNING);
        }

        @Actor
        public void b(ZZL_Result result) {
            result.r2 = cell.move(AWAKE, RUNNING);
        }

        @Arbiter
        public void rest(ZZL_Result result) {
            result.r3 = cell.get();
        }
    }

    /// Catches an announcement of sleep by a plain store, and two that both believe to have moved it.
    @JCStressTest
    @Outcome(id = "true, false, SLEEPING", expect = ACCEPTABLE, desc = "The loop was first.")
    @Outcome(id = "false, true, TERMINATING", expect = ACCEPTABLE, desc = "The end was first.")
    @Outcome(expect = FORBIDDEN, desc = "Not one winner, or the state is not the winner's.")
    @State
    public static class SleepAgainstShutdown {
        private final StateCell cell = cellIn(RUNNING);

        @Actor
        public void loop(ZZL_Result result) {
            result.r1 = cell.move(RUNNING, SLEEPING);
        }

        @Actor
        public void shutdown(ZZL_Result result) {
            result.r2 = cell.move(RUNNING, TERMINATING);
        }

        @Arbiter
        public void rest(ZZL_Result result) {
            result.r3 = cell.get();
        }
    }

    /// Catches a wake-up by a plain store of RUNNING, which would take back an end that has begun.
    @JCStressTest
    @Outcome(id = "true, true, TERMINATING", expect = ACCEPTABLE, desc = "It woke, then it ended.")
    @Outcome(id = "false, true, TERMINATING", expect = ACCEPTABLE, desc = "It ended in its sleep.")
    @Outcome(expect = FORBIDDEN, desc = "The end was overwritten.")
    @State
    public static class WakeAgainstShutdown {
        private final StateCell cell = cellIn(SLEEPING);

        @Actor
        public void loop(ZZL_Result result) {
            result.r1 = cell.move(SLEEPING, RUNNING);
        }

        @Actor
        public void shutdown(ZZL_Result result) {
            result.r2 = cell.move(SLEEPING, TERMINATING) || cell.move(RUNNING, TERMINATING);
        }

        @Arbiter
        public void rest(ZZL_Result result) {
            result.r3 = cell.get();
        }
    }
}
