package dev.gyre.internal.backend.kqueue;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.internal.backend.kqueue.KqueueRegistrations.BrokenPipes;
import dev.gyre.internal.sys.KqueueFlavour;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.L_Result;

import java.util.concurrent.atomic.AtomicBoolean;

/// [BrokenPipes]: recorded by the registering thread, reported by the loop, which reads without the
/// lock.
public final class BrokenPipesStress {
    private static final long FIRST = (1L << 32) | 3;
    private static final long SECOND = (1L << 32) | 4;

    private BrokenPipesStress() {}

    private static int report(BrokenPipes pipes) {
        MergedEvents batch = new MergedEvents(KqueueFlavour.FREEBSD, 8);
        pipes.report(batch);
        return batch.remaining();
    }

    /// Catches a note that the loop is woken for before it can see it: it would sleep on.
    @JCStressTest
    @Outcome(id = "not woken yet", expect = ACCEPTABLE, desc = "The loop was first.")
    @Outcome(id = "seen", expect = ACCEPTABLE, desc = "Woken, and there it is.")
    @Outcome(expect = FORBIDDEN, desc = "Woken for nothing: the next wait misses it.")
    @State
    public static class WokenAgainstNoted {
        private final AtomicBoolean woken = new AtomicBoolean();
        private final BrokenPipes pipes = new BrokenPipes(() -> woken.set(true));

        @Actor
        public void other() {
            pipes.add(FIRST, false);
        }

        @Actor
        public void loop(L_Result result) {
            if (!woken.get()) {
                result.r1 = "not woken yet";
            } else {
                result.r1 = pipes.isEmpty() ? "missed" : "seen";
            }
        }
    }

    /// Catches a pipe reported twice or never: two are recorded while the loop reports.
    @JCStressTest
    @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "Each was told once, and nothing is left.")
    @Outcome(expect = FORBIDDEN, desc = "Told twice, lost, or left behind.")
    @State
    public static class NotedAgainstReport {
        private final BrokenPipes pipes = new BrokenPipes(() -> {});

        // The loop's actor, then the arbiter.
        private int told;

        @Actor
        public void other() {
            pipes.add(FIRST, false);
            pipes.add(SECOND, false);
        }

        @Actor
        public void loop() {
            told += report(pipes);
            told += report(pipes);
        }

        @Arbiter
        public void rest(II_Result result) {
            told += report(pipes);
            result.r1 = told;
            result.r2 = pipes.isEmpty() ? 0 : 1;
        }
    }

    /// Catches a flag that is out of step with the list: the loop would spin, or never check.
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The one that was not forgotten is there.")
    @Outcome(expect = FORBIDDEN, desc = "The flag says otherwise than the table.")
    @State
    public static class NotedAgainstForgotten {
        private final BrokenPipes pipes = new BrokenPipes(() -> {});

        public NotedAgainstForgotten() {
            pipes.add(FIRST, true);
        }

        @Actor
        public void a() {
            pipes.remove(3);
        }

        @Actor
        public void b() {
            pipes.add(SECOND, true);
        }

        @Arbiter
        public void rest(II_Result result) {
            result.r1 = pipes.isEmpty() ? 0 : 1;
            result.r2 = report(pipes);
        }
    }
}
