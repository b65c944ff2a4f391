package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.LockSupport;

/// Limits, order and failure with a scripted executor. `BoundedExecutorRefusalTest` covers an
/// executor that rejects work.
@Timeout(60)
class BoundedExecutorTest {
    private final ScriptedExecutor executor = new ScriptedExecutor();
    private final List<String> log = new ArrayList<>();

    private Runnable says(String word) {
        return () -> log.add(word);
    }

    private Runnable throwing(Throwable thrown) {
        return () -> {
            log.add("throws");
            BoundedExecutorTest.<RuntimeException>sneak(thrown);
        };
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    // ------------------------------------------------------------------ limits

    @Test
    @Clause("P-2")
    void bounded_withLimitsThatMakeNoSense_saysTheValue() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BoundedExecutor.bounded(0, 1))
                .withMessage("maxRunning must be at least 1, but is 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BoundedExecutor.bounded(executor, -7, 1))
                .withMessageContaining("-7");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BoundedExecutor.bounded(1, -1))
                .withMessage("maxQueued must be at least 0, but is -1");
    }

    @Test
    @SuppressWarnings({"NullAway", "DataFlowIssue"})
    void anyMethod_givenNull_namesTheParameter() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 1);
        assertThatNullPointerException()
                .isThrownBy(() -> BoundedExecutor.bounded(null, 1, 1))
                .withMessage("executor");
        assertThatNullPointerException()
                .isThrownBy(() -> workers.execute(null))
                .withMessage("work");
        assertThatNullPointerException().isThrownBy(() -> workers.remove(null)).withMessage("work");
        assertThat(workers.running()).isZero();
    }

    @Test
    @Clause("P-2")
    void execute_upToBothLimits_handsOverTheFirstAndKeepsTheRest() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 2, 3);
        for (int i = 0; i < 5; i++) {
            workers.execute(says("" + i));
        }
        assertThat(executor.held()).isEqualTo(2);
        assertThat(workers.running()).isEqualTo(2);
        assertThat(workers.waiting()).isEqualTo(3);
        assertThat(workers).hasToString("BoundedExecutor[2 of 2 running, 3 of 3 waiting]");
        executor.runAll();
        assertThat(log).containsExactly("0", "1", "2", "3", "4");
        assertThat(workers).hasToString("BoundedExecutor[0 of 2 running, 0 of 3 waiting]");
    }

    @Test
    @Clause("P-2")
    void execute_beyondBothLimits_isRefusedWithNumbersAndRemedy() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 2);
        workers.execute(says("runs"));
        workers.execute(says("waits"));
        workers.execute(says("waits too"));
        assertThatThrownBy(() -> workers.execute(says("too many")))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining(BoundedExecutorTest.class.getName())
                .hasMessageContaining("1 of at most 1 are running")
                .hasMessageContaining("2 of at most 2 are waiting")
                .hasMessageContaining("raise a limit");
        executor.runAll();
        assertThat(log).containsExactly("runs", "waits", "waits too");
        workers.execute(says("again"));
        executor.runAll();
        assertThat(log).endsWith("again");
    }

    @Test
    @Clause("P-2")
    void execute_withoutALine_refusesWhatCannotBeginAtOnce() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 0);
        workers.execute(says("first"));
        assertThatThrownBy(() -> workers.execute(says("second")))
                .isInstanceOf(RejectedExecutionException.class);
        executor.runNext();
        workers.execute(says("third"));
        executor.runNext();
        assertThat(log).containsExactly("first", "third");
    }

    // ------------------------------------------------------------------ order

    @Test
    @Clause("P-2")
    void end_ofWork_handsTheNextOverAsAJobOfItsOwn() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 2);
        workers.execute(says("a"));
        workers.execute(says("b"));
        executor.runNext();
        assertThat(log).as("b has to be handed over, not run along with a").containsExactly("a");
        assertThat(executor.held()).isEqualTo(1);
        assertThat(workers).hasToString("BoundedExecutor[1 of 1 running, 0 of 2 waiting]");
        executor.runNext();
        assertThat(log).containsExactly("a", "b");
    }

    @Test
    @Clause("P-2")
    void execute_fromWorkThatIsAboutToEnd_doesNotOvertake() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 5);
        workers.execute(() -> workers.execute(says("newcomer")));
        workers.execute(says("waiting"));
        executor.runAll();
        assertThat(log).containsExactly("waiting", "newcomer");
    }

    @Test
    @Clause("P-2")
    void execute_fromInsideAHandOver_doesNotOvertake() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 5);
        workers.execute(says("a"));
        workers.execute(says("b"));
        workers.execute(says("c"));
        executor.beforeNext(() -> workers.execute(says("newcomer")));
        executor.runAll();
        assertThat(log).containsExactly("a", "b", "c", "newcomer");
    }

    @Test
    @Clause("P-2")
    void end_outOfOrder_stillBeginsInOrder() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 2, 5);
        for (String word : List.of("a", "b", "c", "d")) {
            workers.execute(says(word));
        }
        executor.run(1);
        assertThat(executor.held()).isEqualTo(2);
        executor.runAll();
        assertThat(log).containsExactly("b", "a", "c", "d");
    }

    @Test
    void run_ofTheSameJobTwice_runsTheWorkOnceAndGivesOnePlaceBack() {
        BoundedExecutor workers =
                BoundedExecutor.bounded(
                        work -> {
                            executor.execute(work);
                            executor.execute(work);
                        },
                        2,
                        0);
        workers.execute(says("a"));
        executor.runAll();
        assertThat(log).containsExactly("a");
        assertThat(workers.running()).isZero();
    }

    // ------------------------------------------------------------------ failure

    @Test
    @Clause("P-2")
    void work_thatThrows_givesItsPlaceBackAndTheExecutorTheThrowable() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 1);
        Error thrown = new AssertionError("from work");
        workers.execute(throwing(thrown));
        workers.execute(says("next"));
        assertThatThrownBy(executor::runNext).isSameAs(thrown);
        executor.runNext();
        assertThat(log).containsExactly("throws", "next");
        assertThat(workers.running()).isZero();
    }

    @Test
    @Clause("P-2")
    void work_thatThrowsOnTheCallersThread_reachesTheCallerAsWithoutBounds() {
        BoundedExecutor workers = BoundedExecutor.bounded(Runnable::run, 1, 1);
        IllegalStateException thrown = new IllegalStateException("from work");
        assertThatThrownBy(() -> workers.execute(throwing(thrown))).isSameAs(thrown);
        workers.execute(says("next"));
        assertThat(log).containsExactly("throws", "next");
        assertThat(workers.running()).isZero();
    }

    @Test
    @Clause("P-2")
    void work_thatThrowsOnAVirtualThread_reachesItsUncaughtHandler() {
        BoundedExecutor workers = BoundedExecutor.bounded(1, 1);
        Error thrown = new AssertionError("from work");
        CompletableFuture<Throwable> caught = new CompletableFuture<>();
        CompletableFuture<Thread> next = new CompletableFuture<>();
        workers.execute(
                () -> {
                    Thread.currentThread()
                            .setUncaughtExceptionHandler((t, e) -> caught.complete(e));
                    workers.execute(() -> next.complete(Thread.currentThread()));
                    throw thrown;
                });
        assertThat(caught.join()).isSameAs(thrown);
        assertThat(next.join().getName()).isEqualTo("gyre-worker-2");
    }

    // ------------------------------------------------------------------ the caller's thread

    @Test
    @Clause("P-2")
    void line_withAnExecutorOnTheCallersThread_isRunWithoutNesting() {
        int count = 200_000;
        BoundedExecutor workers = BoundedExecutor.bounded(Runnable::run, 1, count);
        List<Integer> depths = new ArrayList<>();
        int[] depth = {0};
        workers.execute(
                () -> {
                    for (int i = 0; i < count; i++) {
                        workers.execute(
                                () -> {
                                    depths.add(++depth[0]);
                                    depth[0]--;
                                });
                    }
                    assertThat(workers.waiting()).isEqualTo(count);
                });
        assertThat(depths).hasSize(count).containsOnly(1);
        assertThat(workers).hasToString("BoundedExecutor[0 of 1 running, 0 of 200000 waiting]");
    }

    @Test
    @Clause("P-2")
    void end_onAnExecutorsThread_thatRunsTheNextInline_isNotNestedEither() {
        int count = 100_000;
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, count);
        int[] ran = {0};
        workers.execute(says("first"));
        for (int i = 0; i < count; i++) {
            workers.execute(() -> ran[0]++);
        }
        executor.runInline(count);
        executor.runNext();
        assertThat(ran[0]).isEqualTo(count);
        assertThat(workers.running()).isZero();
    }

    @Test
    @Clause("P-2")
    void waitingWork_thatThrowsOnTheCallersThread_reachesTheUncaughtHandlerAndTheRestRuns()
            throws InterruptedException {
        BoundedExecutor workers = BoundedExecutor.bounded(Runnable::run, 1, 3);
        IllegalStateException first = new IllegalStateException("first");
        IllegalStateException waiting = new IllegalStateException("waiting");
        List<Throwable> uncaught = new ArrayList<>();
        List<Throwable> atTheCaller = new ArrayList<>();
        Thread caller =
                Thread.ofPlatform()
                        .uncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown))
                        .start(
                                () -> {
                                    try {
                                        workers.execute(
                                                () -> {
                                                    workers.execute(throwing(waiting));
                                                    workers.execute(says("rest"));
                                                    throw first;
                                                });
                                    } catch (IllegalStateException e) {
                                        atTheCaller.add(e);
                                    }
                                });
        caller.join();
        assertThat(atTheCaller).containsExactly(first);
        assertThat(uncaught).containsExactly(waiting);
        assertThat(log).containsExactly("throws", "rest");
        assertThat(workers.running()).isZero();
    }

    // ------------------------------------------------------------------ removing

    @Test
    @Clause({"P-2", "P-5"})
    void remove_ofWaitingWork_givesItsPlaceInTheLineBack() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 2);
        Runnable removed = says("removed");
        workers.execute(says("a"));
        workers.execute(removed);
        workers.execute(says("b"));
        assertThat(workers.remove(removed)).isTrue();
        assertThat(workers.remove(removed)).as("it is gone").isFalse();
        assertThat(workers.waiting()).isEqualTo(1);
        workers.execute(says("c"));
        executor.runAll();
        assertThat(log).containsExactly("a", "b", "c");
    }

    @Test
    @Clause({"P-2", "P-5"})
    void remove_ofWhatDoesNotWait_declines() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 2);
        Runnable work = says("a");
        assertThat(workers.remove(work)).as("never handed in").isFalse();
        workers.execute(work);
        assertThat(workers.remove(work)).as("handed over").isFalse();
        executor.runNext();
        assertThat(workers.remove(work)).as("ended").isFalse();
        assertThat(log).containsExactly("a");
    }

    /// All instances are equal, but not identical.
    private record Equal(List<String> log, String word) implements Runnable {
        @Override
        public void run() {
            log.add(word);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Equal;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    @Test
    @Clause("P-5")
    void remove_goesByIdentity() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 2);
        Equal b = new Equal(log, "b");
        Equal c = new Equal(log, "c");
        workers.execute(says("a"));
        workers.execute(b);
        workers.execute(c);
        assertThat(workers.remove(new Equal(log, "d"))).isFalse();
        assertThat(workers.remove(c)).isTrue();
        executor.runAll();
        assertThat(log).containsExactly("a", "b");
    }

    @Test
    @Clause("P-5")
    void remove_ofWorkThatWaitsTwice_takesTheOneThatHasWaitedLonger() {
        BoundedExecutor workers = BoundedExecutor.bounded(executor, 1, 3);
        Runnable twice = says("twice");
        workers.execute(says("a"));
        workers.execute(twice);
        workers.execute(says("b"));
        workers.execute(twice);
        assertThat(workers.remove(twice)).isTrue();
        executor.runAll();
        assertThat(log).containsExactly("a", "b", "twice");
    }

    // ------------------------------------------------------------------ virtual threads

    @Test
    @Clause("P-2")
    void bounded_withoutAnExecutor_givesEachWorkAVirtualThreadOfItsOwn()
            throws InterruptedException {
        InheritableThreadLocal<String> inherited = new InheritableThreadLocal<>();
        inherited.set("the caller's");
        BoundedExecutor workers = BoundedExecutor.bounded(1, 3);
        List<String> seen = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(3);
        CountDownLatch go = new CountDownLatch(1);
        Runnable looks =
                () -> {
                    awaitQuietly(go);
                    Thread self = Thread.currentThread();
                    seen.add(
                            self.getName()
                                    + (self.isVirtual() ? " virtual" : " platform")
                                    + (self.isInterrupted() ? " interrupted" : " fresh")
                                    + " "
                                    + inherited.get());
                    inherited.set("another work's");
                    self.interrupt();
                    done.countDown();
                };
        for (int i = 0; i < 3; i++) {
            workers.execute(looks);
        }
        go.countDown();
        done.await();
        assertThat(seen)
                .containsExactly(
                        "gyre-worker-1 virtual fresh null",
                        "gyre-worker-2 virtual fresh null",
                        "gyre-worker-3 virtual fresh null");
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts this", e);
        }
    }

    // ------------------------------------------------------------------ platform threads

    @Test
    @Clause("G-5")
    void platformThreads_badLimits_throwWithTheValue() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BoundedExecutor.platformThreads("cpu", 0, 1))
                .withMessage("threads must be at least 1, but is 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BoundedExecutor.platformThreads("cpu", 1, -1))
                .withMessage("maxQueued must be at least 0, but is -1");
    }

    @Test
    @Clause("G-5")
    void platformThreads_runWorkOnNamedDaemonThreadsUpToTheLimit() throws Exception {
        BoundedExecutor pool = BoundedExecutor.platformThreads("cpu", 2, 1);
        CountDownLatch running = new CountDownLatch(2);
        CountDownLatch release = new CountDownLatch(1);
        List<Thread> threads = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<Void> last = new CompletableFuture<>();
        for (int i = 0; i < 2; i++) {
            pool.execute(
                    () -> {
                        threads.add(Thread.currentThread());
                        running.countDown();
                        awaitQuietly(release);
                    });
        }
        running.await();
        pool.execute(() -> last.complete(null));
        assertThatThrownBy(() -> pool.execute(() -> {}))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("2 of at most 2 are running and 1 of at most 1 are waiting");
        assertThat(threads)
                .allMatch(thread -> thread.isDaemon() && !thread.isVirtual())
                .extracting(Thread::getName)
                .containsExactlyInAnyOrder("cpu-1", "cpu-2");
        assertThat(pool.rejected()).isEqualTo(1);
        release.countDown();
        last.get();
        while (pool.running() > 0) {
            LockSupport.parkNanos(100_000);
        }
        assertThat(pool.completed()).isEqualTo(3);
        assertThat(pool.maxWait()).isPositive().isLessThanOrEqualTo(pool.totalWait());
    }

    @Test
    @Clause("G-5")
    void metrics_countCompletedAndRejectedWork() {
        BoundedExecutor workers = BoundedExecutor.bounded(Runnable::run, 1, 0);
        workers.execute(says("one"));
        assertThatThrownBy(() -> workers.execute(throwing(new IllegalStateException("provoked"))))
                .hasMessage("provoked");
        assertThat(workers.completed()).isEqualTo(2);
        assertThat(workers.rejected()).isZero();
        BoundedExecutor refused =
                BoundedExecutor.bounded(
                        _ -> {
                            throw new RejectedExecutionException("provoked");
                        },
                        1,
                        0);
        assertThatThrownBy(() -> refused.execute(says("never"))).hasMessage("provoked");
        assertThat(refused.rejected()).isEqualTo(1);
        assertThat(refused.completed()).isZero();
    }
}
