package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

/// Promises and blocking work when the loop terminates.
@Timeout(120)
class PromiseShutdownTest {
    private static final Duration LONG = Duration.ofHours(1);

    private final List<Throwable> unhandled = new CopyOnWriteArrayList<>();
    private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
    private final LoopConfig config =
            LoopConfig.DEFAULT
                    .withUncaughtHandler((thread, thrown) -> uncaught.add(thrown))
                    .withObserver(
                            new LoopObserver() {
                                @Override
                                public void onUnhandledRejection(
                                        EventLoop loop, Promise<?> promise, Throwable reason) {
                                    unhandled.add(reason);
                                }
                            });
    private final EventLoop loop = EventLoop.open(config);
    private final List<String> log = new CopyOnWriteArrayList<>();

    @AfterEach
    void closeLoop() {
        loop.close();
        assertThat(unhandled).as("the end is nobody's mistake").isEmpty();
        assertThat(loop.metrics().awaited()).isZero();
    }

    private ShutdownReport report() {
        return loop.shutdown(LONG).toCompletableFuture().join();
    }

    /// Work that blocks until it is released or interrupted.
    private static final class Blocked implements BlockingWork<String> {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch mayEnd = new CountDownLatch(1);
        final CountDownLatch interrupted = new CountDownLatch(1);

        /// For callbacks, which may not throw the checked exception.
        void awaitBegun() {
            try {
                begun.await();
            } catch (InterruptedException e) {
                throw new AssertionError("who interrupts the loop thread?", e);
            }
        }

