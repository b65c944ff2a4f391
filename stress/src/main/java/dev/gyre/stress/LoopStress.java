package dev.gyre.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.LoopAlreadyRunningException;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.base.InternalTask;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopObserver;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;

/// A whole [Loop] without a kernel: which thread may run it, and how it terminates.
public final class LoopStress {
    private static final LoopConfig CONFIG =
            LoopConfig.DEFAULT.withHighWaterMark(64).withObserver(new LoopObserver() {});
    private static final Duration LONG = Duration.ofDays(1);

    private LoopStress() {}

    private static Loop open(OneBitBackend backend) {
        return Loop.open(CONFIG, backend);
    }

    /// A run that only the other actor ends.
    ///
    /// @return how it ended
    private static String run(Loop loop) {
        try {
            loop.run();
            return "ran";
        } catch (LoopTerminatedException e) {
            return "refused";
        }
    }

    private static ShutdownReport report(Loop loop) {
        return loop.shutdown(LONG).toCompletableFuture().getNow(NEVER);
    }

    private static final ShutdownReport NEVER =
            new ShutdownReport(false, -1, -1, -1, -1, -1, -1, -1, -1, -1);

    /// What ran on the loop, and whether ever two at a time.
    private static final class Work implements Runnable {
        // The loop thread, whichever that is: never two at a time, and each sees what the last did.
        private int count;
        private boolean busy;
        private boolean overlapped;

        @Override
        public void run() {
            overlapped |= busy;
            busy = true;
            count++;
            busy = false;
        }

        String verdict(int expected) {
            return overlapped ? "overlapped" : count == expected ? "each once" : "ran " + count;
        }
    }

    /// Catches two threads in one loop, a loop that neither may run, and a run that leaves so early
    /// that the next one misses what it did.
    @JCStressTest
    @Outcome(id = "1, refused, each once", expect = ACCEPTABLE, desc = "B met A in the loop.")
    @Outcome(id = "refused, 1, each once", expect = ACCEPTABLE, desc = "A met B in the loop.")
    @Outcome(id = "1, 0, each once", expect = ACCEPTABLE, desc = "A ran, then B found nothing.")
    @Outcome(id = "0, 1, each once", expect = ACCEPTABLE, desc = "B ran, then A found nothing.")
    @Outcome(expect = FORBIDDEN, desc = "Both ran it, or nobody did.")
    @State
    public static class TwoRuns {
        private final Loop loop = open(new OneBitBackend());
        private final Work work = new Work();

        public TwoRuns() {
            loop.submit(work);
        }

        @Actor
        public void a(LLL_Result result) {
            result.r1 = runUntilEmpty();
        }

        @Actor
        public void b(LLL_Result result) {
            result.r2 = runUntilEmpty();
        }

        @Arbiter
        public void rest(LLL_Result result) {
            result.r3 = loop.state() == LoopState.AWAKE ? work.verdict(1) : loop.state();
        }

        private Object runUntilEmpty() {
            try {
                return loop.runUntilEmpty();
            } catch (LoopAlreadyRunningException e) {
                return "refused";
            }
        }
    }

    /// Catches a wake-up that is lost between submit and stop, a task that is lost or run twice,
    /// and a request to stop that is not used up by the run it ended.
    @JCStressTest
    @Outcome(id = "did not sleep, each once", expect = ACCEPTABLE, desc = "It was told in time.")
    @Outcome(id = "slept until woken, each once", expect = ACCEPTABLE, desc = "It was woken.")
    @Outcome(expect = FORBIDDEN, desc = "Nobody woke it, or a task was lost.")
    @State
    public static class SubmitAndStopAgainstRun {
        private final OneBitBackend backend = new OneBitBackend();
        private final Loop loop = open(backend);
        private final Work work = new Work();

        @Actor
        public void other() {
            loop.submit(work);
            loop.submitPriority(work);
            loop.stop();
            backend.leaveAlone();
        }

        @Actor
        public void runner() {
            loop.run();
        }

