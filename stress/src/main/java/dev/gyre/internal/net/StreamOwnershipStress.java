package dev.gyre.internal.net;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LZ_Result;

/// A connection that moves between loops while another thread aborts it.
public final class StreamOwnershipStress {
    private StreamOwnershipStress() {}

    private static final class Moved extends StreamOwnership<String> {
        Moved() {
            super("old");
        }
    }

    /// Catches an abort that neither the owner nor the loop of the arrival notices. An abort that
    /// is sent to the old loop is noticed at the arrival, because that loop owns it no more.
    @JCStressTest
    @Outcome(id = "new, false", expect = ACCEPTABLE, desc = "the new owner gets the request")
    @Outcome(id = "new, true", expect = ACCEPTABLE, desc = "both: closing is idempotent")
    @Outcome(id = "old, true", expect = ACCEPTABLE, desc = "found at the arrival")
    @Outcome(id = "null, true", expect = ACCEPTABLE, desc = "found at the arrival")
    @Outcome(expect = FORBIDDEN, desc = "the request is lost")
    @State
    public static class AbortWhileMoving {
        private final Moved connection = new Moved();

        /// The two loops: the lane orders the departure before the arrival.
        @Actor
        public void move(LZ_Result result) {
            connection.inTransit();
            result.r2 = connection.arrivedOn("new");
        }

        /// A listener that drains.
        @Actor
        public void abort(LZ_Result result) {
            result.r1 = connection.requestAbort();
        }
    }
}