        @Override
        public String run(Cancellation cancellation) throws InterruptedException {
            begun.countDown();
            try {
                mayEnd.await();
            } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
            }
            return "result";
        }
    }

    /// Runs the loop on a thread of its own until it waits for work in a graceful shutdown.
    private Thread runIntoTheWait(Duration deadline) {
        loop.submit(() -> loop.shutdown(deadline));
        Thread runner = Thread.ofPlatform().start(loop::run);
        untilItSleeps(runner, 0);
        return runner;
    }

    /// Waits until the draining loop has gone to sleep more often than before.
    private void untilItSleeps(Thread runner, long before) {
        while (loop.state() != LoopState.TERMINATING || loop.metrics().sleeps() <= before) {
            assertThat(runner.isAlive()).as("the drain awaits the work").isTrue();
            Thread.onSpinWait();
        }
    }

    private static void assertEnded(CompletableFuture<?> future) {
        assertThatThrownBy(future::get)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(LoopTerminatedException.class);
    }

    private static void assertEnded(Promise<?> promise) {
        assertThat(promise.outcome()).isInstanceOf(Outcome.Rejected.class);
        assertThat(((Outcome.Rejected<?>) promise.outcome()).reason())
                .isInstanceOf(LoopTerminatedException.class);
    }

    private static Promise<String> following(EventLoop loop, Promise<String> leader) {
        Deferred<String> follower = loop.deferred();
        follower.follow(leader);
        return follower.promise();
    }

    // ------------------------------------------------------------------ waiting for work

    @Test
    @Clause({"S-1", "P-1", "P-5"})
    void shutdown_waitingForWork_firesItsTimeoutsAndDeadlines() {
        Cancellation deadline = Cancellation.after(loop, Duration.ofMillis(20));
        Blocked limited = new Blocked();
        loop.promisify(deadline, limited).recover(CancelledException.class, e -> "");
        CancellationSource source = new CancellationSource();
        Blocked guarded = new Blocked();
        loop.promisify(source.cancellation(), guarded)
                .orTimeout(Duration.ofMillis(20))
                .recover(
                        TimeoutException.class,
                        e -> {
                            source.cancel("it takes too long");
                            return "";
                        });
        loop.defer(() -> loop.shutdown(LONG));
        loop.run();
        assertThat(report().graceful()).as("nothing had to be abandoned").isTrue();
        assertThat(deadline.isCancelled()).isTrue();
        assertThat(source.cancellation().isCancelled()).isTrue();
    }

    @Test
    @Clause({"S-1", "P-2"})
    void shutdown_waitsForWorkAndRunsItsHandlersBeforeTheEnd() throws InterruptedException {
        Blocked work = new Blocked();
        loop.promisify(work)
                .then(value -> log.add(value + " " + loop.state()))
                .thenCompose(added -> loop.promisify(c -> "more work"))
                .then(value -> log.add(value + " " + loop.state()));
        Thread runner = runIntoTheWait(LONG);
        work.mayEnd.countDown();
        runner.join();
        assertThat(log).containsExactly("result TERMINATING", "more work TERMINATING");
        assertThat(report()).isEqualTo(new ShutdownReport(true, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    }

    @Test
    @Clause({"S-1", "P-4"})
    void shutdown_waitsForAStage() throws InterruptedException {
        CompletableFuture<String> stage = new CompletableFuture<>();
        Promise.<String>from(loop, stage).thenAccept(log::add);
        Thread runner = runIntoTheWait(LONG);
        stage.complete("stage");
        runner.join();
        assertThat(log).containsExactly("stage");
        assertThat(report().graceful()).isTrue();
    }

    @Test
    @Clause({"S-1", "P-5"})
    void shutdown_thatWaits_endsWhenTheWorkIsCancelled() throws InterruptedException {
        Blocked work = new Blocked();
        CancellationSource source = new CancellationSource();
        loop.promisify(source.cancellation(), work)
                .recover(CancelledException.class, e -> "cancelled")
                .thenAccept(log::add);
        Thread runner = runIntoTheWait(LONG);
        source.cancel();
        runner.join();
        assertThat(log).containsExactly("cancelled");
        assertThat(report().graceful()).isTrue();
    }

    @Test
    @Clause("S-1")
    void shutdown_whoseThreadIsInterruptedWhileItWaits_waitsOn() throws InterruptedException {
        Blocked work = new Blocked();
        loop.promisify(work).thenAccept(log::add);
        CompletableFuture<Boolean> interruptedAfter = new CompletableFuture<>();
        loop.submit(() -> loop.shutdown(LONG));
        Thread runner =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    loop.run();
                                    interruptedAfter.complete(Thread.interrupted());
                                });
        untilItSleeps(runner, 0);
        long sleeps = loop.metrics().sleeps();
        runner.interrupt();
        loop.submitPriority(() -> {}); // Wakes the loop, which then sleeps again.
        untilItSleeps(runner, sleeps);
        long polls = loop.metrics().polls() + loop.metrics().sleeps();
        Thread.sleep(100);
        assertThat(loop.metrics().polls() + loop.metrics().sleeps() - polls)
                .as("polls of an interrupted drain in 100 ms")
                .isLessThan(50);
        work.mayEnd.countDown();
        runner.join();
        assertThat(log).containsExactly("result");
        assertThat(interruptedAfter.join())
                .as("the interrupt is left to the caller of run")
                .isTrue();
    }

    @Test
    @Clause({"S-2", "P-2", "R-2"})
    void shutdown_pastItsDeadline_rejectsTheWorkAndInterruptsIt() throws InterruptedException {
        Blocked work = new Blocked();
        Promise<String> promise = loop.promisify(work);
        Promise<String> step = promise.then(value -> "handled" + log.add("then"));
        promise.finallyRun(() -> log.add("finally"));
        CompletableFuture<String> future = promise.toFuture();
        work.begun.await();
        loop.submit(() -> loop.shutdown(Duration.ofMillis(1)));
        loop.run();
        work.interrupted.await();
        assertEnded(future);
        assertEnded(step);
        assertThat(log).as("past the deadline no handler runs").isEmpty();
        assertThat(report()).isEqualTo(new ShutdownReport(false, 0, 0, 0, 0, 1, 3, 0, 0, 0));
        assertThat(report().abandoned()).isEqualTo(1);
    }

    @Test
    @Clause({"S-3", "P-2"})
    void close_whileAShutdownWaitsForWork_hurriesIt() throws InterruptedException {
        Blocked work = new Blocked();
        Promise<String> promise = loop.promisify(work);
        Thread runner = runIntoTheWait(LONG);
        work.begun.await(); // What has not begun is not interrupted, only never run.
        loop.close();
        runner.join();
        work.interrupted.await();
        assertEnded(promise);
        assertThat(report().graceful()).isFalse();
        assertThat(report().work()).isEqualTo(1);
    }

    // ------------------------------------------------------------------ closing

    @Test
    @Clause({"S-3", "R-2", "P-4"})
    void close_whileRunning_rejectsAllWithoutHandlersAndTellsWhoeverWaits()
            throws InterruptedException {
        Blocked work = new Blocked();
        List<CompletableFuture<String>> futures = new CopyOnWriteArrayList<>();
        loop.submit(
                () -> {
                    Promise<String> working = loop.promisify(work);
                    Promise<String> pending = loop.<String>deferred().promise();
                    Promise<String> step = pending.recover(e -> "recover" + log.add("recover"));
                    working.finallyRun(() -> log.add("finally"));
                    futures.add(working.toFuture());
                    futures.add(step.toFuture());
                    // From another thread: these subscriptions are still queued on termination.
                    CompletableFuture.runAsync(
                                    () -> {
                                        futures.add(working.toFuture());
                                        futures.add(pending.toFuture());
                                        futures.add(step.toFuture());
                                    })
                            .join();
                    work.awaitBegun(); // What has not begun is not interrupted, only never run.
                    loop.close();
                });
        loop.run();
        assertThat(futures).hasSize(5).allSatisfy(PromiseShutdownTest::assertEnded);
        work.interrupted.await();
        assertThat(log).isEmpty();
        assertThat(report()).isEqualTo(new ShutdownReport(false, 0, 0, 0, 0, 1, 4, 0, 0, 0));
    }

    @Test
    @Clause({"S-3", "S-4", "P-4"})
    void close_ofALoopNeverRun_rejectsWakesAndInterrupts() throws InterruptedException {
        Blocked work = new Blocked();
        Promise<String> working = loop.promisify(work);
        Deferred<String> deferred = loop.deferred();
        List<CompletableFuture<Throwable>> waiters = new ArrayList<>();
        for (Promise<String> each : List.of(working, deferred.promise())) {
            CompletableFuture<Throwable> waiter = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> waiter.complete(catchThrowable(each::await)));
            waiters.add(waiter);
        }
        while (loop.metrics().queuedPriorityTasks() < 2) {
            Thread.onSpinWait();
        }
        work.begun.await();
        loop.close();
        work.interrupted.await();
        for (CompletableFuture<Throwable> waiter : waiters) {
            assertThat(waiter.join())
                    .isInstanceOf(CompletionException.class)
                    .hasCauseInstanceOf(LoopTerminatedException.class);
        }
        assertThat(report()).isEqualTo(new ShutdownReport(false, 0, 0, 0, 0, 1, 2, 0, 0, 0));
        assertThatThrownBy(deferred.promise()::await)
                .as("whoever comes after the end is told at once")
                .hasCauseInstanceOf(LoopTerminatedException.class);
        assertThat(deferred.resolve("too late")).isFalse();
    }

    @Test
    @Clause({"S-3", "P-2"})
    void close_withAResultInTheLane_deliversItToWhoeverWaits() {
        ScriptedExecutor executor = new ScriptedExecutor();
        Promise<String> promise =
                loop.promisify(executor, Cancellation.none(), c -> "just in time");
        CompletableFuture<String> before = promise.toFuture();
        executor.runNext();
        CompletableFuture<String> after = promise.toFuture();
        promise.thenAccept(log::add);
        loop.close();
        assertThat(before.join()).isEqualTo("just in time");
        assertThat(after.join()).isEqualTo("just in time");
        assertThat(log).isEmpty();
        assertThat(report().work()).isZero();
        assertThat(report().priorityTasks()).as("deliveries are not dropped tasks").isZero();
    }

    @Test
    @Clause({"S-3", "P-2"})
    void close_withWorkThatHasNotBegun_keepsItFromBeginning() {
        ScriptedExecutor executor = new ScriptedExecutor();
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 1);
        loop.promisify(workers, Cancellation.none(), c -> "run" + log.add("handed over"));
        loop.promisify(workers, Cancellation.none(), c -> "run" + log.add("in the line"));
        loop.close();
        assertThat(workers.waiting()).as("its place is given back").isZero();
        executor.runAll();
        assertThat(log).isEmpty();
        assertThat(workers.running()).isZero();
    }

    @Test
    @Clause({"S-3", "P-2", "P-5"})
    void close_cancelsTheTokenOfTheWorkBeforeItInterrupts() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Throwable> seen = new CompletableFuture<>();
        loop.promisify(
                c -> {
                    begun.countDown();
                    try {
                        return new CountDownLatch(1).getCount() + awaitForEver();
                    } finally {
                        seen.complete(c.reason());
                    }
                });
        begun.await();
        loop.close();
        assertThat(seen.join())
                .isInstanceOf(CancelledException.class)
                .hasCauseInstanceOf(LoopTerminatedException.class);
    }

    private static long awaitForEver() throws InterruptedException {
        new CountDownLatch(1).await();
        return 0;
    }

    @Test
    @Clause({"S-3", "P-5", "L-10"})
    void close_whoseCancellationCallbackThrows_stillRejectsAllAndReports()
            throws InterruptedException {
        IllegalStateException failure = new IllegalStateException("callback of the work");
        CountDownLatch registered = new CountDownLatch(1);
        Promise<String> first =
                loop.promisify(
                        c -> {
                            c.onCancel(
                                    () -> {
                                        throw failure;
                                    });
                            registered.countDown();
                            return "" + awaitForEver();
                        });
        Promise<String> second = loop.promisify(new Blocked());
        Promise<String> third = loop.<String>deferred().promise();
        registered.await();
        loop.close();
        assertThat(List.of(first, second, third)).allSatisfy(PromiseShutdownTest::assertEnded);
        assertThat(uncaught).containsExactly(failure);
        assertThat(report()).isEqualTo(new ShutdownReport(false, 0, 0, 0, 0, 2, 3, 0, 0, 0));
    }

    @Test
    @Clause({"S-3", "P-5"})
    void close_holdsNoLockWhileCancellationCallbacksRun() throws InterruptedException {
        CountDownLatch registered = new CountDownLatch(1);
        loop.promisify(
                c -> {
                    c.onCancel(
                            () -> {
                                Throwable refused =
                                        CompletableFuture.supplyAsync(
                                                        () -> catchThrowable(loop::deferred))
                                                .join();
                                log.add(refused.getClass().getSimpleName());
                            });
                    registered.countDown();
                    return awaitForEver();
                });
        registered.await();
        loop.close();
        assertThat(log).containsExactly("LoopTerminatedException");
    }

    // ------------------------------------------------------------------ pending at the end

    @Test
    @Clause({"R-2", "S-1"})
    void shutdown_rejectsWhatIsPending_andItsHandlersRunInOrderOnTheLoopThread() {
        List<Promise<String>> roots = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            String name = "p" + i;
            Promise<String> root = loop.<String>deferred().promise();
            roots.add(root);
            root.recover(LoopTerminatedException.class, e -> name + " recovered")
                    .thenAccept(value -> log.add(value + " " + loop.isLoopThread()))
                    .finallyRun(() -> log.add(name + " finally"));
        }
        loop.submit(() -> loop.shutdown(LONG));
        loop.run();
        assertThat(roots).allSatisfy(PromiseShutdownTest::assertEnded);
        assertThat(log)
                .containsExactly(
                        "p1 recovered true",
                        "p2 recovered true",
                        "p3 recovered true",
                        "p1 finally",
                        "p2 finally",
                        "p3 finally");
        assertThat(report())
                .as("all work was done; only what was pending is counted")
                .isEqualTo(new ShutdownReport(true, 0, 0, 0, 0, 0, 3, 0, 0, 0));
    }

    @Test
    @Clause({"R-2", "S-1"})
    void shutdown_rejectsWhatWaitsForAnotherLoop_andItsHandlersRun() {
        try (EventLoop other = EventLoop.open(config)) {
            Promise<String> foreign = other.<String>deferred().promise();
            following(loop, foreign).recover(e -> "follower").thenAccept(log::add);
            Promise.any(loop, List.of(foreign)).recover(e -> "any").thenAccept(log::add);
            Promise.allSettled(loop, List.of(foreign, loop.<String>deferred().promise()))
                    .then(all -> "settled", e -> "all settled")
                    .thenAccept(log::add);
            loop.submit(() -> loop.shutdown(LONG));
            loop.run();
            assertThat(log).containsExactlyInAnyOrder("follower", "any", "all settled");
            assertThat(foreign.isSettled()).isFalse();
        }
    }

    @Test
    @Clause({"R-2", "S-1"})
    void handler_ofTheEnd_makesNoNewPromisesButMayGoOnWithOldOnes() {
        Promise<String> root = loop.<String>deferred().promise();
        Promise<String> settled = Promise.resolved(loop, "settled");
        root.recover(
                e -> {
                    for (Runnable making :
                            List.<Runnable>of(
                                    loop::deferred,
                                    () -> loop.promisify(c -> 1),
                                    () -> Promise.resolved(loop, 1),
                                    () -> Promise.rejected(loop, e),
                                    () -> Promise.delay(loop, LONG),
                                    () -> Promise.from(loop, new CompletableFuture<>()),
                                    () -> Promise.all(loop, List.of(settled)))) {
                        assertThatThrownBy(making::run)
                                .isInstanceOf(LoopTerminatedException.class)
                                .hasMessageContaining("too late");
                        log.add("refused");
                    }
                    settled.then(value -> log.add("then"));
                    return "recovered";
                });
        loop.submit(() -> loop.shutdown(LONG));
        loop.run();
        assertThat(log).hasSize(8).endsWith("refused", "then");
    }

    @Test
    @Clause({"P-3", "R-2"})
    void handler_ofTheEnd_thatThrowsItsOwn_isReportedAsAnyOther() {
        IllegalStateException own = new IllegalStateException("handler");
        Promise<String> root = loop.<String>deferred().promise();
        root.then(value -> value).finallyRun(() -> {});
        root.recover(
                e -> {
                    throw own;
                });
        loop.submit(() -> loop.shutdown(LONG));
        loop.run();
        assertThat(unhandled).containsExactly(own);
        unhandled.clear();
    }

    @Test
    @Clause({"R-2", "S-1"})
    void shutdown_withHandlersThatAddMicrotasksForEver_endsAtTheDeadline() {
        Promise<String> root = loop.<String>deferred().promise();
        Runnable[] again = new Runnable[1];
        again[0] = () -> loop.microtask(again[0]);
        Promise<String> step =
                root.recover(
                        e -> {
                            again[0].run();
                            return "recovered";
                        });
        loop.submit(() -> loop.shutdown(Duration.ofMillis(20)));
        loop.run();
        assertThat(root.isSettled()).isTrue();
        assertThat(step.isSettled()).isTrue();
        assertThat(report().graceful()).isFalse();
    }

    @Test
    @Clause({"R-2", "S-3"})
    void everyMethod_afterTheEnd_saysSo() {
        Promise<String> promise = loop.<String>deferred().promise();
        loop.close();
        for (Runnable late :
                List.<Runnable>of(
                        loop::deferred,
                        () -> loop.promisify(c -> 1),
                        () -> Promise.resolved(loop, 1),
                        () -> promise.then(value -> value),
                        () -> promise.recover(e -> ""),
                        () -> promise.finallyRun(() -> {}),
                        () -> promise.orTimeout(LONG),
                        () -> promise.cancelOn(Cancellation.none()))) {
            assertThatThrownBy(late::run)
                    .isInstanceOf(LoopTerminatedException.class)
                    .hasMessageContaining("too late");
        }
        assertEnded(promise);
    }

    // ------------------------------------------------------------------ leaks

    @Test
    @Clause({"S-3", "S-4", "P-2"})
    void openPromisifyClose_aThousandTimes_leavesNoThreadAndNoDescriptor()
            throws InterruptedException {
        int count = 1_000;
        cycle(new CountDownLatch(1)); // Loads what is loaded once.
        long descriptors = OpenDescriptors.count();
        int threads = Thread.getAllStackTraces().size();
        CountDownLatch ended = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            cycle(ended);
        }
        ended.await(); // Each worker has been interrupted, or this waits for ever.
        assertThat(OpenDescriptors.count())
                .as("descriptors left behind by %d loops", count)
                .isLessThan(descriptors + 10);
        assertThat(Thread.getAllStackTraces().size())
                .as("threads left behind by %d loops", count)
                .isLessThan(threads + 10);
    }

    private void cycle(CountDownLatch ended) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        try (EventLoop cycled = EventLoop.open(config)) {
            cycled.promisify(
                    c -> {
                        try {
                            begun.countDown();
                            return awaitForEver();
                        } finally {
                            ended.countDown();
                        }
                    });
            begun.await();
        }
    }

    // ------------------------------------------------------------------ at the last moment

    /// A task that runs between the last poll of the lane and its closing may start work. The loop
    /// does not receive the result of that work.
    @Test
    @Clause({"S-1", "P-2"})
    void shutdown_againstATaskThatBeginsWork_waitsForItOrGivesItUp() throws InterruptedException {
        for (int round = 0; round < 1_000; round++) {
            EventLoop ending = EventLoop.open(config.withObserver(new LoopObserver() {}));
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch over = new CountDownLatch(1);
            BlockingWork<String> work =
                    cancellation -> {
                        begun.countDown();
                        try {
                            if (ending.state() == LoopState.TERMINATED) {
                                new CountDownLatch(1).await();
                            }
                            return "in time";
                        } finally {
                            over.countDown();
                        }
                    };
            List<Promise<String>> made = new CopyOnWriteArrayList<>();
            int spins = round % 300;
            Thread submitter =
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        while (ending.state() == LoopState.AWAKE) {
                                            Thread.onSpinWait();
                                        }
                                        for (int spin = 0; spin < spins; spin++) {
                                            Thread.onSpinWait();
                                        }
                                        try {
                                            ending.submitPriority(
                                                    () -> made.add(ending.promisify(work)));
                                        } catch (LoopTerminatedException e) {
                                            assertThat(ending.state())
                                                    .isEqualTo(LoopState.TERMINATED);
                                        }
                                    });
            ending.submit(() -> ending.shutdown(LONG));
            ending.run();
            submitter.join();
            ShutdownReport report = ending.shutdown(LONG).toCompletableFuture().join();
            for (Promise<String> promise : made) {
                boolean inTime = promise.outcome() instanceof Outcome.Resolved<String>;
                assertThat(report.work()).as("given up: %s", promise).isEqualTo(inTime ? 0 : 1);
                assertThat(report.graceful()).isEqualTo(inTime);
            }
            if (begun.getCount() == 0) {
                over.await(); // What has begun is interrupted if nobody waits for it.
            }
        }
    }

    @Test
    @Clause({"R-2", "P-3"})
    void shutdown_withAnyOfSeveralPending_isNobodysMistakeEither() {
        Deferred<String> first = loop.deferred();
        Deferred<String> second = loop.deferred();
        Promise<String> any = Promise.any(loop, List.of(first.promise(), second.promise()));
        loop.submit(() -> second.reject(new IllegalStateException("no hope but the first")));
        loop.submit(() -> loop.shutdown(LONG));
        loop.run();
        assertThat(any.outcome()).isInstanceOf(Outcome.Rejected.class);
        assertThat(((Outcome.Rejected<?>) any.outcome()).reason())
                .isInstanceOf(AllRejectedException.class);
    }

    @Test
    @Clause({"R-2", "P-1"})
    void shutdown_withACombinationPending_letsItSeeWhatBecomesOfItsSources() {
        Deferred<String> pending = loop.deferred();
        Promise<String> settled = Promise.resolved(loop, "settled");
        Promise<List<Outcome<String>>> all =
                Promise.allSettled(loop, List.of(settled, pending.promise()));
        loop.submit(() -> loop.shutdown(LONG));
        loop.run();
        assertEnded(pending.promise());
        assertThat(all.outcome())
                .isEqualTo(
                        new Outcome.Resolved<>(
                                List.of(settled.outcome(), pending.promise().outcome())));
    }

    /// The timer queue has no lock, and a thread that sets the loop up may be using it.
    @Test
    @Clause({"S-4", "R-2"})
    void close_ofALoopNeverRun_leavesItsTimersAlone() throws InterruptedException {
        Promise<?> delay = Promise.delay(loop, LONG);
        Promise<?> guard = loop.<String>deferred().promise().orTimeout(LONG);
        Thread ending = Thread.ofPlatform().start(loop::close);
        ending.join();
        assertEnded(delay);
        assertEnded(guard);
        assertThat(report().timers()).isEqualTo(2);
    }
}