        @Arbiter
        public void rest(LL_Result result) {
            // A request that is left over would end this run before it ran anything.
            loop.submit(work);
            loop.runUntilEmpty();
            result.r1 = backend.sleep();
            result.r2 = work.verdict(3);
        }
    }

    /// Catches a loop that starts after its end, one that never ends, and work that is neither run
    /// nor reported.
    @JCStressTest
    @Outcome(id = "ran, 1 run, 0 dropped", expect = ACCEPTABLE, desc = "The run came first.")
    @Outcome(id = "refused, 0 run, 1 dropped", expect = ACCEPTABLE, desc = "The end came first.")
    @Outcome(expect = FORBIDDEN, desc = "It did not end, or not with one account of its work.")
    @State
    public static class ShutdownAgainstRun {
        private final OneBitBackend backend = new OneBitBackend();
        private final Loop loop = open(backend);
        private final Work work = new Work();

        public ShutdownAgainstRun() {
            loop.submit(work);
        }

        @Actor
        public void other() {
            CompletionStage<ShutdownReport> _ = loop.shutdown(LONG);
            backend.leaveAlone();
        }

        @Actor
        public void runner(LLL_Result result) {
            result.r1 = run(loop);
        }

        @Arbiter
        public void rest(LLL_Result result) {
            result.r2 = work.count + " run";
            result.r3 = report(loop).tasks() + " dropped";
            if (backend.sleep().equals(OneBitBackend.OVERSLEPT)) {
                result.r1 = OneBitBackend.OVERSLEPT;
            } else if (loop.state() != LoopState.TERMINATED || backend.closes() != 1) {
                result.r1 = loop.state() + ", closed " + backend.closes() + " times";
            }
        }
    }

    /// Catches a close that waits for an end which nobody brings about: by a run that is just
    /// starting, by one that goes to sleep, or by the closer itself.
    @JCStressTest
    @Outcome(id = "ran", expect = ACCEPTABLE, desc = "The run came first and was ended.")
    @Outcome(id = "refused", expect = ACCEPTABLE, desc = "The close came first.")
    @Outcome(expect = FORBIDDEN, desc = "It did not end.")
    @State
    public static class CloseAgainstRun {
        private final OneBitBackend backend = new OneBitBackend();
        private final Loop loop = open(backend);

        @Actor
        public void other() {
            loop.close();
        }

        @Actor
        public void runner(L_Result result) {
            result.r1 = run(loop);
        }

        @Arbiter
        public void rest(L_Result result) {
            if (backend.sleep().equals(OneBitBackend.OVERSLEPT)) {
                result.r1 = OneBitBackend.OVERSLEPT;
            } else if (loop.state() != LoopState.TERMINATED || backend.closes() != 1) {
                result.r1 = loop.state() + ", closed " + backend.closes() + " times";
            }
        }
    }

    /// Catches a task that is accepted by a loop which has already counted what it drops. Nobody
    /// runs the loop: the closer carries the end out.
    @JCStressTest
    @Outcome(id = "ACCEPTED, accepted, 2", expect = ACCEPTABLE, desc = "Both came in time.")
    @Outcome(id = "ACCEPTED, refused, 1", expect = ACCEPTABLE, desc = "The close came in between.")
    @Outcome(id = "TERMINATED, accepted, 1", expect = ACCEPTABLE, desc = "While it was ending.")
    @Outcome(id = "TERMINATED, refused, 0", expect = ACCEPTABLE, desc = "The close came first.")
    @Outcome(expect = FORBIDDEN, desc = "Accepted and not accounted for, or the other way round.")
    @State
    public static class CloseAgainstSubmit {
        private final Loop loop = open(new OneBitBackend());
        private final Work work = new Work();

        @Actor
        public void producer(LLL_Result result) {
            result.r1 = loop.trySubmit(work);
            result.r2 = submitPriority(loop, work);
        }

        @Actor
        public void closer() {
            loop.close();
        }

