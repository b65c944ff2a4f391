package dev.gyre.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.BoundedExecutor;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LIL_Result;
import org.openjdk.jcstress.infra.results.LLL_Result;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Level;
import java.util.logging.Logger;

/// [BoundedExecutor]: what is handed in, ended, removed and refused at the same time. The last
/// result is what is left when all has ended, which must be nothing.
public final class BoundedExecutorStress {
    private static final String EMPTY = "BoundedExecutor[0 of 1 running, 0 of 1 waiting]";

    private BoundedExecutorStress() {}

    /// Keeps what it is given until an actor runs it.
    private static final class Hands implements Executor {
        // Shared: filled by any actor, emptied by any.
        private final Queue<Runnable> given = new ConcurrentLinkedQueue<>();

        @Override
        public void execute(Runnable work) {
            given.add(work);
        }

        boolean runNext() {
            Runnable next = given.poll();
            if (next == null) {
                return false;
            }
            next.run();
            return true;
        }
    }

    /// Counts its runs without any ordering of its own: the workers have to order what the runs
    /// of the two actors do.
    private static final class Count implements Runnable {
        int runs;

        @Override
        public void run() {
            runs++;
        }
    }

    private static String left(Hands hands, BoundedExecutor workers) {
        while (hands.runNext()) {
            // Until nothing is handed over any more.
        }
        return workers.toString();
    }

    private static String handIn(BoundedExecutor workers, Runnable work) {
        try {
            workers.execute(work);
            return "accepted";
        } catch (RejectedExecutionException e) {
            return "refused";
        }
    }

    /// Catches a place that is given back after a newcomer saw it taken and before it waits: the
    /// new work would wait forever.
    @JCStressTest
    @Outcome(id = "accepted, 2, " + Left.NOTHING, expect = ACCEPTABLE, desc = "Both have run.")
    @Outcome(expect = FORBIDDEN, desc = "Lost, run twice, or a place is gone.")
    @State
    public static class EndAgainstExecute {
        private final Hands hands = new Hands();
        private final BoundedExecutor workers = BoundedExecutor.bounded(hands, 1, 1);
        private final Count work = new Count();

        public EndAgainstExecute() {
            workers.execute(work);
        }

        @Actor
        public void ender() {
            hands.runNext();
        }

        @Actor
        public void newcomer(LIL_Result result) {
            result.r1 = handIn(workers, work);
        }

        @Arbiter
        public void rest(LIL_Result result) {
            result.r3 = Left.of(left(hands, workers));
            result.r2 = work.runs;
        }
    }

    /// Catches work that is both removed and handed over, or neither.
    @JCStressTest
    @Outcome(id = "removed, 0, " + Left.NOTHING, expect = ACCEPTABLE, desc = "Taken out in time.")
    @Outcome(id = "kept, 1, " + Left.NOTHING, expect = ACCEPTABLE, desc = "Handed over before.")
    @Outcome(expect = FORBIDDEN, desc = "Both, neither, or a place is gone.")
    @State
    public static class EndAgainstRemove {
        private final Hands hands = new Hands();
        private final BoundedExecutor workers = BoundedExecutor.bounded(hands, 1, 1);
        private final Count first = new Count();
        private final Count waiting = new Count();

        public EndAgainstRemove() {
            workers.execute(first);
            workers.execute(waiting);
        }

        @Actor
        public void ender() {
            hands.runNext();
        }

        @Actor
        public void remover(LIL_Result result) {
            result.r1 = workers.remove(waiting) ? "removed" : "kept";
        }

        @Arbiter
        public void rest(LIL_Result result) {
            result.r3 = Left.of(left(hands, workers));
            result.r2 = waiting.runs;
        }
    }

    /// Catches one place, or one place in the line, that is given to two.
    @JCStressTest
    @Outcome(
            id = "accepted, refused, " + Left.NOTHING,
            expect = ACCEPTABLE,
            desc = "The first actor got the place in the line.")
    @Outcome(
            id = "refused, accepted, " + Left.NOTHING,
            expect = ACCEPTABLE,
            desc = "The second actor got it.")
    @Outcome(expect = FORBIDDEN, desc = "Room for both, or for none.")
    @State
    public static class ExecuteAgainstExecute {
        private final Hands hands = new Hands();
        private final BoundedExecutor workers = BoundedExecutor.bounded(hands, 1, 1);

