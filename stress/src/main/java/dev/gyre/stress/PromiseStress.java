package dev.gyre.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.BoundedExecutor;
import dev.gyre.CancellationSource;
import dev.gyre.CancelledException;
import dev.gyre.Deferred;
import dev.gyre.LoopConfig;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Outcome.Rejected;
import dev.gyre.Outcome.Resolved;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopObserver;

import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;

/// Promises where threads meet: work that ends, is cancelled and abandoned at once, and threads
/// that wait for what is just being settled.
public final class PromiseStress {
    private static final LoopConfig CONFIG =
            LoopConfig.DEFAULT.withHighWaterMark(64).withObserver(new LoopObserver() {});
    private static final Duration LONG = Duration.ofDays(1);
    private static final Duration FOR_EVER = Duration.ofSeconds(10);

    private PromiseStress() {}

    private static Loop open() {
        return Loop.open(CONFIG, new OneBitBackend());
    }

    private static String outcomeOf(Promise<String> promise) {
        return switch (promise.outcome()) {
            case null -> "pending";
            case Resolved<String>(String value) -> value;
            case Rejected<String>(CancelledException _) -> "cancelled";
            case Rejected<String>(LoopTerminatedException _) -> "ended";
            case Rejected<String>(Throwable reason) -> reason.toString();
        };
    }

    private static String await(Promise<String> promise) {
        try {
            return promise.await(FOR_EVER);
        } catch (CompletionException e) {
            return outcomeOf(promise);
        } catch (TimeoutException | InterruptedException e) {
            return e.toString();
        }
    }

    private static long abandonedWork(Loop loop) {
        return loop.shutdown(LONG).toCompletableFuture().join().work();
    }

    /// Keeps one piece of work until an actor runs it.
    private static final class Hand implements Executor {
        private @Nullable Runnable given;

        @Override
        public void execute(Runnable work) {
            given = work;
        }

        /// As a pool would: the thread continues with other work.
        ///
        /// @return how it finds itself then
        String run() {
            Runnable work = given;
            if (work != null) {
                work.run();
            }
            return Thread.interrupted() ? "interrupted" : "clean";
        }
    }

    /// A loop, and work of its that has been handed over.
    private static final class Scene {
        final Loop loop = open();
        final Hand hand = new Hand();
        final CancellationSource source = new CancellationSource();
        int runs;
        int settlements;
        final Promise<String> promise =
                loop.promisify(hand, source.cancellation(), c -> ++runs > 0 ? "value" : "");

        Scene() {
            promise.finallyRun(() -> settlements++);
        }
    }

    /// Catches a promise that is not settled, a handler that does not run once, and an interrupt
    /// that is meant for the work but reaches what its thread does next.
    @JCStressTest
    @Outcome(id = "clean, value, 1", expect = ACCEPTABLE, desc = "The result came first.")
    @Outcome(id = "clean, cancelled, 1", expect = ACCEPTABLE, desc = "The cancellation did.")
    @Outcome(expect = FORBIDDEN, desc = "Not settled once, or an interrupt got away.")
    @State
    public static class CancelAgainstComplete {
        private final Scene scene = new Scene();

        @Actor
        public void worker(LLL_Result result) {
            result.r1 = scene.hand.run();
        }

        @Actor
        public void canceller() {
            scene.source.cancel();
        }

        @Arbiter
        public void rest(LLL_Result result) {
            scene.loop.runUntilEmpty();
            result.r2 = outcomeOf(scene.promise);
            result.r3 = scene.settlements;
        }
    }

    /// Catches a promise that neither settles, work that is counted as abandoned although it was
    /// cancelled, and work that begins all the same.
    @JCStressTest
    @Outcome(id = "cancelled, 0, 0", expect = ACCEPTABLE, desc = "The cancellation came first.")
    @Outcome(id = "ended, 1, 0", expect = ACCEPTABLE, desc = "The close did.")
    @Outcome(expect = FORBIDDEN, desc = "Pending, miscounted, or begun.")
    @State
    public static class CancelAgainstClose {
        private final Scene scene = new Scene();

        @Actor
        public void canceller() {
            scene.source.cancel();
        }

        @Actor
        public void closer() {
            scene.loop.close();
        }

        @Arbiter
        public void rest(LLL_Result result) {
            scene.hand.run();
            result.r1 = outcomeOf(scene.promise);
            result.r2 = abandonedWork(scene.loop);
            result.r3 = scene.runs;
        }
    }

    /// Catches a result that is lost between the lane and the end, and an interrupt by the end that
    /// reaches what the thread does next.
    @JCStressTest
    @Outcome(id = "clean, value, 0", expect = ACCEPTABLE, desc = "The result came first.")
    @Outcome(id = "clean, ended, 1", expect = ACCEPTABLE, desc = "The close did.")
    @Outcome(expect = FORBIDDEN, desc = "Pending, miscounted, or an interrupt got away.")
    @State
    public static class ResultAgainstClose {
        private final Scene scene = new Scene();

        @Actor
        public void worker(LLL_Result result) {
            result.r1 = scene.hand.run();
        }

        @Actor
        public void closer() {
            scene.loop.close();
        }

        @Arbiter
        public void rest(LLL_Result result) {
            result.r2 = outcomeOf(scene.promise);
            result.r3 = abandonedWork(scene.loop);
        }
    }

