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

import java.util.ArrayDeque;
import java.util.Deque;

/// [PollTable]: changed by any thread, drained by the loop before it waits.
public final class PollTableStress {
    private static final int EPFD = 5;
    private static final int FD = 7;
    private static final ReadinessHandler HANDLER = ready -> {};

    private PollTableStress() {}

    private static PollTable newTable() {
        return new PollTable(new CountingKernel(), EPFD);
    }

    /// Catches a loop that checks for changes before it announces its wait. Also catches a thread
    /// that checks for a wait before it queues its change.
    @JCStressTest
    @Outcome(id = "waits, woken", expect = ACCEPTABLE, desc = "The change was last.")
    @Outcome(id = "looks again, .*", expect = ACCEPTABLE, desc = "The loop saw the change.")
    @Outcome(expect = FORBIDDEN, desc = "The loop sleeps on a change, and is not woken.")
    @State
    public static class ChangeAgainstWait {
        private final PollTable table = newTable();

        @Actor
        public void other(LL_Result result) {
            table.register(FD, Readiness.READ, HANDLER);
            result.r2 = table.isLoopWaiting() ? "woken" : "left alone";
        }

        @Actor
        public void loop(LL_Result result) {
            result.r1 = table.beginWait() ? "waits" : "looks again";
        }
    }

    /// Catches a change that is lost between queueing and draining, and a registration that is
    /// marked as queued when it is not.
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "One at once, the other later.")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "Both later, as one.")
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Both at once, as one.")
    @Outcome(expect = FORBIDDEN, desc = "A change is lost, or drained twice.")
    @State
    public static class ChangesAgainstTaking {
        private final PollTable table = newTable();

        // The loop's actor, then the arbiter.
        private int interestSeen;

        @Actor
        public void other() {
            table.register(FD, Readiness.READ, HANDLER);
            table.modify(FD, Readiness.WRITE);
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
            Deque<PollRegistration> changes = new ArrayDeque<>();
            table.drainChanges(changes);
            for (PollRegistration poll : changes) {
                interestSeen = (int) poll.interest();
            }
            return changes.size();
        }
    }

    /// Catches two threads that both register one number, and a table that keeps the wrong
    /// registration.
    @JCStressTest
    @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "Both are queued; one is removed.")
    @Outcome(expect = FORBIDDEN, desc = "Both are registered, or neither.")
    @State
    public static class TwoRegister {
        private final PollTable table = newTable();

        @Actor
        public void one() {
            table.register(FD, Readiness.READ, HANDLER);
        }

        @Actor
        public void another() {
            table.register(FD, Readiness.WRITE, HANDLER);
        }

        @Arbiter
        public void rest(II_Result result) {
            Deque<PollRegistration> changes = new ArrayDeque<>();
            table.drainChanges(changes);
            for (PollRegistration poll : changes) {
                result.r1++;
                result.r2 += PollRegistration.isRemoved(poll.interest()) ? 1 : 0;
            }
        }
    }
}
