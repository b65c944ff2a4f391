package dev.gyre.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.internal.time.LoopClock;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// Catches a time that is kept in two halves, and one that follows a source which goes back.
@JCStressTest
@Outcome(id = "whole and in order", expect = ACCEPTABLE, desc = "The clock's promise.")
@Outcome(expect = FORBIDDEN, desc = "A time that never was, or that went back.")
@State
public class LoopClockStress {
    /// Both halves of the word change with every tick.
    private static final long TICK = 0x1_0000_0001L;

    // The loop's actor only: in which order the source tells the times.
    private static final int[] TICKS = {0, 1, 3, 2, 4};
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
        long third = clock.nanos();
        if (!isWhole(first) || !isWhole(second) || !isWhole(third)) {
            result.r1 = "torn: " + first + " " + second + " " + third;
        } else if (first > second || second > third) {
            result.r1 = "back: " + first / TICK + " " + second / TICK + " " + third / TICK;
        } else {
            result.r1 = "whole and in order";
        }
    }

    private static boolean isWhole(long nanos) {
        return nanos % TICK == 0 && nanos / TICK <= 4;
    }
}