        public ExecuteAgainstExecute() {
            workers.execute(IdleTask.IDLE);
        }

        @Actor
        public void one(LLL_Result result) {
            result.r1 = handIn(workers, IdleTask.IDLE);
        }

        @Actor
        public void other(LLL_Result result) {
            result.r2 = handIn(workers, IdleTask.IDLE);
        }

        @Arbiter
        public void rest(LLL_Result result) {
            result.r3 = Left.of(left(hands, workers));
        }
    }

    /// Catches work that waits for the place of one whom the executor refuses, and is forgotten
    /// with it.
    @JCStressTest
    @Outcome(id = "accepted, refused, 1", expect = ACCEPTABLE, desc = "The second met the refusal.")
    @Outcome(id = "refused, accepted, 1", expect = ACCEPTABLE, desc = "The first met the refusal.")
    @Outcome(expect = FORBIDDEN, desc = "Accepted and not run, or refused and run.")
    @State
    public static class RefusalAgainstExecute {
        private final Hands hands = new Hands();
        private final AtomicInteger calls = new AtomicInteger();
        private final BoundedExecutor workers = BoundedExecutor.bounded(this::refuseTheFirst, 1, 1);
        private final Count work = new Count();

        private void refuseTheFirst(Runnable given) {
            if (calls.getAndIncrement() == 0) {
                throw new RejectedExecutionException("the first");
            }
            hands.execute(given);
        }

        @Actor
        public void one(LLL_Result result) {
            result.r1 = handIn(workers, work);
        }

        @Actor
        public void other(LLL_Result result) {
            result.r2 = handIn(workers, work);
        }

        @Arbiter
        public void rest(LLL_Result result) {
            String left = Left.of(left(hands, workers));
            result.r3 = left.equals(Left.NOTHING) ? work.runs : left;
        }
    }

    /// Catches a job that both run which the executor holds, where it took it and threw all the
    /// same.
    @JCStressTest
    @Outcome(id = "ended, ended, 1", expect = ACCEPTABLE, desc = "One of them ran it.")
    @Outcome(expect = FORBIDDEN, desc = "Run twice or not at all, or a place is gone.")
    @State
    public static class RefusedAgainstKept {
        // Kept reachable: a collected logger loses its level.
        private static final Logger LOG = Logger.getLogger("dev.gyre");

        static {
            LOG.setLevel(Level.OFF); // Each round's refusal is worth a warning to others.
        }

        private final Hands hands = new Hands();
        private final AtomicInteger calls = new AtomicInteger();
        private final BoundedExecutor workers =
                BoundedExecutor.bounded(this::keepAndRefuseTheSecond, 1, 1);
        private final AtomicInteger runs = new AtomicInteger();

        public RefusedAgainstKept() {
            workers.execute(IdleTask.IDLE);
            workers.execute(runs::incrementAndGet);
        }

        private void keepAndRefuseTheSecond(Runnable given) {
            hands.execute(given);
            if (calls.getAndIncrement() == 1) {
                throw new IllegalStateException("kept");
            }
        }

        @Actor
        public void ender(LLL_Result result) {
            hands.runNext();
            result.r1 = "ended";
        }

        @Actor
        public void keeper(LLL_Result result) {
            hands.runNext();
            result.r2 = "ended";
        }

        @Arbiter
        public void rest(LLL_Result result) {
            String left = Left.of(left(hands, workers));
            result.r3 = left.equals(Left.NOTHING) ? runs.get() : left;
        }
    }

    /// A short word for what must be left.
    private static final class Left {
        static final String NOTHING = "nothing left";

        private Left() {}

        static String of(String workers) {
            return workers.equals(EMPTY) ? NOTHING : workers;
        }
    }
}
