package dev.gyre.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/// Promises on every backend: clauses P-1 to P-4.
abstract class PromiseContract extends ConformanceFixture {

    @Test
    @Clause({"P-1", "M-1"})
    void handlers_runAsMicrotasksInTheOrderTheyWereAttached() {
        loop.submit(
                () -> {
                    Deferred<Integer> deferred = loop.deferred();
                    deferred.promise().thenAccept(value -> log.add("first " + value));
                    deferred.promise()
                            .then(value -> value + 1)
                            .thenAccept(v -> log.add("then " + v));
                    deferred.resolve(1);
                    deferred.promise().thenAccept(value -> log.add("second " + value));
                    log.add("settled");
                });
        loop.submit(says("next task"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("settled", "first 1", "second 1", "then 2", "next task");
    }

    @Test
    @Clause("P-1")
    void rejection_passesOnToTheFirstThatRecovers() {
        Deferred<String> deferred = loop.deferred();
        deferred.promise()
                .then(value -> "skipped " + value)
                .recover(reason -> "recovered from " + reason.getMessage())
                .thenAccept(log::add);
        loop.submit(() -> deferred.reject(new IllegalStateException("trouble")));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("recovered from trouble");
    }

    @Test
    @Clause({"P-1", "T-1"})
    void timeout_rejectsInTheLoopsOwnTime() {
        Deferred<String> never = loop.deferred();
        long start = loop.nanoTime();
        loop.submit(
                () ->
                        never.promise()
                                .orTimeout(Duration.ofMillis(20))
                                .recover(reason -> reason.getClass().getSimpleName())
                                .thenAccept(log::add));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("TimeoutException");
        assertThat(loop.nanoTime() - start).isGreaterThanOrEqualTo(20_000_000);
    }

    @Test
    @Clause({"P-2", "L-8"})
    void promisify_runsElsewhereAndSettlesOnTheLoopThread() {
        AtomicBoolean onTheLoop = new AtomicBoolean(true);
        Promise<String> work =
                loop.promisify(
                        _ -> {
                            onTheLoop.set(loop.isLoopThread());
                            return "done";
                        });
        work.thenAccept(value -> log.add(value + " " + loop.isLoopThread()));
        loop.promisify(
                        _ -> {
                            throw new IllegalStateException("failed");
                        })
                .recover(reason -> log.add(reason.getMessage()));
        loop.runUntilEmpty();
        assertThat(log).containsExactlyInAnyOrder("done true", "failed");
        if (world().sleeps()) { // In simulated time there is one thread.
            assertThat(onTheLoop).isFalse();
        }
    }

    @Test
    @Clause("P-3")
    void rejection_thatNobodyHandles_isReportedOnceAtTheBarrier() {
        List<String> reported = new ArrayList<>();
        configure(
                config().withObserver(
                                new LoopObserver() {
                                    @Override
                                    public void onUnhandledRejection(
                                            EventLoop told, Promise<?> promise, Throwable reason) {
                                        reported.add(reason.getMessage());
                                    }
                                }));
        loop.submit(
                () -> {
                    loop.deferred().reject(new IllegalStateException("lost"));
                    Deferred<String> handled = loop.deferred();
                    handled.reject(new IllegalStateException("handled"));
                    handled.promise().recover(_ -> "fine");
                    log.add("reported " + reported.size());
                });
        loop.submit(() -> log.add("reported " + reported.size()));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("reported 0", "reported 1");
        assertThat(reported).containsExactly("lost");
        assertThat(loop.metrics().unhandledRejections()).isEqualTo(1);
    }

    @Test
    @Clause("P-4")
    void await_onTheLoopThread_throwsAtOnce() {
        Deferred<String> never = loop.deferred();
        loop.submit(
                () ->
                        assertThatThrownBy(() -> never.promise().await())
                                .isInstanceOf(WrongThreadException.class));
        loop.submit(says("next"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("next");
        assertThat(loop.metrics().failures()).isZero();
    }

    @Test
    @Clause({"P-4", "Q-6"})
    void await_onAnotherThread_endsWhenTheLoopSettlesIt() throws Exception {
        assumeTrue(world().sleeps(), "simulated time does not sleep");
        Deferred<String> deferred = loop.deferred();
        CompletableFuture<String> future = deferred.promise().toFuture();
        Thread runner = runAndSleep();
        loop.submit(() -> deferred.resolve("value"));
        assertThat(deferred.promise().await()).isEqualTo("value");
        assertThat(future.get()).isEqualTo("value");
        loop.stop();
        join(runner);
    }
}
