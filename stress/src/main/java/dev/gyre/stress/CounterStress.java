package dev.gyre.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.internal.base.Counter;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/// [Counter]: what another thread reads is whole and never older than what it has read before.
public final class CounterStress {
    private static final String IN_ORDER = "whole and in order";

    /// Both halves of the word change with every step.
    private static final long STEP = 0x1_0000_0001L;

    private CounterStress() {}

    /// Catches a count that is kept in two halves, and plain reads that the compiler may swap.
    @JCStressTest
    @Outcome(id = IN_ORDER, expect = ACCEPTABLE, desc = "The counter's promise.")
    @Outcome(expect = FORBIDDEN, desc = "A count that never was, or that went back.")
    @State
    public static class AddAgainstRead {
        private final Counter counter = new Counter();

        @Actor
        public void writer() {
            counter.add(STEP);
            counter.add(STEP);
            counter.add(STEP);
        }

        @Actor
        public void reader(L_Result result) {
            long first = counter.get();
            long second = counter.get();
            boolean whole = first % STEP == 0 && second % STEP == 0;
            result.r1 = whole && first <= second ? IN_ORDER : first + " then " + second;
        }

        @Arbiter
        public void rest(L_Result result) {
            if (counter.get() != 3 * STEP) {
                result.r1 = "in the end " + counter.get();
            }
        }
    }
}
