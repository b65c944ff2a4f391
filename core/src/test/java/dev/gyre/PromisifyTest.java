package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/// Where work runs and how its result arrives. `PromisifyCancellationTest` covers cancellation.
@Timeout(60)
class PromisifyTest {
    private static final LoopConfig QUIET =
            LoopConfig.DEFAULT.withName("tested").withObserver(new LoopObserver() {});

    private final EventLoop loop = EventLoop.open(QUIET);
    private final ScriptedExecutor executor = new ScriptedExecutor();
    private final List<String> log = new ArrayList<>();

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    private static Throwable reasonOf(Promise<?> promise) {
        assertThat(promise.outcome())
                .as("%s was to be rejected", promise)
                .isInstanceOf(Outcome.Rejected.class);
        return ((Outcome.Rejected<?>) promise.outcome()).reason();
    }

    // ------------------------------------------------------------------ where it runs

    @Test
    @Clause("P-2")
    void promisify_byDefault_runsOnAVirtualThreadWithATellingName() throws InterruptedException {
        Promise<Thread> ran = loop.promisify(c -> Thread.currentThread());
        loop.runUntilEmpty();
        assertThat(ran.await().isVirtual()).isTrue();
        assertThat(ran.await().getName()).startsWith("gyre-work-");
    }

    @Test
    @Clause("P-2")
    void promisify_onAGivenExecutor_runsThere() throws InterruptedException {
        Executor named = work -> Thread.ofPlatform().name("mine").start(work);
        Promise<String> name =
                loop.promisify(named, Cancellation.none(), c -> Thread.currentThread().getName());
        loop.runUntilEmpty();
        assertThat(name.await()).isEqualTo("mine");
    }

    @Test
    @Clause("P-2")
    void promisify_withAnExecutorInTheConfiguration_runsThere() throws InterruptedException {
        try (EventLoop configured = EventLoop.open(QUIET.withExecutor(executor))) {
            Promise<String> plain = configured.promisify(c -> "plain");
            Promise<String> cancellable =
                    configured.promisify(new CancellationSource().cancellation(), c -> "too");
            assertThat(executor.held()).isEqualTo(2);
            executor.runAll();
            configured.runUntilEmpty();
            assertThat(plain.await()).isEqualTo("plain");
            assertThat(cancellable.await()).isEqualTo("too");
        }
    }