    /// Catches work that is cancelled while it is enqueued, and stays in the queue.
    @JCStressTest
    @Outcome(id = "0, cancelled, 0", expect = ACCEPTABLE, desc = "Its place is free.")
    @Outcome(expect = FORBIDDEN, desc = "It keeps a place, or begins.")
    @State
    public static class CancelAgainstLine {
        private final Loop loop = open();
        private final BoundedExecutor workers = BoundedExecutor.bounded(new Hand(), 1, 1);
        private final CancellationSource source = new CancellationSource();
        private int runs;

        // Written by the setting-up actor, read by the arbiter.
        private @Nullable Promise<String> promise;

        public CancelAgainstLine() {
            workers.execute(IdleTask.IDLE);
        }

        @Actor
        public void setUp() {
            promise = loop.promisify(workers, source.cancellation(), c -> ++runs > 0 ? "run" : "");
        }

        @Actor
        public void canceller() {
            source.cancel();
        }

        @Arbiter
        public void rest(LLL_Result result) {
            loop.runUntilEmpty();
            result.r1 = workers.waiting();
            result.r2 = promise == null ? "none" : outcomeOf(promise);
            result.r3 = runs;
        }
    }

    /// Catches a thread that starts to wait after the last wake-up.
    @JCStressTest
    @Outcome(id = "value", expect = ACCEPTABLE, desc = "It was told, or saw for itself.")
    @Outcome(expect = FORBIDDEN, desc = "It waits for ever.")
    @State
    public static class AwaitAgainstSettle {
        private final Loop loop = open();
        private final Deferred<String> deferred = loop.deferred();

        public AwaitAgainstSettle() {
            loop.submit(() -> deferred.resolve("value"));
        }

        @Actor
        public void waiter(L_Result result) {
            result.r1 = await(deferred.promise());
        }

        @Actor
        public void runner() {
            loop.runUntilEmpty();
        }
    }

    /// Catches the same at the termination of a loop that is not running.
    @JCStressTest
    @Outcome(id = "ended", expect = ACCEPTABLE, desc = "It was told, or saw for itself.")
    @Outcome(expect = FORBIDDEN, desc = "It waits for ever.")
    @State
    public static class AwaitAgainstClose {
        private final Loop loop = open();
        private final Deferred<String> deferred = loop.deferred();

        @Actor
        public void waiter(L_Result result) {
            result.r1 = await(deferred.promise());
        }

        @Actor
        public void closer() {
            loop.close();
        }
    }

    /// Catches the same at the end of a loop that runs and ends gracefully.
    @JCStressTest
    @Outcome(id = "ended", expect = ACCEPTABLE, desc = "It was told, or saw for itself.")
    @Outcome(expect = FORBIDDEN, desc = "It waits for ever.")
    @State
    public static class AwaitAgainstShutdownInRun {
        private final Loop loop = open();
        private final Deferred<String> deferred = loop.deferred();

        public AwaitAgainstShutdownInRun() {
            loop.submit(this::shutdown);
        }

        @Actor
        public void waiter(L_Result result) {
            result.r1 = await(deferred.promise());
        }

        @Actor
        public void runner() {
            loop.run();
        }

        private void shutdown() {
            CompletionStage<ShutdownReport> _ = loop.shutdown(LONG);
        }
    }

    /// Catches a promise created while another thread terminates the loop, and never settled.
    @JCStressTest
    @Outcome(id = "ended", expect = ACCEPTABLE, desc = "Made in time, then rejected.")
    @Outcome(id = "refused", expect = ACCEPTABLE, desc = "The close came first.")
    @Outcome(expect = FORBIDDEN, desc = "Pending for ever.")
    @State
    public static class MakeAgainstClose {
        private final Loop loop = open();

        // Written by the setting-up actor, read by the arbiter.
        private @Nullable Promise<String> promise;

        @Actor
        public void setUp() {
            try {
                promise = loop.<String>deferred().promise();
            } catch (LoopTerminatedException e) {
                promise = null;
            }
        }

        @Actor
        public void closer() {
            loop.close();
        }

        @Arbiter
        public void rest(L_Result result) {
            result.r1 = promise == null ? "refused" : outcomeOf(promise);
        }
    }

    /// Catches a settlement by another thread while the loop runs.
    @JCStressTest
    @Outcome(id = "refused, pending", expect = ACCEPTABLE, desc = "It belongs to the loop thread.")
    @Outcome(expect = FORBIDDEN, desc = "Settled off the loop thread.")
    @State
    public static class ResolveWhileRunning {
        private final Loop loop = open();
        private final Deferred<String> deferred = loop.deferred();

        // Shared: each set by one actor, read by the other.
        private volatile boolean running;
        private volatile boolean tried;

        public ResolveWhileRunning() {
            loop.submit(this::stayUntilTried);
        }

        private void stayUntilTried() {
            running = true;
            SpinTimeout timeout = new SpinTimeout();
            while (!tried && !timeout.isOver()) {
                // The loop runs as long as this does.
            }
        }

        @Actor
        public void runner() {
            loop.runUntilEmpty();
        }

        @Actor
        public void other(LL_Result result) {
            SpinTimeout timeout = new SpinTimeout();
            while (!running && !timeout.isOver()) {
                // Until the loop runs.
            }
            try {
                result.r1 = deferred.resolve("off the loop thread");
            } catch (WrongThreadException e) {
                result.r1 = "refused";
            }
            result.r2 = outcomeOf(deferred.promise());
            tried = true;
        }
    }
}