        @Arbiter
        public void rest(LLL_Result result) {
            result.r3 = work.count == 0 ? report(loop).abandoned() : "ran " + work.count;
        }
    }

    /// Catches the same on a loop that runs, and ends gracefully from one of its own callbacks:
    /// what is accepted is run, and run before the outcome is known.
    @JCStressTest
    @Outcome(id = "ACCEPTED, accepted, 2 run", expect = ACCEPTABLE, desc = "Both came in time.")
    @Outcome(id = "ACCEPTED, refused, 1 run", expect = ACCEPTABLE, desc = "The end came between.")
    @Outcome(id = "TERMINATED, accepted, 1 run", expect = ACCEPTABLE, desc = "While it was ending.")
    @Outcome(id = "TERMINATED, refused, 0 run", expect = ACCEPTABLE, desc = "The end came first.")
    @Outcome(expect = FORBIDDEN, desc = "Accepted and not run, or the other way round.")
    @State
    public static class ShutdownInRunAgainstSubmit {
        private final Loop loop = open(new OneBitBackend());
        private final Work work = new Work();

        public ShutdownInRunAgainstSubmit() {
            loop.submit(this::shutdown);
        }

        @Actor
        public void producer(LLL_Result result) {
            result.r1 = loop.trySubmit(work);
            result.r2 = submitPriority(loop, work);
        }

        @Actor
        public void runner() {
            loop.run();
        }

        @Arbiter
        public void rest(LLL_Result result) {
            ShutdownReport report = report(loop);
            result.r3 = report.graceful() ? work.count + " run" : report;
        }

        private void shutdown() {
            CompletionStage<ShutdownReport> _ = loop.shutdown(LONG);
        }
    }

    /// Catches a hand-over that is lost or done twice: one loop hands a connection to another that
    /// fails. An accepted internal task runs, also while the loop terminates; a refused one leaves
    /// the connection with the caller.
    @JCStressTest
    @Outcome(id = "accepted, 1", expect = ACCEPTABLE, desc = "Received, if only to pass it on.")
    @Outcome(id = "refused, 0", expect = ACCEPTABLE, desc = "Another loop receives it.")
    @Outcome(expect = FORBIDDEN, desc = "Lost, or received twice.")
    @State
    public static class HandOverAgainstFailure {
        private final Loop loop = open(new OneBitBackend());
        private final AtomicInteger received = new AtomicInteger();

        public HandOverAgainstFailure() {
            loop.submit(
                    () -> {
                        throw new InternalError("provoked");
                    });
        }

        @Actor
        public void acceptor(LL_Result result) {
            boolean taken = loop.trySubmitPriority(new InternalTask(received::incrementAndGet));
            result.r1 = taken ? "accepted" : "refused";
        }

        @Actor
        public void runner() {
            try {
                loop.run();
            } catch (InternalError e) {
                loop.close(); // As a group does with a loop that failed.
            }
        }

        @Arbiter
        public void rest(LL_Result result) {
            result.r2 = received.get();
        }
    }

    /// Catches a termination that runs twice, and a caller without an outcome.
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "One end, with one report.")
    @Outcome(expect = FORBIDDEN, desc = "Ended twice, or not at all.")
    @State
    public static class TwoEnds {
        private final OneBitBackend backend = new OneBitBackend();
        private final Loop loop = open(backend);

        public TwoEnds() {
            loop.submit(IdleTask.IDLE);
        }

        @Actor
        public void graceful() {
            CompletionStage<ShutdownReport> _ = loop.shutdown(LONG);
        }

        @Actor
        public void immediate() {
            loop.close();
        }

        @Arbiter
        public void rest(LL_Result result) {
            result.r1 = backend.closes();
            result.r2 = report(loop).tasks();
        }
    }

    private static String submitPriority(Loop loop, Runnable task) {
        try {
            loop.submitPriority(task);
            return "accepted";
        } catch (LoopTerminatedException e) {
            return "refused";
        }
    }
}