    @Test
    @Clause("P-2")
    void promisify_onAnExecutorThatRunsItInline_settlesAtOnceAndCallsHandlersLater() {
        loop.submit(
                () -> {
                    Promise<String> done =
                            loop.promisify(Runnable::run, Cancellation.none(), c -> "value");
                    log.add("settled " + done.isSettled());
                    done.thenAccept(log::add);
                    log.add("callback over");
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("settled true", "callback over", "value");
        assertThat(loop.metrics().awaited()).isZero();
    }

    @Test
    @Clause("P-2")
    void promisify_onTheLoopItself_isATaskOfTheLoop() throws InterruptedException {
        Promise<Boolean> onLoop =
                loop.promisify(loop, Cancellation.none(), c -> loop.isLoopThread());
        loop.runUntilEmpty();
        assertThat(onLoop.await()).isTrue();
    }

    @Test
    @SuppressWarnings({"NullAway", "DataFlowIssue"})
    void promisify_givenNull_namesTheParameter() {
        Cancellation none = Cancellation.none();
        assertThatNullPointerException().isThrownBy(() -> loop.promisify(null)).withMessage("work");
        assertThatNullPointerException()
                .isThrownBy(() -> loop.promisify(none, null))
                .withMessage("work");
        assertThatNullPointerException()
                .isThrownBy(() -> loop.promisify((Cancellation) null, c -> 1))
                .withMessage("cancellation");
        assertThatNullPointerException()
                .isThrownBy(() -> loop.promisify(null, none, c -> 1))
                .withMessage("executor");
        assertThatNullPointerException()
                .isThrownBy(() -> Promise.from(loop, null))
                .withMessage("stage");
        assertThat(loop.metrics().awaited()).isZero();
        assertThat(loop.runUntilEmpty()).isZero();
    }

    // ------------------------------------------------------------------ how it comes back

    @Test
    @Clause({"P-2", "Q-4"})
    void outcome_comesThroughThePriorityLane_beforeATaskSubmittedEarlier() {
        loop.promisify(executor, Cancellation.none(), c -> "outcome").thenAccept(log::add);
        loop.submit(() -> log.add("task"));
        executor.runNext();
        assertThat(loop.metrics().queuedPriorityTasks()).isEqualTo(1);
        loop.runUntilEmpty();
        assertThat(log).containsExactly("outcome", "task");
        assertThat(loop.metrics().priorityTasks()).isEqualTo(1);
    }

    @Test
    @Clause("P-2")
    void outcome_thatHasArrived_settlesNothingOffTheLoopThread() {
        Promise<String> promise = loop.promisify(executor, Cancellation.none(), c -> "value");
        executor.runNext();
        assertThat(promise.isSettled())
                .as("only the loop thread settles, and it has not run")
                .isFalse();
        loop.runUntilEmpty();
        assertThat(promise.outcome()).isEqualTo(new Outcome.Resolved<>("value"));
    }

    @Test
    @Clause("P-2")
    void work_thatThrows_rejectsWithTheSameThrowableAndItsStack() {
        for (Throwable thrown :
                List.of(
                        new IOException("checked"),
                        new IllegalStateException("unchecked"),
                        new AssertionError("error"),
                        new StackOverflowError("of the machine"))) {
            Promise<Object> promise = loop.promisify(c -> throwFromWork(thrown));
            loop.runUntilEmpty();
            assertThat(reasonOf(promise)).isSameAs(thrown);
            assertThat(thrown.getStackTrace())
                    .as("the stack is the work's own")
                    .anyMatch(frame -> frame.getMethodName().equals("throwFromWork"));
        }
        assertThat(loop.metrics().failures()).isZero();
    }

    private static Object throwFromWork(Throwable thrown) throws Exception {
        thrown.fillInStackTrace();
        if (thrown instanceof Error error) {
            throw error;
        }
        throw (Exception) thrown;
    }

    @Test
    @Clause("P-2")
    void work_thatReturnsNull_resolvesWithNull() {
        Promise<Object> promise = loop.promisify(c -> null);
        loop.runUntilEmpty();
        assertThat(promise.outcome()).isEqualTo(new Outcome.Resolved<>(null));
    }

    @Test
    @Clause({"P-2", "P-1"})
    void works_tenThousandAtOnce_allSettleOnce() {
        int count = 10_000;
        AtomicInteger runs = new AtomicInteger();
        AtomicBoolean elsewhere = new AtomicBoolean();
        int[] settled = new int[count];
        loop.submit(
                () -> {
                    for (int i = 0; i < count; i++) {
                        int number = i;
                        loop.promisify(c -> evenOrThrow(runs, number))
                                .recover(IOException.class, thrown -> number)
                                .thenAccept(n -> settled[n]++)
                                .finallyRun(() -> elsewhere.compareAndSet(false, !isHere()));
                    }
                });
        loop.runUntilEmpty();
        assertThat(runs).hasValue(count);
        assertThat(settled).containsOnly(1);
        assertThat(elsewhere).isFalse();
        assertThat(loop.metrics().priorityTasks()).isEqualTo(count);
        assertThat(loop.metrics().awaited()).isZero();
    }

    private boolean isHere() {
        return loop.isLoopThread();
    }

    private static int evenOrThrow(AtomicInteger runs, int number) throws IOException {
        runs.incrementAndGet();
        if (number % 2 == 1) {
            throw new IOException("odd");
        }
        return number;
    }

    // ------------------------------------------------------------------ refusal

    @Test
    @Clause("P-2")
    void executor_thatRefuses_rejectsThePromiseAndThrowsNothing() {
        RejectedExecutionException refusal = new RejectedExecutionException("full");
        executor.refuseWith(refusal);
        Promise<String> promise =
                loop.promisify(executor, Cancellation.none(), c -> "never called");
        loop.runUntilEmpty();
        assertThat(reasonOf(promise)).isSameAs(refusal);
        assertThat(loop.metrics().awaited()).as("it would keep the loop alive").isZero();
    }

    @Test
    @Clause("P-2")
    void executor_thatRefusesOnTheLoopThread_leadsToTheHandlerOfTheRejection() {
        executor.refuse(1);
        loop.submit(
                () -> {
                    loop.promisify(executor, Cancellation.none(), c -> "never called")
                            .recover(RejectedExecutionException.class, e -> "refused")
                            .thenAccept(log::add);
                    log.add("nothing thrown");
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("nothing thrown", "refused");
    }

    @Test
    @Clause({"P-2", "L-10"})
    void executor_thatRunsOutOfMemory_rejectsThePromiseAndIsNotSwallowed() {
        OutOfMemoryError fatal = new OutOfMemoryError("no thread to be had");
        executor.refuseWith(fatal);
        assertThatThrownBy(() -> loop.promisify(executor, Cancellation.none(), c -> 1))
                .isSameAs(fatal);
        loop.runUntilEmpty();
        assertThat(loop.metrics().awaited()).isZero();
        assertThat(loop.metrics().unhandledRejections()).isEqualTo(1);
    }

    @Test
    @Clause("P-2")
    void executor_thatRefusesWhatItRunsLater_findsItGivenUp() {
        executor.keepRefused();
        executor.refuse(1);
        Promise<String> promise =
                loop.promisify(executor, Cancellation.none(), c -> "run" + log.add("work"));
        executor.runAll();
        loop.runUntilEmpty();
        assertThat(log).isEmpty();
        assertThat(reasonOf(promise)).isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    @Clause("P-2")
    void executor_thatThrowsAfterItRanTheWork_doesNotTakeTheResultBack() {
        Executor confused =
                work -> {
                    work.run();
                    throw new RejectedExecutionException("too late");
                };
        Promise<String> promise = loop.promisify(confused, Cancellation.none(), c -> "value");
        loop.runUntilEmpty();
        assertThat(promise.outcome()).isEqualTo(new Outcome.Resolved<>("value"));
    }

    // ------------------------------------------------------------------ bounded

    @Test
    @Clause("P-2")
    void workers_boundHowMuchRunsAtOnce() throws InterruptedException {
        BoundedExecutor workers = BoundedExecutor.bounded(3, 100);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch threeRun = new CountDownLatch(3);
        for (int i = 0; i < 30; i++) {
            loop.promisify(
                    workers,
                    Cancellation.none(),
                    c -> {
                        most.accumulateAndGet(running.incrementAndGet(), Math::max);
                        threeRun.countDown();
                        threeRun.await();
                        return running.decrementAndGet();
                    });
        }
        loop.runUntilEmpty();
        assertThat(most).as("at most, and at least once, as many as allowed").hasValue(3);
        assertThat(running).hasValue(0);
        assertThat(loop.metrics().unhandledRejections()).isZero();
    }

    @Test
    @Clause("P-2")
    void workers_thatAreFull_rejectAndSayTheLimits() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 2, 3);
        List<Promise<Integer>> accepted = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            int number = i;
            accepted.add(loop.promisify(workers, Cancellation.none(), c -> number));
        }
        Promise<Integer> refused = loop.promisify(workers, Cancellation.none(), c -> 5);
        assertThat(executor.held()).isEqualTo(2);
        executor.runAll();
        loop.runUntilEmpty();
        assertThat(accepted)
                .extracting(Promise::outcome)
                .containsExactly(
                        new Outcome.Resolved<>(0),
                        new Outcome.Resolved<>(1),
                        new Outcome.Resolved<>(2),
                        new Outcome.Resolved<>(3),
                        new Outcome.Resolved<>(4));
        assertThat(reasonOf(refused))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("2 of at most 2 are running")
                .hasMessageContaining("3 of at most 3 are waiting");
    }

    // ------------------------------------------------------------------ alive

    private Thread runUntilEmptyElsewhere() {
        Thread runner = Thread.ofPlatform().start(loop::runUntilEmpty);
        while (loop.state() != LoopState.SLEEPING) {
            assertThat(runner.isAlive())
                    .as("runUntilEmpty returned although something is outstanding")
                    .isTrue();
            Thread.onSpinWait();
        }
        return runner;
    }

    @Test
    @Clause({"L-8", "P-2"})
    void runUntilEmpty_withPendingWork_waitsForIt() throws InterruptedException {
        CountDownLatch mayEnd = new CountDownLatch(1);
        loop.promisify(
                        c -> {
                            mayEnd.await();
                            return "result";
                        })
                .thenAccept(log::add);
        Thread runner = runUntilEmptyElsewhere();
        assertThat(loop.metrics().awaited()).isEqualTo(1);
        mayEnd.countDown();
        runner.join();
        assertThat(log).containsExactly("result");
        assertThat(loop.metrics().awaited()).isZero();
    }

    @Test
    @Clause({"L-8", "P-4"})
    void runUntilEmpty_withAStagePending_waitsForIt() throws InterruptedException {
        CompletableFuture<String> stage = new CompletableFuture<>();
        Promise.<String>from(loop, stage).thenAccept(log::add);
        Thread runner = runUntilEmptyElsewhere();
        assertThat(loop.metrics().awaited()).isEqualTo(1);
        stage.complete("stage");
        runner.join();
        assertThat(log).containsExactly("stage");
    }

    @Test
    @Clause("L-8")
    void runUntilEmpty_withADeferredThatNobodySettles_returns() {
        Deferred<String> deferred = loop.deferred();
        assertThat(loop.runUntilEmpty()).isZero();
        assertThat(deferred.promise().isSettled()).isFalse();
    }

    @Test
    @Clause({"L-8", "P-4"})
    void stage_thatIsComplete_keepsNobodyWaiting() {
        loop.submit(
                () -> {
                    Promise<String> promise =
                            Promise.from(loop, CompletableFuture.completedFuture("here"));
                    log.add("settled " + promise.isSettled());
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("settled true");
        assertThat(loop.metrics().awaited()).isZero();
    }
}
