package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/// Calls into a loop from other threads.
@Timeout(60)
class CallTest {
    private final List<Throwable> unhandled = new ArrayList<>();
    private final List<Throwable> uncaught = new ArrayList<>();
    private final LoopConfig config =
            LoopConfig.DEFAULT
                    .withUncaughtHandler((thread, thrown) -> uncaught.add(thrown))
                    .withObserver(
                            new LoopObserver() {
                                @Override
                                public void onUnhandledRejection(
                                        EventLoop in, Promise<?> promise, Throwable reason) {
                                    unhandled.add(reason);
                                }
                            });
    private final EventLoop loop = Loop.open(config, new ScriptedBackend());

    @AfterEach
    void closeLoop() {
        loop.close();
        assertThat(uncaught).isEmpty();
    }

    @Test
    @Clause({"P-3", "P-4"})
    void call_ofTwoThousandRejections_thatTheCallerCatches_reportsNone() throws Exception {
        try (EventLoop running = EventLoop.open(config)) {
            Thread runner = Thread.ofPlatform().start(running::run);
            IOException reason = new IOException("no such row");
            for (int i = 0; i < 2_000; i++) {
                CompletableFuture<String> future =
                        running.call(() -> Promise.rejected(running, reason));
                assertThatThrownBy(future::get)
                        .isInstanceOf(ExecutionException.class)
                        .hasCause(reason);
            }
            running.shutdown(Duration.ofSeconds(10));
            runner.join();
            assertThat(unhandled).isEmpty();
            assertThat(running.metrics().unhandledRejections()).isZero();
        }
    }

    @Test
    @Clause("P-4")
    void call_runsTheBodyOnTheLoopThreadAsATask_alsoWhenMadeThere() {
        List<String> order = new ArrayList<>();
        loop.submit(
                () -> {
                    CompletableFuture<Integer> _ =
                            loop.call(
                                    () -> {
                                        order.add(loop.isLoopThread() ? "body" : "elsewhere");
                                        return Promise.resolved(loop, 1);
                                    });
                    order.add("caller");
                });
        loop.runUntilEmpty();
        assertThat(order).containsExactly("caller", "body");
    }

    @Test
    @Clause("P-4")
    void call_ofAPromiseThatSettlesLater_deliversItsValueOffTheLoopThread() {
        List<Deferred<String>> pending = new ArrayList<>();
        CompletableFuture<String> future =
                loop.call(
                        () -> {
                            Deferred<String> deferred = loop.deferred();
                            pending.add(deferred);
                            return deferred.promise();
                        });
        CompletableFuture<Boolean> dependent =
                future.thenApply(value -> Thread.currentThread().isVirtual());
        loop.runUntilEmpty();
        assertThat(future).isNotDone();
        pending.getFirst().resolve("value");
        assertThat(dependent.join()).isTrue(); // First: a thread in join may run dependents itself.
        assertThat(future.join()).isEqualTo("value");
    }

    @Test
    @Clause({"P-4", "L-10"})
    void call_whoseBodyThrows_failsTheFutureAndNothingElse() {
        IOException thrown = new IOException("no");
        CompletableFuture<String> future =
                loop.call(
                        () -> {
                            throw thrown;
                        });
        loop.runUntilEmpty();
        assertThatThrownBy(future::join).isInstanceOf(CompletionException.class).hasCause(thrown);
    }

    @Test
    @Clause({"P-4", "L-10"})
    void call_whoseBodyFailsFatally_failsTheFutureAndLeavesTheRun() {
        StackOverflowError fatal = new StackOverflowError();
        CompletableFuture<String> future =
                loop.call(
                        () -> {
                            throw fatal;
                        });
        assertThatThrownBy(loop::runUntilEmpty).isSameAs(fatal);
        assertThatThrownBy(future::join).hasCause(fatal);
    }

    @Test
    @Clause("P-4")
    @SuppressWarnings("NullAway") // what a careless body returns
    void call_whoseBodyReturnsNull_saysSo() {
        CompletableFuture<String> future = loop.call(() -> null);
        loop.runUntilEmpty();
        assertThatThrownBy(future::join)
                .hasRootCauseMessage("the call returned null, not a promise");
    }

    @Test
    @Clause({"P-4", "Q-2"})
    void call_ofAnOverloadedLoop_failsTheFuture() {
        try (EventLoop full = Loop.open(config.withHighWaterMark(1), new ScriptedBackend())) {
            full.submit(() -> {});
            CompletableFuture<Integer> future = full.call(() -> Promise.resolved(full, 1));
            assertThatThrownBy(future::join).hasCauseInstanceOf(LoopOverloadedException.class);
        }
    }

    @Test
    @Clause({"P-4", "Q-2"})
    void call_ofALoopThatIsOver_failsTheFuture() {
        loop.close();
        CompletableFuture<Integer> future = loop.call(() -> Promise.resolved(loop, 1));
        assertThatThrownBy(future::join).hasCauseInstanceOf(LoopTerminatedException.class);
    }

    @Test
    @Clause({"P-4", "S-3"})
    void call_thatALoopDropsAtItsEnd_failsTheFuture() {
        AtomicInteger called = new AtomicInteger();
        CompletableFuture<Integer> future =
                loop.call(
                        () -> {
                            called.incrementAndGet();
                            return Promise.resolved(loop, 1);
                        });
        loop.close();
        assertThatThrownBy(future::join).hasCauseInstanceOf(LoopTerminatedException.class);
        assertThat(called).hasValue(0);
        ShutdownReport report = loop.shutdown(Duration.ZERO).toCompletableFuture().join();
        assertThat(report.tasks()).isEqualTo(1);
    }

    @Test
    @Clause({"P-4", "R-2"})
    void call_whosePromiseIsPendingAtTheEnd_failsTheFuture() {
        CompletableFuture<String> future = loop.call(() -> loop.<String>deferred().promise());
        CompletableFuture<String> dependent = future.thenApply(value -> value + "!");
        loop.runUntilEmpty();
        assertThat(dependent).isNotDone();
        loop.close();
        assertThatThrownBy(future::join).hasCauseInstanceOf(LoopTerminatedException.class);
        assertThatThrownBy(dependent::join).hasCauseInstanceOf(LoopTerminatedException.class);
    }

    @Test
    @Clause("P-4")
    void call_cancelledBeforeItsTurn_neverCallsTheBody() {
        AtomicInteger called = new AtomicInteger();
        CompletableFuture<Integer> future =
                loop.call(
                        () -> {
                            called.incrementAndGet();
                            return Promise.resolved(loop, 1);
                        });
        assertThat(future.cancel(true)).isTrue();
        loop.runUntilEmpty();
        assertThat(called).hasValue(0);
        assertThatThrownBy(future::join).isInstanceOf(CancellationException.class);
    }

    @Test
    @Clause("P-4")
    void call_cancelledLater_leavesThePromiseAlone() throws InterruptedException {
        Deferred<String> deferred = loop.deferred();
        CompletableFuture<String> future = loop.call(deferred::promise);
        CountDownLatch settled = new CountDownLatch(1);
        loop.runUntilEmpty();
        assertThat(future.cancel(true)).isTrue();
        assertThat(deferred.promise().isSettled()).isFalse();
        deferred.promise().thenAccept(value -> settled.countDown());
        deferred.resolve("value");
        loop.runUntilEmpty();
        settled.await();
    }
}
