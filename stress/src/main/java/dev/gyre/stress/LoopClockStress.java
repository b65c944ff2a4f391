package dev.gyre.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.internal.time.LoopClock;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

import java.util.concurrent.atomic.AtomicInteger;

/// [LoopClock]: the kept time is whole, and never goes back.
public final class LoopClockStress {
    private static final String IN_ORDER = "whole and in order";

    /// Both halves of the word change with every tick.
    private static final long TICK = 0x1_0000_0001L;

    private LoopClockStress() {}

    private static String verdict(long first, long second) {
        if (first % TICK != 0 || second % TICK != 0) {
            return "torn: " + first + " " + second;
        }
        return first <= second ? IN_ORDER : "back: " + first / TICK + " " + second / TICK;
    }

    /// Catches a time that is kept in two halves, and one that follows a source which goes back.
    @JCStressTest
    @Outcome(id = IN_ORDER, expect = ACCEPTABLE, desc = "The clock's promise.")
    @Outcome(expect = FORBIDDEN, desc = "A time that never was, or that went back.")
    @State
    public static class UpdateAgainstRead {
        private static final int[] TICKS = {0, 1, 3, 2, 4};

        // The loop's actor only: the place in TICKS.
        private int next;
        private final LoopClock clock = new LoopClock(() -> TICKS[next++] * TICK);

        @Actor
        public void loop() {
            clock.update();
            clock.update();
            clock.update();
            clock.update();
        }

        @Actor
        public void reader(L_Result result) {
            long first = clock.nanos();
            long second = clock.nanos();
            result.r1 = verdict(first, second);
        }
    }

    /// Catches an update that looks at the kept time and stores another in two steps: a slow thread would
    /// put back an earlier time over a later one. While the loop does not run, any thread may update.
    @JCStressTest
    @Outcome(id = IN_ORDER, expect = ACCEPTABLE, desc = "The clock's promise.")
    @Outcome(expect = FORBIDDEN, desc = "A time that never was, or that went back.")
    @State
    public static class TwoUpdates {
        // Shared: each call of the source is a tick later.
        private final AtomicInteger ticks = new AtomicInteger();
        private final LoopClock clock = new LoopClock(() -> ticks.getAndIncrement() * TICK);

        @Actor
        public void a() {
            clock.update();
        }

        @Actor
        public void b(L_Result result) {
            clock.update();
            long first = clock.nanos();
            long second = clock.nanos();
            result.r1 = verdict(first, second);
        }

        @Arbiter
        public void rest(L_Result result) {
            long latest = (ticks.get() - 1) * TICK;
            if (clock.nanos() != latest) {
                result.r1 = verdict(latest, clock.nanos());
            }
        }
    }
}
