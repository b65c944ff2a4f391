package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.gyre.internal.base.QueueingExecutor;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/// An executor that rejects work: new work is rejected, and accepted work is not lost.
@Timeout(60)
class BoundedExecutorRefusalTest {
    private final ScriptedExecutor executor = new ScriptedExecutor();
    private final ScriptedExecutor lastResort = new ScriptedExecutor();
    private final List<String> log = new ArrayList<>();
    private final LogCapture warnings = new LogCapture();

    @AfterEach
    void restoreTheLog() {
        warnings.close();
    }

    private Runnable says(String word) {
        return () -> log.add(word);
    }

    private BoundedExecutor bounded(int atOnce, int queued) {
        return new QueueingExecutor(executor, lastResort, atOnce, queued);
    }

    // ------------------------------------------------------------------ newcomers

    @Test
    @Clause("P-2")
    void execute_thatTheExecutorRefuses_passesTheRefusalOnAndGivesThePlaceBack() {
        BoundedExecutor workers = bounded(1, 0);
        for (Throwable refusal :
                List.of(
                        new RejectedExecutionException("full"),
                        new OutOfMemoryError("unable to create native thread"),
                        new IllegalStateException("any"))) {
            executor.refuseWith(refusal);
            assertThatThrownBy(() -> workers.execute(says("refused"))).isSameAs(refusal);
            assertThat(workers.running()).isZero();
        }
        workers.execute(says("accepted"));
        executor.runAll();
        assertThat(log).containsExactly("accepted");
    }

    @Test
    @Clause("P-2")
    void execute_refusedByAnExecutorThatKeptTheWork_doesNotRunItLater() {
        BoundedExecutor workers = bounded(1, 0);
        executor.keepRefused();
        executor.refuse(1);
        assertThatThrownBy(() -> workers.execute(says("refused")))
                .isInstanceOf(RejectedExecutionException.class);
        executor.runAll();
        assertThat(log).isEmpty();
        assertThat(workers.running()).isZero();
    }

    @Test
    @Clause("P-2")
    void execute_refused_handsItsPlaceToWhoWaitsForIt() {
        BoundedExecutor workers = bounded(1, 1);
        executor.beforeNext(() -> workers.execute(says("waiting")));
        executor.refuse(1);
        assertThatThrownBy(() -> workers.execute(says("refused")))
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(workers).hasToString("BoundedExecutor[1 of 1 running, 0 of 1 waiting]");
        executor.runAll();
        assertThat(log).containsExactly("waiting");
        assertThat(workers.running()).isZero();
    }

    @Test
    @Clause("P-2")
    void execute_refusedLikeTheOneThatWaitsForItsPlace_neverRunsThatOnTheCallersThread() {
        BoundedExecutor workers = bounded(1, 2);
        executor.beforeNext(
                () -> {
                    workers.execute(says("b"));
                    workers.execute(says("c"));
                });
        executor.refuse(2);
        assertThatThrownBy(() -> workers.execute(says("refused")))
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(log).as("the caller may be a loop, which must not block").isEmpty();
        assertThat(lastResort.held()).isEqualTo(1);
        lastResort.runNext();
        assertThat(executor.held()).as("the next one goes to the executor again").isEqualTo(1);
        executor.runNext();
        assertThat(log).containsExactly("b", "c");
        assertThat(workers.running()).isZero();
    }

    @Test
    @Clause("P-2")
    void execute_refusedByTheLastResortToo_runsTheOneThatWaitsRatherThanLosingIt() {
        BoundedExecutor workers = bounded(1, 1);
        executor.beforeNext(() -> workers.execute(says("waiting")));
        executor.refuse(2);
        lastResort.refuse(1);
        assertThatThrownBy(() -> workers.execute(says("refused")))
                .isInstanceOf(RejectedExecutionException.class);
        assertThat(log).containsExactly("waiting");
        assertThat(workers.running()).isZero();
    }

    // ------------------------------------------------------------------ those that wait

    @Test
    @Clause("P-2")
    void handOver_thatIsRefused_runsTheWaitingOneOnTheThreadThatBecameFree() {
        BoundedExecutor workers = bounded(1, 3);
        for (String word : List.of("a", "b", "c", "d")) {
            workers.execute(says(word));
        }
        executor.refuse(2);
        executor.runNext();
        assertThat(log).containsExactly("a", "b", "c");
        assertThat(executor.held()).as("d was accepted").isEqualTo(1);
        assertThat(workers).hasToString("BoundedExecutor[1 of 1 running, 0 of 3 waiting]");
        executor.runNext();
        assertThat(log).containsExactly("a", "b", "c", "d");
        assertThat(lastResort.calls()).isZero();
    }

