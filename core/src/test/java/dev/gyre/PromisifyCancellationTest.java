package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopObserver;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Cancelled work: its promise, and the thread that it runs on.
@Timeout(60)
class PromisifyCancellationTest {
    private final EventLoop loop =
            EventLoop.open(LoopConfig.DEFAULT.withObserver(new LoopObserver() {}));
    private final CancellationSource source = new CancellationSource();
    private final ScriptedExecutor executor = new ScriptedExecutor();
    private final List<String> log = new ArrayList<>();

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    private static @Nullable Throwable reasonOf(Promise<?> promise) {
        return promise.outcome() instanceof Outcome.Rejected<?>(Throwable reason) ? reason : null;
    }

    /// Work that blocks until it is interrupted, and records its start and the interrupt.
    private static final class Blocked implements BlockingWork<String> {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch interrupted = new CountDownLatch(1);

        @Override
        public String run(Cancellation cancellation) throws InterruptedException {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
            }
            return "never";
        }
    }

    /// Work that ignores interrupts and cancellation until it is released.
    private static final class Stubborn implements BlockingWork<String> {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch mayEnd = new CountDownLatch(1);

        @Override
        public String run(Cancellation cancellation) {
            begun.countDown();
            boolean ended = false;
            while (!ended) {
                try {
                    mayEnd.await();
                    ended = true;
                } catch (InterruptedException e) {
                    Thread.onSpinWait(); // And on it goes.
                }
            }
            return "late";
        }
    }

    // ------------------------------------------------------------------ when

    @Test
    @Clause("P-5")
    void cancel_beforeTheWorkIsHandedOver_neverAsksTheExecutor() {
        source.cancel("not wanted");
        Promise<String> promise =
                loop.promisify(executor, source.cancellation(), c -> "run" + log.add("work"));
        assertThat(executor.calls()).isZero();
        loop.runUntilEmpty();
        assertThat(reasonOf(promise)).isSameAs(source.cancellation().reason());
        assertThat(loop.metrics().awaited()).isZero();
    }

    @Test
    @Clause("P-5")
    void cancel_beforeTheWorkIsHandedOverOnTheLoopThread_rejectsAtOnceAndCallsHandlersLater() {
        source.cancel("not wanted");
        loop.submit(
                () -> {
                    Promise<String> promise =
                            loop.promisify(executor, source.cancellation(), c -> "never");
                    log.add("settled " + promise.isSettled());
                    promise.recover(CancelledException.class, Throwable::getMessage)
                            .thenAccept(log::add);
                    log.add("callback over");
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("settled true", "callback over", "not wanted");
        assertThat(executor.calls()).isZero();
    }

    @Test
    @Clause("P-5")
    void cancel_beforeTheWorkBegins_keepsItFromBeginning() {
        Promise<String> promise =
                loop.promisify(executor, source.cancellation(), c -> "run" + log.add("work"));
        source.cancel();
        loop.runUntilEmpty();
        assertThat(reasonOf(promise)).isSameAs(source.cancellation().reason());
        executor.runAll();
        loop.runUntilEmpty();
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("P-5")
    void cancel_whileTheWorkRuns_interruptsItAndRejects() throws InterruptedException {
        Blocked work = new Blocked();
        Promise<String> promise = loop.promisify(source.cancellation(), work);
        work.begun.await();
        source.cancel("enough");
        work.interrupted.await();
        loop.runUntilEmpty();
        assertThat(reasonOf(promise))
                .as("the cancellation comes before the work's own InterruptedException")
                .isSameAs(source.cancellation().reason())
                .hasMessage("enough");
    }

    @Test
    @Clause("P-5")
    void cancel_ofWorkThatIgnoresIt_rejectsAtOnceAndDropsTheLateResult()
            throws InterruptedException {
        Stubborn work = new Stubborn();
        List<Thread> threads = new ArrayList<>();
        Executor fresh = given -> threads.add(Thread.ofPlatform().start(given));
        Promise<String> promise = loop.promisify(fresh, source.cancellation(), work);
        promise.finallyRun(() -> log.add("settled"));
        work.begun.await();
        source.cancel();
        loop.runUntilEmpty(); // Returns although the work still runs.
        CancelledException reason = source.cancellation().reason();
        assertThat(reasonOf(promise)).isSameAs(reason);
        work.mayEnd.countDown();
        threads.getFirst().join();
        loop.runUntilEmpty();
        assertThat(reasonOf(promise)).isSameAs(reason);
        assertThat(log).containsExactly("settled");
    }

    @Test
    @Clause("P-5")
    void cancel_afterTheResultHasArrived_changesNothing() {
        Promise<String> promise = loop.promisify(executor, source.cancellation(), c -> "in time");
        executor.runNext();
        source.cancel();
        loop.runUntilEmpty();
        assertThat(promise.outcome()).isEqualTo(new Outcome.Resolved<>("in time"));
    }

    @Test
    @Clause("P-5")
    void cancel_afterCompletion_reachesNobodyAndNothingIsKept() {
        Reachability promise =
                Reachability.of(
                        () -> {
                            Promise<String> made =
                                    loop.promisify(executor, source.cancellation(), c -> "done");
                            executor.runNext();
                            loop.runUntilEmpty();
                            return made;
                        });
        promise.assertLost("the promise of work that is done, whose cancellation lives on,");
        source.cancel();
        assertThat(loop.runUntilEmpty()).isZero();
    }

    @Test
    @Clause("P-5")
    void cancel_onTheLoopThread_settlesInsideTheCall() throws InterruptedException {
        Blocked work = new Blocked();
        Promise<String> promise = loop.promisify(source.cancellation(), work);
        work.begun.await();
        loop.submit(
                () -> {
                    source.cancel();
                    log.add("settled " + promise.isSettled());
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("settled true");
        work.interrupted.await();
    }

    @Test
    @Clause("P-5")
    void cancel_byTheWorkItself_rejectsAndLeavesItsThreadClean() {
        List<Boolean> interruptedAfter = new ArrayList<>();
        Executor here =
                work -> {
                    work.run();
                    interruptedAfter.add(Thread.interrupted());
                };
        Promise<String> promise =
                loop.promisify(
                        here,
                        source.cancellation(),
                        c -> {
                            source.cancel("changed my mind");
                            return "never mind";
                        });
        loop.runUntilEmpty();
        assertThat(reasonOf(promise)).hasMessage("changed my mind");
        assertThat(interruptedAfter).containsExactly(false);
    }

    // ------------------------------------------------------------------ by what

    @Test
    @Clause({"P-2", "P-5"})
    void token_ofTheWork_canBePolled() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Throwable> seen = new CompletableFuture<>();
        Promise<String> promise =
                loop.promisify(
                        source.cancellation(),
                        c -> {
                            begun.countDown();
                            while (!c.isCancelled()) {
                                Thread.onSpinWait();
                            }
                            seen.complete(c.reason());
                            c.throwIfCancelled();
                            return "never";
                        });
        begun.await();
        source.cancel("polled");
        loop.runUntilEmpty();
        assertThat(seen.join()).isSameAs(source.cancellation().reason());
        assertThat(reasonOf(promise)).isSameAs(source.cancellation().reason());
    }

    @Test
    @Clause("P-5")
    void deadline_thatPasses_interruptsTheWorkAndRejects() throws InterruptedException {
        Blocked work = new Blocked();
        ScriptedBackend backend =
                new ScriptedBackend(); // Its clock does not advance before the work has begun.
        Duration delay = Duration.ofMillis(1);
        try (EventLoop clocked = Loop.open(LoopConfig.DEFAULT, backend)) {
            Promise<String> promise =
                    clocked.promisify(Cancellation.after(clocked, delay), c -> work.run(c));
            promise.then(kept -> null, broken -> null); // Handled, so not reported.
            work.begun.await();
            backend.advance(delay.toNanos());
            while (!promise.isSettled()) {
                clocked.runSome();
            }
            work.interrupted.await();
            assertThat(reasonOf(promise))
                    .isInstanceOf(CancelledException.class)
                    .hasCauseInstanceOf(TimeoutException.class);
        }
    }

    @Test
    @Clause("P-5")
    void linkedCancellation_ofWhichOneIsCancelled_interruptsTheWork() throws InterruptedException {
        Blocked work = new Blocked();
        CancellationSource other = new CancellationSource();
        Promise<String> promise =
                loop.promisify(
                        Cancellation.anyOf(source.cancellation(), other.cancellation()), work);
        work.begun.await();
        other.cancel("the other one");
        work.interrupted.await();
        loop.runUntilEmpty();
        assertThat(reasonOf(promise)).isSameAs(other.cancellation().reason());
        assertThat(source.cancellation().isCancelled()).isFalse();
    }

    @Test
    @Clause("P-5")
    void oneCancellation_ofManyWorks_settlesEachOnce() throws InterruptedException {
        int count = 1_000;
        CountDownLatch begun = new CountDownLatch(count);
        int[] settled = new int[count];
        for (int i = 0; i < count; i++) {
            int number = i;
            loop.promisify(
                            source.cancellation(),
                            c -> {
                                begun.countDown();
                                new CountDownLatch(1).await();
                                return 0;
                            })
                    .recover(CancelledException.class, e -> settled[number]++);
        }
        begun.await();
        source.cancel();
        loop.runUntilEmpty();
        assertThat(settled).containsOnly(1);
        assertThat(loop.metrics().awaited()).isZero();
    }

    @Test
    @Clause("P-5")
    void cancelOn_whatIsCancelledAlready_leavesNothingWithAPromiseThatStaysPending() {
        Promise<String> pending = loop.<String>deferred().promise();
        source.cancel();
        List<Reachability> guards = new ArrayList<>();
        loop.submit(
                () -> guards.add(Reachability.of(() -> pending.cancelOn(source.cancellation()))));
        loop.runUntilEmpty();
        guards.getFirst().assertLost("a guard that gave up at once");
        assertThat(pending.isSettled()).isFalse();
    }

    // ------------------------------------------------------------------ the worker's thread

    @Test
    @Clause({"P-2", "P-5"})
    void interrupt_ofCancelledWork_doesNotReachTheNextOneOnTheThread() throws InterruptedException {
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            Blocked blocked = new Blocked();
            Stubborn stubborn = new Stubborn();
            CancellationSource first = new CancellationSource();
            loop.promisify(pool, source.cancellation(), blocked);
            loop.promisify(pool, first.cancellation(), stubborn);
            Promise<Boolean> third =
                    loop.promisify(
                            pool, Cancellation.none(), c -> Thread.currentThread().isInterrupted());
            blocked.begun.await();
            first.cancel(); // Before the thread is free to begin it.
            source.cancel();
            CancellationSource second = new CancellationSource();
            Stubborn running = new Stubborn();
            loop.promisify(pool, second.cancellation(), running);
            Promise<Boolean> last =
                    loop.promisify(
                            pool, Cancellation.none(), c -> Thread.currentThread().isInterrupted());
            running.begun.await();
            second.cancel();
            running.mayEnd.countDown();
            loop.runUntilEmpty();
            assertThat(third.await()).as("after work that was interrupted").isFalse();
            assertThat(last.await()).as("after work that ignored the interrupt").isFalse();
            assertThat(stubborn.begun.getCount()).as("cancelled while it waited").isEqualTo(1);
        }
    }

    @Test
    @Clause("P-2")
    void interrupt_byTheOwnerOfTheThread_isTheReasonAndIsLeftForTheThread()
            throws InterruptedException {
        Blocked work = new Blocked();
        CompletableFuture<Boolean> interruptedAfter = new CompletableFuture<>();
        List<Thread> threads = new ArrayList<>();
        Executor owner =
                given ->
                        threads.add(
                                Thread.ofPlatform()
                                        .start(
                                                () -> {
                                                    given.run();
                                                    interruptedAfter.complete(Thread.interrupted());
                                                }));
        Promise<String> promise = loop.promisify(owner, source.cancellation(), work);
        work.begun.await();
        threads.getFirst().interrupt();
        loop.runUntilEmpty();
        assertThat(reasonOf(promise)).isInstanceOf(InterruptedException.class);
        assertThat(interruptedAfter.join()).as("the owner's interrupt").isTrue();
    }

    @Test
    @Clause("P-2")
    void interrupt_byShutdownNow_rejectsWhatRunsAndEndsThePool() throws InterruptedException {
        try (ExecutorService pool = Executors.newSingleThreadExecutor()) {
            Blocked work = new Blocked();
            Promise<String> promise = loop.promisify(pool, Cancellation.none(), work);
            work.begun.await();
            assertThat(pool.shutdownNow()).isEmpty();
            loop.runUntilEmpty();
            assertThat(reasonOf(promise)).isInstanceOf(InterruptedException.class);
        } // Waits until the pool's thread has ended.
    }

    @Test
    @Clause("P-2")
    void interruptStatus_leftByTheWork_isLeftForTheThread() {
        List<Boolean> interruptedAfter = new ArrayList<>();
        Executor here =
                work -> {
                    work.run();
                    interruptedAfter.add(Thread.interrupted());
                };
        loop.promisify(
                here,
                source.cancellation(),
                c -> {
                    Thread.currentThread().interrupt();
                    return "interrupted by itself";
                });
        assertThat(interruptedAfter).containsExactly(true);
    }

    /// A thread whose interrupt method blocks the caller half-way.
    private static final class SlowlyInterrupted extends Thread {
        private static final int ENOUGH_FOR_ONE_THAT_DOES_NOT_WAIT = 10_000;

        private final Runnable work;
        volatile boolean mayEnd;
        private volatile boolean workIsOver;
        private volatile boolean interruptEnded;
        volatile boolean interruptedAfter;

        SlowlyInterrupted(Runnable work) {
            this.work = work;
        }

        @Override
        @SuppressWarnings("ThreadPriorityCheck")
        public void interrupt() {
            mayEnd = true;
            for (int i = 0; i < ENOUGH_FOR_ONE_THAT_DOES_NOT_WAIT && !workIsOver; i++) {
                Thread.yield();
            }
            super.interrupt();
            interruptEnded = true;
        }

        @Override
        public void run() {
            work.run();
            workIsOver = true;
            while (!interruptEnded) {
                Thread.onSpinWait();
            }
            interruptedAfter = isInterrupted();
        }
    }

    @Test
    @Clause({"P-2", "P-5"})
    void interrupt_thatComesWhenTheWorkHasEnded_isAwaitedByTheWorkersThread()
            throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        List<SlowlyInterrupted> threads = new ArrayList<>();
        loop.promisify(
                given -> {
                    threads.add(new SlowlyInterrupted(given));
                    threads.getFirst().start();
                },
                source.cancellation(),
                c -> {
                    begun.countDown();
                    while (!threads.getFirst().mayEnd) {
                        Thread.onSpinWait();
                    }
                    return "ended by itself";
                });
        begun.await();
        source.cancel();
        threads.getFirst().join();
        assertThat(threads.getFirst().interruptedAfter).isFalse();
    }

    // ------------------------------------------------------------------ bounded

    @Test
    @Clause({"P-2", "P-5"})
    void cancel_ofWorkThatWaitsForAPlace_givesItsPlaceInTheLineBack() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 1);
        Promise<String> first = loop.promisify(workers, Cancellation.none(), c -> "first");
        Promise<String> second =
                loop.promisify(workers, source.cancellation(), c -> "run" + log.add("second"));
        assertThat(workers.waiting()).isEqualTo(1);
        source.cancel();
        assertThat(workers.waiting()).isZero();
        Promise<String> third = loop.promisify(workers, Cancellation.none(), c -> "third");
        executor.runAll();
        loop.runUntilEmpty();
        assertThat(first.outcome()).isEqualTo(new Outcome.Resolved<>("first"));
        assertThat(third.outcome()).isEqualTo(new Outcome.Resolved<>("third"));
        assertThat(reasonOf(second)).isInstanceOf(CancelledException.class);
        assertThat(log).isEmpty();
        assertThat(workers.running()).isZero();
    }

    /// An executor that is queried for its shutdown before work starts or is queued.
    private static final class AskedFirst extends AbstractExecutorService {
        private final Executor executor;
        private Runnable whenAsked = () -> {};

        AskedFirst(Executor executor) {
            this.executor = executor;
        }

        @Override
        public void execute(Runnable work) {
            executor.execute(work);
        }

        @Override
        public boolean isShutdown() {
            whenAsked.run();
            return false;
        }

        @Override
        public void shutdown() {}

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }
    }

    @Test
    @Clause({"P-2", "P-5"})
    void cancel_ofWorkOnItsWayIntoTheLine_leavesNobodyThere() {
        AskedFirst pool = new AskedFirst(executor);
        BoundedExecutor workers = BoundedExecutor.bounded(pool, 1, 1);
        workers.execute(() -> log.add("ran"));
        pool.whenAsked = source::cancel;
        Promise<String> late =
                loop.promisify(workers, source.cancellation(), c -> "it was given up before");
        assertThat(workers.waiting()).as("work that waits for a place").isZero();
        loop.runUntilEmpty();
        assertThat(reasonOf(late)).isSameAs(source.cancellation().reason());
        executor.runAll();
        assertThat(log).containsExactly("ran");
    }
}
