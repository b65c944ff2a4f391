package dev.gyre.internal.backend.epoll;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.LoopTerminatedException;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.Registrations;
import dev.gyre.internal.backend.epoll.EpollBackend.EpollRegistrations;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.LI_Result;
import org.openjdk.jcstress.infra.results.L_Result;

/// [Registrations]: changed by any thread, looked up by the loop without the lock.
public final class RegistrationsStress {
    private static final int EPFD = 5;
    private static final int FIRST = 3;

    /// Beyond the table's first size, so that it grows.
    private static final int FAR = 100;

    private static final int FARTHER = 1_000;
    private static final ReadinessHandler HANDLER = ready -> {};

    private RegistrationsStress() {}

    /// Catches an entry that is published after the kernel has heard of it, or only into the old table: the
    /// first edge would find nobody, and there is no second one.
    @JCStressTest
    @Outcome(id = "no event yet", expect = ACCEPTABLE, desc = "The loop was first.")
    @Outcome(id = "found", expect = ACCEPTABLE, desc = "The event found its handler.")
    @Outcome(expect = FORBIDDEN, desc = "The event found nobody.")
    @State
    public static class EventAtOnce {
        private final CountingKernel kernel = new CountingKernel();
        private final Registrations registrations = new EpollRegistrations(kernel, EPFD);

        @Actor
        public void other() {
            registrations.register(FAR, Readiness.READ, HANDLER);
        }

        @Actor
        public void loop(L_Result result) {
            long event = kernel.event();
            if (event == CountingKernel.NO_EVENT) {
                result.r1 = "no event yet";
            } else {
                result.r1 = registrations.find(event) != null ? "found" : "nobody";
            }
        }
    }

    /// Catches a table that is shown to the loop before everything has been copied into it.
    @JCStressTest
    @Outcome(id = "found", expect = ACCEPTABLE, desc = "What was registered stays.")
    @Outcome(expect = FORBIDDEN, desc = "The event of an old registration found nobody.")
    @State
    public static class GrowthAgainstFind {
        private final CountingKernel kernel = new CountingKernel();
        private final Registrations registrations = new EpollRegistrations(kernel, EPFD);
        private final long event;

        public GrowthAgainstFind() {
            registrations.register(FIRST, Readiness.READ, HANDLER);
            event = kernel.event();
        }

        @Actor
        public void other() {
            registrations.register(FAR, Readiness.READ, HANDLER);
            registrations.register(FARTHER, Readiness.READ, HANDLER);
        }

        @Actor
        public void loop(L_Result result) {
            boolean found = true;
            for (int i = 0; i < 4; i++) {
                found &= registrations.find(event) != null;
            }
            result.r1 = found ? "found" : "nobody";
        }
    }

    /// Catches a table that grows outside the lock: one of two entries would be left in the old one; and a
    /// generation that two threads raise at once.
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Both are there.")
    @Outcome(expect = FORBIDDEN, desc = "One is gone, or both have one generation.")
    @State
    public static class TwoRegister {
        private final CountingKernel kernel = new CountingKernel();
        private final Registrations registrations = new EpollRegistrations(kernel, EPFD);

        @Actor
        public void a() {
            registrations.register(FAR, Readiness.READ, HANDLER);
        }

        @Actor
        public void b() {
            registrations.register(FARTHER, Readiness.READ, HANDLER);
        }

        @Arbiter
        public void rest(II_Result result) {
            result.r1 = generationsOf(FAR);
            result.r2 = generationsOf(FARTHER);
        }

        /// Under how many of the two generations it is found.
        private int generationsOf(int fd) {
            int found = 0;
            for (long generation = 1; generation <= 2; generation++) {
                if (registrations.find((generation << 32) | fd) != null) {
                    found++;
                }
            }
            return found;
        }
    }

    /// Catches a change that reaches the kernel after the epoll was closed, when its number may be someone
    /// else's.
    @JCStressTest
    @Outcome(id = "done, 0", expect = ACCEPTABLE, desc = "The change came first.")
    @Outcome(id = "refused, 0", expect = ACCEPTABLE, desc = "The close came first.")
    @Outcome(expect = FORBIDDEN, desc = "The kernel was called after the close.")
    @State
    public static class RegisterAgainstClose {
        private final CountingKernel kernel = new CountingKernel();
        private final Registrations registrations = new EpollRegistrations(kernel, EPFD);

        @Actor
        public void other(LI_Result result) {
            try {
                registrations.register(FIRST, Readiness.READ, HANDLER);
                result.r1 = "done";
            } catch (LoopTerminatedException e) {
                result.r1 = "refused";
            }
            registrations.deregister(FIRST, HANDLER);
        }

        @Actor
        public void closer() {
            registrations.close();
            kernel.close(EPFD);
        }

        @Arbiter
        public void rest(LI_Result result) {
            result.r2 = kernel.late();
        }
    }
}
