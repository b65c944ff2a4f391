package dev.gyre.internal.backend.uring;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.epoll.CountingKernel;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.LL_Result;

/// [PollTable]: noted by any thread, taken by the loop before it waits.
public final class PollTableStress {
    private static final int EPFD = 5;
    private static final int FD = 7;
    private static final ReadinessHandler HANDLER = ready -> {};

    private PollTableStress() {}

    private static PollTable registered() {
        return new PollTable(new PollableProbe(new CountingKernel(), EPFD));
    }

    /// Catches a loop that looks for changes before it says that it waits, or a change that is noted after
    /// its thread has looked whether the loop waits: the change would be told with some later wait.
    @JCStressTest
    @Outcome(id = "waits, woken", expect = ACCEPTABLE, desc = "The change came last.")
    @Outcome(id = "looks again, .*", expect = ACCEPTABLE, desc = "The loop saw the change.")
    @Outcome(expect = FORBIDDEN, desc = "The loop sleeps on a change, and nobody wakes it.")
    @State
    public static class ChangeAgainstWait {
        private final PollTable registered = registered();

        @Actor
        public void other(LL_Result result) {
            registered.register(FD, Readiness.READ, HANDLER);
            result.r2 = registered.isAwaited() ? "woken" : "left alone";
        }

        @Actor
        public void loop(LL_Result result) {
            result.r1 = registered.beginWait() ? "waits" : "looks again";
        }
    }

    /// Catches a change that falls between two lists when they take turns, and one that is noted as queued
    /// when it is not.
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Taken at once, and the other one later.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "Both later, as one.")
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Both at once, as one.")
    @Outcome(expect = FORBIDDEN, desc = "A change is lost, or told twice.")
    @State
    public static class ChangesAgainstTaking {
        private final PollTable registered = registered();

        // The loop's actor, then the arbiter.
        private int interestSeen;

        @Actor
        public void other() {
            registered.register(FD, Readiness.READ, HANDLER);
            registered.modify(FD, Readiness.WRITE);
        }

        @Actor
        public void loop(II_Result result) {
            result.r1 = take();
        }

        @Arbiter
        public void rest(II_Result result) {
            result.r2 = take();
            if ((interestSeen & (Readiness.READ | Readiness.WRITE)) != Readiness.WRITE) {
                result.r2 = -1;
            }
        }

        private int take() {
            int taken = 0;
            for (PollRegistration poll : registered.takeChanges()) {
                interestSeen = (int) poll.wanted();
                taken++;
            }
            return taken;
        }
    }

    /// Catches two threads that both note what they did to one number, and a table that keeps the wrong
    /// one.
    @JCStressTest
    @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "Both are told of; one is removed.")
    @Outcome(expect = FORBIDDEN, desc = "Both are registered, or neither.")
    @State
    public static class TwoRegister {
        private final PollTable registered = registered();

        @Actor
        public void one() {
            registered.register(FD, Readiness.READ, HANDLER);
        }

        @Actor
        public void another() {
            registered.register(FD, Readiness.WRITE, HANDLER);
        }

        @Arbiter
        public void rest(II_Result result) {
            for (PollRegistration poll : registered.takeChanges()) {
                result.r1++;
                result.r2 += poll.isRemoved() ? 1 : 0;
            }
        }
    }
}
