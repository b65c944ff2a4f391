package dev.gyre.internal.backend.epoll;

import static dev.gyre.stress.IdleTask.IDLE;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.internal.backend.EventfdWakeup;
import dev.gyre.internal.backend.Wakeup;
import dev.gyre.internal.loop.ExternalLane;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.LI_Result;
import org.openjdk.jcstress.infra.results.L_Result;

/// [Wakeup]: the flag that lets producers go home, against the loop that clears it, and against the
/// close.
public final class WakeupStress {
    private static final int FD = 7;

    private WakeupStress() {}

    /// Catches a flag that is tested and set in two steps: a system call for every producer.
    @JCStressTest
    @Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "One write for each drain.")
    @Outcome(expect = FORBIDDEN, desc = "Two writes for one wake-up, or none.")
    @State
    public static class TwoSignals {
        private final CountingKernel kernel = new CountingKernel();
        private final Wakeup signal = new EventfdWakeup(kernel, FD);

        @Actor
        public void a() {
            signal.signal();
        }

        @Actor
        public void b() {
            signal.signal();
        }

        @Arbiter
        public void rest(II_Result result) {
            result.r1 = kernel.writes();
            signal.drained();
            signal.signal();
            result.r2 = kernel.writes();
        }
    }

    /// Catches a flag that is cleared after the look at the lanes, or with less than a volatile store. An
    /// edge has just been reported when a further producer comes: either the loop sees its task, or it
    /// writes again.
    @JCStressTest
    @Outcome(id = "seen, 1", expect = ACCEPTABLE, desc = "The producer went home; the loop saw it.")
    @Outcome(id = "seen, 2", expect = ACCEPTABLE, desc = "The producer wrote too.")
    @Outcome(id = "missed, 2", expect = ACCEPTABLE, desc = "The loop will be woken.")
    @Outcome(expect = FORBIDDEN, desc = "A task is there, and nobody will tell the loop.")
    @State
    public static class SignalAgainstDrained {
        private final CountingKernel kernel = new CountingKernel();
        private final Wakeup signal = new EventfdWakeup(kernel, FD);
        private final ExternalLane lane = new ExternalLane(64);

        public SignalAgainstDrained() {
            signal.signal();
        }

        @Actor
        public void producer() {
            lane.offer(IDLE);
            signal.signal();
        }

        @Actor
        public void loop(LI_Result result) {
            signal.drained();
            result.r1 = lane.isEmpty() ? "missed" : "seen";
        }

        @Arbiter
        public void rest(LI_Result result) {
            result.r2 = kernel.writes();
        }
    }

    /// Catches a flag that is cleared without an edge, or is not set again: two producers, one of which is
    /// also the loop, that looks at the kernel and then at the lane. At the end there must be an edge for
    /// every task that was not seen, and no more writes than edges taken and outstanding.
    @JCStressTest
    @Outcome(id = "all seen", expect = ACCEPTABLE, desc = "The loop has nothing to wake up for.")
    @Outcome(id = "edge outstanding", expect = ACCEPTABLE, desc = "The loop will be woken.")
    @Outcome(expect = FORBIDDEN, desc = "A task is there, and nobody will tell the loop.")
    @State
    public static class TwoProducers {
        private final CountingKernel kernel = new CountingKernel();
        private final Wakeup signal = new EventfdWakeup(kernel, FD);
        private final ExternalLane lane = new ExternalLane(64);

        // The loop's actor, then the arbiter.
        private int taken;
        private int seen;

        @Actor
        public void producer() {
            lane.offer(IDLE);
            signal.signal();
        }

        @Actor
        public void producerAndLoop() {
            lane.offer(IDLE);
            signal.signal();
            if (kernel.takeEdge()) {
                taken++;
                signal.drained();
            }
            while (lane.poll() != null) {
                seen++;
            }
        }

        @Arbiter
        public void rest(L_Result result) {
            boolean outstanding = kernel.takeEdge();
            int edges = taken + (outstanding ? 1 : 0);
            if (kernel.writes() > edges) {
                result.r1 = kernel.writes() + " writes for " + edges + " edges";
            } else if (outstanding) {
                result.r1 = "edge outstanding";
            } else {
                result.r1 = seen == 2 ? "all seen" : "missed " + (2 - seen);
            }
        }
    }

    /// Catches a write and a close that do not exclude each other: the write would go to whatever
    /// descriptor got the number next.
    @JCStressTest
    @Outcome(id = "0", expect = ACCEPTABLE, desc = "Nothing was done to a closed descriptor.")
    @Outcome(expect = FORBIDDEN, desc = "Written to, or closed again, after the close.")
    @State
    public static class SignalAgainstClose {
        private final CountingKernel kernel = new CountingKernel();
        private final Wakeup signal = new EventfdWakeup(kernel, FD);

        @Actor
        public void producer() {
            signal.signal();
        }

        @Actor
        public void closer() {
            signal.close();
        }

        @Arbiter
        public void rest(I_Result result) {
            signal.drained();
            signal.signal();
            signal.close();
            result.r1 = kernel.late();
        }
    }
}