    @Test
    @Clause("P-2")
    void handOver_thatIsRefused_countsTheWorkAsRunningMeanwhile() {
        BoundedExecutor workers = bounded(1, 1);
        List<String> seen = new ArrayList<>();
        workers.execute(says("a"));
        workers.execute(() -> seen.add(workers.toString()));
        executor.refuse(1);
        executor.runNext();
        assertThat(seen).containsExactly("BoundedExecutor[1 of 1 running, 0 of 1 waiting]");
    }

    @Test
    @Clause("P-2")
    void handOver_refusedForALongLine_runsItWithoutNesting() {
        int count = 100_000;
        BoundedExecutor workers = bounded(1, count);
        int[] ran = {0};
        workers.execute(says("first"));
        for (int i = 0; i < count; i++) {
            workers.execute(() -> ran[0]++);
        }
        executor.refuse(count);
        executor.runNext();
        assertThat(ran[0]).isEqualTo(count);
        assertThat(workers.running()).isZero();
        assertThat(warnings.messages())
                .as("occurrence 1, 2, 4 and so on")
                .hasSize(17)
                .first(STRING)
                .contains(
                        "BoundedExecutor[1 of 1 running, 99999 of 100000 waiting]",
                        "(occurrence 1)");
    }

    @Test
    @Clause("P-2")
    void handOver_refusedByAnExecutorThatKeptTheWork_runsItOnce() {
        BoundedExecutor workers = bounded(1, 1);
        workers.execute(says("a"));
        workers.execute(says("b"));
        executor.keepRefused();
        executor.refuse(1);
        executor.runAll();
        assertThat(log).containsExactly("a", "b");
        assertThat(workers.running()).isZero();
    }

    @Test
    @Clause("P-2")
    void handOver_refused_doesNotHideWhatTheEndedWorkThrew() throws InterruptedException {
        BoundedExecutor workers = bounded(1, 2);
        IllegalStateException first = new IllegalStateException("first");
        IllegalStateException second = new IllegalStateException("second");
        workers.execute(
                () -> {
                    throw first;
                });
        workers.execute(
                () -> {
                    throw second;
                });
        workers.execute(says("third"));
        executor.refuse(2);
        List<Throwable> uncaught = new ArrayList<>();
        Thread thread =
                Thread.ofPlatform()
                        .uncaughtExceptionHandler(
                                (t, thrown) -> {
                                    uncaught.add(thrown);
                                    if (uncaught.size() == 1) {
                                        throw new IllegalStateException("the handler's own");
                                    }
                                })
                        .start(executor::runNext);
        thread.join();
        assertThat(uncaught).containsExactly(second, first);
        assertThat(log).containsExactly("third");
        assertThat(workers.running()).isZero();
    }

    // ------------------------------------------------------------------ the end of an executor

    @Test
    @Clause("P-2")
    void shutdown_ofTheExecutor_refusesNewcomersAndRunsThoseThatWaitOnItsOwnThread()
            throws InterruptedException {
        ExecutorService pool =
                Executors.newSingleThreadExecutor(Thread.ofPlatform().name("pool").factory());
        BoundedExecutor workers = BoundedExecutor.bounded(pool, 1, 10);
        CountDownLatch go = new CountDownLatch(1);
        Runnable waits =
                () -> {
                    try {
                        go.await();
                        log.add(Thread.currentThread().getName());
                    } catch (InterruptedException e) {
                        log.add("interrupted");
                    }
                };
        for (int i = 0; i < 4; i++) {
            workers.execute(waits);
        }
        pool.shutdown();
        assertThatThrownBy(() -> workers.execute(says("too late")))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("has been shut down")
                .hasMessageContaining("BoundedExecutor[1 of 1 running, 3 of 10 waiting]");
        go.countDown();
        assertThat(pool.awaitTermination(1, TimeUnit.MINUTES))
                .as("an executor ends when the accepted work has ended")
                .isTrue();
        assertThat(log).containsExactly("pool", "pool", "pool", "pool");
        assertThat(warnings.messages()).as("to shut an executor down is no fault").isEmpty();
        assertThat(workers).hasToString("BoundedExecutor[0 of 1 running, 0 of 10 waiting]");
    }
}
