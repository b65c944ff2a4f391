package dev.gyre.internal.net;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.LI_Result;
import org.openjdk.jcstress.infra.results.LLI_Result;

import java.util.concurrent.atomic.AtomicInteger;

/// Permits of a limit that loops acquire, release and wait for at the same time.
public final class ConnectionLimitStress {
    private ConnectionLimitStress() {}

    /// A loop that counts the permits offered to it.
    private static final class Loop implements ConnectionLimit.Waiter {
        final AtomicInteger offered = new AtomicInteger();
        final boolean terminated;

        Loop(boolean terminated) {
            this.terminated = terminated;
        }

        @Override
        public boolean offerPlace() {
            if (terminated) {
                return false;
            }
            offered.incrementAndGet();
            return true;
        }

        String outcome(ConnectionLimit limit) {
            return limit.acquire(this) ? "acquired" : "waits";
        }
    }

    /// Returns how many permits are free, by acquiring them.
    private static int free(ConnectionLimit limit) {
        int permits = 0;
        while (limit.acquire(() -> false)) {
            permits++;
        }
        return permits;
    }

    private static ConnectionLimit full() {
        ConnectionLimit limit = new ConnectionLimit(1, Integer.MAX_VALUE);
        boolean _ = limit.acquire(() -> false);
        return limit;
    }

    /// Detects a loop that waits although a permit is free: the release occurs between its check
    /// and its registration.
    @JCStressTest
    @Outcome(id = "acquired, 0", expect = ACCEPTABLE, desc = "Released, then acquired.")
    @Outcome(id = "waits, 1", expect = ACCEPTABLE, desc = "Registered, then the permit arrived.")
    @Outcome(expect = FORBIDDEN, desc = "It waits although a permit is free, or has two.")
    @State
    public static class AcquireAgainstRelease {
        private final ConnectionLimit limit = full();
        private final Loop loop = new Loop(false);

        @Actor
        public void acquirer(LI_Result result) {
            result.r1 = loop.outcome(limit);
        }

        @Actor
        public void releaser() {
            limit.release();
        }

        @Arbiter
        public void rest(LI_Result result) {
            result.r2 = loop.offered.get() + free(limit);
        }
    }

    /// Detects a permit granted to both loops or to neither.
    @JCStressTest
    @Outcome(id = "acquired, waits, 0", expect = ACCEPTABLE, desc = "The first one was faster.")
    @Outcome(id = "waits, acquired, 0", expect = ACCEPTABLE, desc = "The second one was faster.")
    @Outcome(expect = FORBIDDEN, desc = "Both, or neither.")
    @State
    public static class TwoAcquire {
        private final ConnectionLimit limit = new ConnectionLimit(1, Integer.MAX_VALUE);
        private final Loop one = new Loop(false);
        private final Loop other = new Loop(false);

        @Actor
        public void first(LLI_Result result) {
            result.r1 = one.outcome(limit);
        }

        @Actor
        public void second(LLI_Result result) {
            result.r2 = other.outcome(limit);
        }

        @Arbiter
        public void rest(LLI_Result result) {
            result.r3 = one.offered.get() + other.offered.get();
        }
    }

    /// Detects a permit lost with a listener that closes while it waits: the permit is free
    /// afterwards, or offered to the listener, which releases it.
    @JCStressTest
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "Removed, then released.")
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "Offered, then removed too late.")
    @Outcome(expect = FORBIDDEN, desc = "The permit is lost, or there are two.")
    @State
    public static class RemoveAgainstRelease {
        private final ConnectionLimit limit = full();
        private final Loop loop = new Loop(false);

        public RemoveAgainstRelease() {
            boolean _ = limit.acquire(loop);
        }

        @Actor
        public void closer() {
            limit.remove(loop);
        }

        @Actor
        public void releaser() {
            limit.release();
        }

        @Arbiter
        public void rest(II_Result result) {
            result.r1 = loop.offered.get();
            result.r2 = free(limit);
        }
    }

    /// Detects a permit that a terminated loop swallows while another one registers.
    @JCStressTest
    @Outcome(id = "acquired, 0", expect = ACCEPTABLE, desc = "Released, then acquired.")
    @Outcome(id = "waits, 1", expect = ACCEPTABLE, desc = "Passed on by the terminated loop.")
    @Outcome(expect = FORBIDDEN, desc = "It waits although a permit is free, or has two.")
    @State
    public static class ReleaseToATerminatedLoop {
        private final ConnectionLimit limit = full();
        private final Loop loop = new Loop(false);

        public ReleaseToATerminatedLoop() {
            boolean _ = limit.acquire(new Loop(true));
        }

        @Actor
        public void acquirer(LI_Result result) {
            result.r1 = loop.outcome(limit);
        }

        @Actor
        public void releaser() {
            limit.release();
        }

        @Arbiter
        public void rest(LI_Result result) {
            result.r2 = loop.offered.get() + free(limit);
        }
    }
}
