package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.io.FakeDescriptors;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopObserver;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/// Unhandled rejections: which are reported, and when.
@Timeout(60)
class UnhandledRejectionTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final ScriptedBackend backend = new ScriptedBackend();
    private final FakeDescriptors fakes = new FakeDescriptors();
    private final IOException reason = new IOException("no such row");
    private final List<String> log = new ArrayList<>();
    private final List<Promise<?>> reported = new ArrayList<>();
    private final List<Throwable> uncaught = new ArrayList<>();
    private @Nullable Consumer<Promise<?>> whenReported;
    private Loop loop = open(LoopConfig.DEFAULT);

    private Loop open(LoopConfig config) {
        return Loop.open(
                config.withUncaughtHandler((thread, thrown) -> uncaught.add(thrown))
                        .withObserver(new Recorder()),
                backend);
    }

    private final class Recorder implements LoopObserver {
        @Override
        public void onUnhandledRejection(EventLoop in, Promise<?> promise, Throwable why) {
            assertThat(in).isSameAs(loop);
            assertThat(loop.isLoopThread()).isTrue();
            assertThat(promise.outcome()).isEqualTo(new Outcome.Rejected<>(why));
            reported.add(promise);
            log.add("reported");
            if (whenReported != null) {
                whenReported.accept(promise);
            }
        }

        @Override
        public void onMicrotaskBudgetExceeded(EventLoop in, int remaining) {
            log.add("breach");
        }
    }

    @AfterEach
    void closeLoop() {
        loop.close();
        assertThat(loop.metrics().unhandledRejections())
                .as("the counter equals the number of reports")
                .isEqualTo(reported.size());
    }

    private Promise<String> rejected() {
        return Promise.rejected(loop, reason);
    }

    // ------------------------------------------------------------------ which and when

    @Test
    @Clause("P-3")
    void rejection_thatNobodyHandles_isReportedOnceAfterTheBarrier() {
        List<Promise<?>> made = new ArrayList<>();
        loop.submit(
                () -> {
                    made.add(rejected());
                    loop.microtask(() -> log.add("microtask"));
                    log.add("callback");
                });
        loop.submit(() -> log.add("next callback"));
        loop.runUntilEmpty();
        loop.submit(() -> log.add("much later"));
        loop.runUntilEmpty();
        assertThat(log)
                .containsExactly(
                        "callback", "microtask", "reported", "next callback", "much later");
        assertThat(reported).isEqualTo(made);
    }

    @Test
    @Clause("P-3")
    void rejection_handledInTheSameCallback_isNotReported() {
        loop.submit(() -> rejected().recover(e -> log.add("handled") + ""));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("handled");
    }

    @Test
    @Clause("P-3")
    void rejection_observedByOnRejected_isNotReported() {
        loop.submit(() -> rejected().onRejected(e -> log.add("observed")));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("observed");
    }

    @Test
    @Clause("P-3")
    void rejection_passedOnByOnRejected_isReportedForTheLaterStep() {
        List<Promise<?>> later = new ArrayList<>();
        loop.submit(() -> later.add(rejected().onRejected(e -> log.add("observed")).then(v -> v)));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("observed", "reported");
        assertThat(reported).isEqualTo(later);
    }

    @Test
    @Clause("P-3")
    void onRejected_whoseActionThrows_isReported() {
        loop.submit(
                () ->
                        rejected()
                                .onRejected(
                                        _ -> {
                                            throw new IllegalStateException("of the action");
                                        }));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("reported");
    }

    @Test
    @Clause("P-3")
    void rejection_handledInAMicrotaskOfTheSameBarrier_isNotReported() {
        loop.submit(
                () -> {
                    Promise<String> promise = rejected();
                    loop.microtask(() -> loop.microtask(() -> promise.recover(e -> "in time")));
                });
        loop.runUntilEmpty();
        assertThat(reported).isEmpty();
    }

    @Test
    @Clause("P-3")
    void rejection_handledInALaterCallback_hasBeenReported() {
        List<Promise<String>> made = new ArrayList<>();
        loop.submit(() -> made.add(rejected()));
        loop.submit(() -> made.getFirst().recover(e -> log.add("late") + ""));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("reported", "late");
    }

    @Test
    @Clause("P-3")
    void rejection_ofAChain_isReportedForItsLeavesOnly() {
        List<Promise<?>> leaves = new ArrayList<>();
        loop.submit(
                () -> {
                    Promise<String> root = rejected();
                    Promise<String> middle = root.then(value -> value).finallyRun(() -> {});
                    leaves.add(middle.then(value -> 1));
                    leaves.add(middle.thenAccept(value -> {}));
                });
        loop.runUntilEmpty();
        assertThat(reported).isEqualTo(leaves);
    }

    @Test
    @Clause("P-3")
    void rejection_byAHandlerThatThrows_isReportedForItsStep() {
        List<Promise<?>> made = new ArrayList<>();
        loop.submit(
                () ->
                        made.add(
                                Promise.resolved(loop, "fine")
                                        .then(
                                                value -> {
                                                    throw reason;
                                                })));
        loop.runUntilEmpty();
        assertThat(reported).isEqualTo(made);
        assertThat(uncaught).as("it is a rejection, not a failure of a callback").isEmpty();
    }

    @Test
    @Clause({"P-3", "P-4"})
    void rejection_thatIsAwaitedOrAFutureOrCombined_isNotReported() {
        CompletableFuture<?>[] futures = new CompletableFuture<?>[1];
        loop.submit(
                () -> {
                    futures[0] = rejected().toFuture();
                    Promise.allSettled(loop, List.of(rejected(), rejected()));
                    Promise.any(loop, List.of(rejected(), Promise.resolved(loop, "fine")));
                    Promise.race(loop, List.of(Promise.resolved(loop, "fine"), rejected()));
                    Deferred<String> follower = loop.deferred();
                    follower.follow(rejected());
                    follower.promise().recover(e -> "handled");
                });
        loop.runUntilEmpty();
        assertThat(reported).isEmpty();
        assertThat(futures[0]).isCompletedExceptionally();
    }

    @Test
    @Clause("P-3")
    void rejection_ofACombination_isReportedForTheCombination() {
        List<Promise<?>> made = new ArrayList<>();
        loop.submit(() -> made.add(Promise.all(loop, List.of(rejected(), rejected()))));
        loop.runUntilEmpty();
        assertThat(reported).isEqualTo(made);
    }

    @Test
    @Clause({"P-3", "P-4"})
    void rejection_forWhichAThreadWaits_isNotReported() throws InterruptedException {
        Deferred<String> deferred = loop.deferred();
        CompletableFuture<Throwable> seen = new CompletableFuture<>();
        Thread waiter =
                Thread.ofVirtual()
                        .start(
                                () -> {
                                    try {
                                        deferred.promise().await();
                                    } catch (CompletionException | InterruptedException e) {
                                        seen.complete(e.getCause());
                                    }
                                });
        while (loop.metrics().queuedPriorityTasks() == 0) {
            Thread.onSpinWait();
        }
        loop.submit(() -> deferred.reject(reason));
        loop.runUntilEmpty();
        waiter.join();
        assertThat(seen.join()).isSameAs(reason);
        assertThat(reported).isEmpty();
    }

    @Test
    @Clause("P-3")
    void rejection_beforeTheLoopRuns_isReportedByTheFirstRun() {
        Promise<String> promise = rejected();
        loop.runUntilEmpty();
        assertThat(reported).containsExactly(promise);
    }

    @Test
    @Clause({"P-3", "S-1"})
    void rejection_inTheCallbackThatBeginsTheShutdown_isReported() {
        loop.submit(
                () -> {
                    loop.shutdown(LONG);
                    rejected();
                });
        loop.run();
        assertThat(reported).hasSize(1);
    }

    // ------------------------------------------------------------------ barriers

    private void rejectInTwoReads(boolean handledByTheSecond) {
        List<Promise<String>> made = new ArrayList<>();
        loop.watch(
                fakes.get(1),
                WatchSpec.reading(
                        watcher -> {
                            made.add(rejected());
                            log.add("first");
                        }));
        loop.watch(
                fakes.get(2),
                WatchSpec.reading(
                        watcher -> {
                            if (handledByTheSecond) {
                                made.getFirst().recover(e -> "handled");
                            }
                            log.add("second");
                        }));
        backend.makeReady(1, Readiness.READ);
        backend.makeReady(2, Readiness.READ);
        loop.runSome();
    }

    @Test
    @Clause({"P-3", "M-1"})
    void rejection_inABatchOfReads_isReportedAfterTheBatch() {
        rejectInTwoReads(false);
        assertThat(log).containsExactly("first", "second", "reported");
    }

    @Test
    @Clause({"P-3", "M-1"})
    void rejection_handledInTheSameBatchOfReads_isNotReported() {
        rejectInTwoReads(true);
        assertThat(log).containsExactly("first", "second");
    }

    @Test
    @Clause({"P-3", "M-1"})
    void rejection_inStrictMode_isReportedAfterTheRead() {
        loop = open(LoopConfig.DEFAULT.withStrictMicrotasks(true));
        rejectInTwoReads(true);
        assertThat(log).containsExactly("first", "reported", "second");
    }

    @Test
    @Clause({"P-3", "M-2"})
    void rejection_whenTheBudgetIsUsedUp_isReportedOnceAllMicrotasksHaveRun() {
        loop = open(LoopConfig.DEFAULT.withMicrotaskBudget(2));
        loop.submit(
                () -> {
                    Promise<String> handledLate = rejected();
                    rejected();
                    loop.microtask(() -> log.add("1"));
                    loop.microtask(() -> log.add("2"));
                    loop.microtask(() -> handledLate.recover(e -> log.add("4") + ""));
                    loop.microtask(() -> log.add("3"));
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("1", "2", "breach", "3", "breach", "4", "reported");
    }

    // ------------------------------------------------------------------ where it was made

    @Test
    @Clause("P-3")
    void createdAt_withoutTracing_isNull() {
        assertThat(rejected().recover(e -> "").createdAt()).isNull();
        assertThat(loop.deferred().promise().createdAt()).isNull();
    }

    @Test
    @Clause("P-3")
    void createdAt_withTracing_showsWhoMadeIt() {
        loop = open(LoopConfig.DEFAULT.withPromiseTracing(true));
        loop.submit(this::rejected);
        loop.runUntilEmpty();
        Throwable createdAt = reported.getFirst().createdAt();
        assertThat(createdAt).isNotNull();
        assertThat(createdAt.getStackTrace())
                .anyMatch(
                        frame ->
                                frame.getClassName().equals(getClass().getName())
                                        && frame.getMethodName().equals("rejected"));
    }

    @Test
    @Clause("P-3")
    void defaultObserver_saysWhatToDo() {
        try (LogCapture logged = new LogCapture();
                EventLoop plain = EventLoop.open(LoopConfig.DEFAULT.withName("plain"));
                EventLoop tracing = EventLoop.open(LoopConfig.DEFAULT.withPromiseTracing(true))) {
            for (EventLoop each : List.of(plain, tracing)) {
                each.submit(() -> Promise.rejected(each, reason));
                each.runUntilEmpty();
                assertThat(each.metrics().unhandledRejections()).isEqualTo(1);
            }
            assertThat(logged.messages()).hasSize(2);
            assertThat(logged.messages().getFirst())
                    .contains("EventLoop[plain")
                    .contains("unhandled rejection of Promise#1")
                    .contains("java.io.IOException")
                    .contains("end the chain with recover, or await it")
                    .contains("LoopConfig.withPromiseTracing");
            assertThat(logged.messages().getLast())
                    .contains("Created at \n\tat " + getClass().getName() + ".")
                    .doesNotContain("withPromiseTracing");
        }
    }

    // ------------------------------------------------------------------ the observer

    @Test
    @Clause({"P-3", "L-10"})
    void observer_thatThrows_isLeftToThePolicyAndHearsOfTheRest() {
        IllegalStateException failure = new IllegalStateException("observer");
        whenReported =
                promise -> {
                    if (reported.size() == 1) {
                        throw failure;
                    }
                };
        loop.submit(
                () -> {
                    rejected();
                    rejected();
                });
        loop.runUntilEmpty();
        assertThat(uncaught).containsExactly(failure);
        assertThat(reported).hasSize(2);
    }

    @Test
    @Clause({"P-3", "L-10"})
    void observer_thatThrowsUnderPropagate_hearsOfTheRestInTheNextRun() {
        loop = open(LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE));
        IllegalStateException failure = new IllegalStateException("observer");
        whenReported =
                promise -> {
                    throw failure;
                };
        loop.submit(
                () -> {
                    rejected();
                    rejected();
                });
        assertThatThrownBy(loop::runUntilEmpty).isSameAs(failure);
        assertThat(reported).hasSize(1);
        assertThatThrownBy(loop::runUntilEmpty).isSameAs(failure);
        assertThat(reported).hasSize(2);
        loop.runUntilEmpty();
    }

    @Test
    @Clause("P-3")
    void observer_thatAttachesAHandlerOrAMicrotask_hasItRunInTheSameBarrier() {
        whenReported =
                promise -> {
                    promise.recover(e -> null).finallyRun(() -> log.add("handler"));
                    loop.microtask(() -> log.add("microtask"));
                };
        loop.submit(this::rejected);
        loop.submit(() -> log.add("next callback"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("reported", "microtask", "handler", "next callback");
    }

    @Test
    @Clause("P-3")
    void observer_thatRejectsAnother_hearsOfThatTooAndTheLoopGoesOn() {
        whenReported =
                promise -> {
                    if (reported.size() < 1_000) {
                        rejected();
                    }
                };
        loop.submit(
                () -> {
                    rejected();
                    loop.after(Duration.ZERO, timer -> log.add("timer"));
                });
        loop.runUntilEmpty();
        assertThat(reported).hasSize(1_000);
        assertThat(log.indexOf("timer"))
                .as("an observer that leads to itself must not stop the loop")
                .isLessThan(900);
    }

    @Test
    @Clause("P-3")
    void rejections_ofAnyNumberInOneBarrier_areEachReportedOnce() {
        int count = 3_000;
        List<Promise<String>> all = new ArrayList<>();
        loop.submit(
                () -> {
                    for (int i = 0; i < count; i++) {
                        all.add(rejected());
                    }
                });
        loop.runUntilEmpty();
        assertThat(loop.metrics().unhandledRejections()).isEqualTo(count);
        assertThat(new ArrayList<Object>(reported)).isEqualTo(all);
    }

    @Test
    @Clause("P-3")
    void rejections_ofAnyNumber_handledLaterInTheBarrier_areNotCounted() {
        List<Promise<String>> all = new ArrayList<>();
        loop.submit(
                () -> {
                    for (int i = 0; i < 3_000; i++) {
                        all.add(rejected());
                    }
                    loop.microtask(() -> all.forEach(each -> each.recover(e -> "handled")));
                });
        loop.runUntilEmpty();
        assertThat(loop.metrics().unhandledRejections()).isZero();
        assertThat(reported).isEmpty();
    }

    @Test
    @Clause({"P-3", "M-2"})
    void rejections_inABarrierWithoutEnd_areReportedAllTheSame() {
        int count = 70_000;
        loop.submit(
                () -> {
                    for (int i = 0; i < count; i++) {
                        rejected();
                    }
                    loop.microtask(this::again);
                });
        loop.after(Duration.ofSeconds(1), timer -> loop.stop());
        loop.run();
        assertThat(reported).as("all but those that are carried on").hasSize(count - (1 << 16));
    }

    private void again() {
        backend.advance(1_000_000);
        loop.microtask(this::again);
    }

    @Test
    @Clause("P-3")
    void rejections_moreThanAreKept_butHandled_areNotCounted() {
        loop.submit(
                () -> {
                    for (int i = 0; i < 10_000; i++) {
                        rejected().recover(e -> "handled");
                    }
                });
        loop.runUntilEmpty();
        assertThat(loop.metrics().unhandledRejections()).isZero();
    }

    @Test
    @Clause("P-3")
    void observer_thatHandlesTheRestAndRejectsMore_hearsOfWhatIsLeftAndNothingBreaks() {
        List<Promise<String>> all = new ArrayList<>();
        List<Promise<String>> more = new ArrayList<>();
        whenReported =
                first -> {
                    whenReported = null;
                    all.forEach(promise -> promise.recover(e -> "handled"));
                    more.add(rejected());
                    more.add(rejected());
                };
        loop.submit(
                () -> {
                    for (int i = 0; i < 1_024; i++) {
                        all.add(rejected());
                    }
                });
        loop.runUntilEmpty();
        assertThat(uncaught).isEmpty();
        assertThat(reported).hasSize(3).startsWith(all.getFirst()).containsAll(more);
    }
}
