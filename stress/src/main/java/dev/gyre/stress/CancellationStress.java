package dev.gyre.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.Cancellation;
import dev.gyre.Cancellation.Registration;
import dev.gyre.CancellationSource;
import dev.gyre.CancelledException;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;

import java.util.concurrent.atomic.AtomicInteger;

/// Cancellations of sources, and those linked to them: cancelled once, and each callback run once.
public final class CancellationStress {
    private CancellationStress() {}

    private static String messageOf(Cancellation cancellation) {
        CancelledException reason = cancellation.reason();
        return reason == null ? "none" : String.valueOf(reason.getMessage());
    }

    /// Catches a cancel that looks and stores in two steps.
    @JCStressTest
    @Outcome(id = "true, false, a", expect = ACCEPTABLE, desc = "A did it.")
    @Outcome(id = "false, true, b", expect = ACCEPTABLE, desc = "B did it.")
    @Outcome(expect = FORBIDDEN, desc = "Both did, or neither, or the reason is the loser's.")
    @State
    public static class CancelAgainstCancel {
        private final CancellationSource source = new CancellationSource();

        @Actor
        public void a(LLL_Result result) {
            result.r1 = source.cancel("a");
        }

        @Actor
        public void b(LLL_Result result) {
            result.r2 = source.cancel("b");
        }

        @Arbiter
        public void rest(LLL_Result result) {
            result.r3 = messageOf(source.cancellation());
        }
    }

    /// Catches a callback that is added after the last one was taken, and one that is both added
    /// and run at once.
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "By the one or the other.")
    @Outcome(expect = FORBIDDEN, desc = "Lost, or run twice.")
    @State
    public static class CancelAgainstOnCancel {
        private final CancellationSource source = new CancellationSource();
        private final AtomicInteger runs = new AtomicInteger();

        @Actor
        public void canceller() {
            source.cancel();
        }

        @Actor
        public void listener() {
            source.cancellation().onCancel(runs::incrementAndGet);
        }

        @Arbiter
        public void rest(L_Result result) {
            result.r1 = runs.get();
        }
    }

    /// Catches a callback that runs although its registration was closed before the cancel began,
    /// one that runs twice, and a neighbour that is lost when the list is changed at both ends.
    @JCStressTest
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "Closed before its turn.")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "Its turn came first.")
    @Outcome(
            expect = FORBIDDEN,
            desc = "Run after the close, or run twice, or the wrong one closed.")
    @State
    public static class CancelAgainstClose {
        private final CancellationSource source = new CancellationSource();
        private final AtomicInteger runs = new AtomicInteger();
        private final AtomicInteger neighbours = new AtomicInteger();
        private final Registration registration;

        // Shared: written by the closing actor when close has returned, read by the other.
        private volatile boolean closed;

        public CancelAgainstClose() {
            registration = source.cancellation().onCancel(runs::incrementAndGet);
            source.cancellation().onCancel(neighbours::incrementAndGet);
        }

        @Actor
        public void canceller() {
            boolean closedBefore = closed;
            source.cancel();
            if (closedBefore && runs.get() != 0) {
                runs.set(-1);
            }
        }

        @Actor
        public void closer() {
            registration.close();
            closed = true;
        }

        @Arbiter
        public void rest(LL_Result result) {
            result.r1 = runs.get();
            result.r2 = neighbours.get();
        }
    }

    /// Two sources and a token linked to both.
    private static final class Pair {
        final CancellationSource a = new CancellationSource();
        final CancellationSource b = new CancellationSource();
        final Cancellation either = Cancellation.anyOf(a.cancellation(), b.cancellation());
        final AtomicInteger runs = new AtomicInteger();

        Registration listen() {
            return either.onCancel(runs::incrementAndGet);
        }
    }

    /// Catches a first listener for whom the linked cancellation registers too late, and one whom
    /// both the parent and the look tell.
    @JCStressTest
    @Outcome(id = "1, b", expect = ACCEPTABLE, desc = "By the one or the other.")
    @Outcome(expect = FORBIDDEN, desc = "Lost, or run twice.")
    @State
    public static class ParentCancelAgainstFirstListener {
        private final Pair pair = new Pair();

        @Actor
        public void canceller() {
            pair.b.cancel("b");
        }

        @Actor
        public void listener() {
            pair.listen();
        }

        @Arbiter
        public void rest(LL_Result result) {
            result.r1 = pair.runs.get();
            result.r2 = messageOf(pair.either);
        }
    }

    /// Catches a listener whom both parents tell, and a look that sees another reason later.
    @JCStressTest
    @Outcome(id = "1, one reason", expect = ACCEPTABLE, desc = "By one of them.")
    @Outcome(expect = FORBIDDEN, desc = "Told twice or never, or the reason changed.")
    @State
    public static class BothParentsCancelled {
        private final Pair pair = new Pair();

        // Shared: written by one actor, read by the arbiter.
        private @Nullable CancelledException seen;

        public BothParentsCancelled() {
            pair.listen();
        }

        @Actor
        public void a() {
            pair.a.cancel("a");
        }

        @Actor
        public void b() {
            pair.b.cancel("b");
            seen = pair.either.reason();
        }

        @Arbiter
        @SuppressWarnings("ReferenceEquality") // the same instance every time
        public void rest(LL_Result result) {
            result.r1 = pair.runs.get();
            CancelledException reason = pair.either.reason();
            result.r2 = reason != null && reason == seen ? "one reason" : seen + " " + reason;
        }
    }

    /// Catches a linked cancellation that takes itself off its parents when its last listener goes,
    /// and is not there again for the next one; and two locks that are taken in both orders.
    @JCStressTest
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "The first one left in time.")
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "The cancel came first.")
    @Outcome(expect = FORBIDDEN, desc = "A listener was lost or told twice.")
    @State
    public static class ParentCancelAgainstChangeOfListeners {
        private final Pair pair = new Pair();
        private final Registration first = pair.listen();
        private final AtomicInteger secondRuns = new AtomicInteger();

        @Actor
        public void canceller() {
            pair.a.cancel();
        }

        @Actor
        public void listener() {
            first.close();
            pair.either.onCancel(secondRuns::incrementAndGet);
        }

        @Arbiter
        public void rest(LL_Result result) {
            result.r1 = pair.runs.get();
            result.r2 = secondRuns.get();
        }
    }

    /// Catches a linked source that claims to have cancelled what its parent has.
    @JCStressTest
    @Outcome(id = "true, own", expect = ACCEPTABLE, desc = "It was quicker.")
    @Outcome(id = "false, parent's", expect = ACCEPTABLE, desc = "Its parent was.")
    @Outcome(expect = FORBIDDEN, desc = "The answer and the reason differ.")
    @State
    public static class LinkedSourceAgainstParent {
        private final CancellationSource parent = new CancellationSource();
        private final CancellationSource child = CancellationSource.linkedTo(parent.cancellation());

        @Actor
        public void parent() {
            parent.cancel("parent's");
        }

        @Actor
        public void child(LL_Result result) {
            result.r1 = child.cancel("own");
        }

        @Arbiter
        public void rest(LL_Result result) {
            result.r2 = messageOf(child.cancellation());
        }
    }
}
