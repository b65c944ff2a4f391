package dev.gyre.internal.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Cancellation;
import dev.gyre.CancellationSource;
import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.Reachability;
import dev.gyre.WatchSpec;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.io.FakeDescriptors;
import dev.gyre.internal.loop.Loop;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/// A loop keeps no promise reachable that nothing can settle.
class PromiseGarbageTest {
    /// Enough ticks for a full cycle of the cursor over the smallest table.
    private static final int TICKS_PER_CYCLE =
            Math.ceilDiv(Registry.MIN_CAPACITY, Promises.SLOTS_PER_TICK);

    private final ScriptedBackend backend = new ScriptedBackend();
    private final List<String> log = new ArrayList<>();
    private Loop loop = Loop.open(LoopConfig.DEFAULT, backend);

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    private void tick() {
        loop.submit(() -> {});
        loop.runSome();
    }

    /// Returns the result of the supplier, called in a tick that has ended when this returns.
    private Reachability madeInATick(Supplier<?> made) {
        Reachability[] result = new Reachability[1];
        loop.submit(() -> result[0] = Reachability.of(made));
        loop.runSome();
        return result[0];
    }

    private Promise<Integer> pending() {
        return loop.<Integer>deferred().promise();
    }

    // ------------------------------------------------------------------ dropped

    @Test
    @Clause("R-1")
    void promise_droppedWhilePending_isCollectedAndLeavesTheRegistryWithinOneCycle() {
        long[] id = new long[1];
        Reachability dropped =
                madeInATick(
                        () -> {
                            Promise<Integer> promise = pending();
                            id[0] = promise.id();
                            return promise;
                        });
        assertThat(loop.metrics().promises()).isEqualTo(1);
        dropped.assertLost("a pending promise that was dropped");
        assertThat(loop.promises().registry.find(id[0])).isNull();
        for (int i = 0; i < TICKS_PER_CYCLE; i++) {
            tick();
        }
        assertThat(loop.metrics().promises()).isZero();
        assertThat(loop.metrics().promisesScavenged()).isEqualTo(1);
    }

    @Test
    @Clause("R-1")
    void promise_madeWhileNobodyRuns_isCollectedWhenDropped() {
        Reachability dropped = Reachability.of(() -> pending().then(n -> n + 1));
        assertThat(loop.metrics().promises()).as("registered at once").isEqualTo(2);
        dropped.assertLost("a pending promise of a loop that does not run");
        for (int i = 0; i < TICKS_PER_CYCLE; i++) {
            tick();
        }
        assertThat(loop.metrics().promises()).isZero();
    }

    @Test
    @Clause("R-1")
    void chain_dropped_isCollected() {
        Reachability chain =
                madeInATick(
                        () ->
                                pending()
                                        .then(n -> n + 1)
                                        .thenCompose(n -> pending())
                                        .recover(e -> 0)
                                        .finallyRun(() -> {})
                                        .thenAccept(n -> {}));
        chain.assertLost("the end of a chain from a promise that was dropped");
    }

    @Test
    @Clause("R-1")
    void stepsThatGoRoundInACircle_dropped_areCollected() {
        Reachability circle =
                madeInATick(
                        () -> {
                            Deferred<Integer> one = loop.deferred();
                            Deferred<Integer> other = loop.deferred();
                            one.promise().then(other::resolve);
                            other.promise().then(one::resolve);
                            return one;
                        });
        circle.assertLost("two promises that wait for each other");
    }

    @Test
    @Clause("R-1")
    void combinations_dropped_areCollected() {
        List<Reachability> all = new ArrayList<>();
        all.add(madeInATick(() -> Promise.all(loop, List.of(pending(), pending()))));
        all.add(madeInATick(() -> Promise.allSettled(loop, List.of(pending(), pending()))));
        all.add(madeInATick(() -> Promise.any(loop, List.of(pending(), pending()))));
        all.add(madeInATick(() -> Promise.race(loop, List.of(pending(), pending()))));
        all.forEach(each -> each.assertLost("a combination of promises that were dropped"));
    }

    @Test
    @Clause("R-1")
    void guard_droppedWithItsCancellation_isCollected() {
        Reachability guard =
                madeInATick(() -> pending().cancelOn(new CancellationSource().cancellation()));
        guard.assertLost("a guard whose source and cancellation were dropped");
    }

    @Test
    @Clause("R-1")
    void follower_ofADroppedPromise_isCollected() {
        Reachability follower =
                madeInATick(
                        () -> {
                            Deferred<Integer> deferred = loop.deferred();
                            deferred.follow(pending());
                            return deferred.promise();
                        });
        follower.assertLost("a promise that follows one that was dropped");
    }

    // ------------------------------------------------------------------ held

    @Test
    @Clause("R-1")
    void delay_droppedByTheUser_isHeldByItsTimer() {
        Reachability delay =
                madeInATick(
                        () ->
                                Promise.delay(loop, Duration.ofSeconds(1))
                                        .finallyRun(() -> log.add("later")));
        assertThat(delay.isLost()).isFalse();
        loop.runUntilEmpty();
        assertThat(log).containsExactly("later");
        delay.assertLost("a delay that is over");
    }

    @Test
    @Clause("R-1")
    void timeout_droppedByTheUser_isHeldByItsTimer() {
        Reachability guard =
                madeInATick(
                        () ->
                                pending()
                                        .orTimeout(Duration.ofSeconds(1))
                                        .recover(e -> 0)
                                        .thenAccept(n -> log.add("timed out")));
        assertThat(guard.isLost()).isFalse();
        loop.runUntilEmpty();
        assertThat(log).containsExactly("timed out");
        guard.assertLost("a guard that gave up");
    }

    @Test
    @Clause("R-1")
    void guard_droppedByTheUser_isHeldByTheCancellationThatMayCome() {
        CancellationSource source = new CancellationSource();
        Reachability guard =
                madeInATick(
                        () ->
                                pending()
                                        .cancelOn(source.cancellation())
                                        .recover(e -> 0)
                                        .thenAccept(n -> log.add("cancelled")));
        assertThat(guard.isLost()).isFalse();
        source.cancel();
        loop.runUntilEmpty();
        assertThat(log).containsExactly("cancelled");
        guard.assertLost("a guard that was cancelled");
    }

    @Test
    @Clause({"P-2", "R-1"})
    void work_droppedByTheUser_isHeldByItsWorker() {
        List<Runnable> worker = new ArrayList<>();
        Reachability work =
                madeInATick(
                        () ->
                                loop.promisify(worker::add, Cancellation.none(), c -> "done")
                                        .thenAccept(log::add));
        assertThat(work.isLost()).isFalse();
        worker.removeLast().run();
        loop.runUntilEmpty();
        assertThat(log).containsExactly("done");
        work.assertLost("work that is done");
    }

    @Test
    @Clause({"P-4", "R-1"})
    void stage_ofSomebodyElse_holdsItsPromiseUntilItIsComplete() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        Reachability promise = madeInATick(() -> Promise.from(loop, stage).thenAccept(log::add));
        assertThat(promise.isLost()).isFalse();
        stage.complete("stage");
        loop.runUntilEmpty();
        assertThat(log).containsExactly("stage");
        promise.assertLost("the promise of a stage that is complete");
    }

    @Test
    @Clause({"P-5", "R-1"})
    void cancellation_thatOutlivesItsPromises_keepsNoneThatSettled() {
        CancellationSource server = new CancellationSource();
        Deferred<Integer> request = loop.deferred();
        Reachability guard = madeInATick(() -> request.promise().cancelOn(server.cancellation()));
        Reachability delay =
                madeInATick(() -> Promise.delay(loop, Duration.ofMillis(1), server.cancellation()));
        loop.submit(() -> request.resolve(1));
        loop.runUntilEmpty();
        guard.assertLost("a promise that was settled before its cancellation came");
        delay.assertLost("a delay that was over before its cancellation came");
        assertThat(server.cancel()).isTrue();
    }

    @Test
    @Clause({"P-4", "S-4"})
    void stage_thatOutlivesLoops_keepsNothingOfThem() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        Reachability dead =
                Reachability.of(
                        () -> {
                            Loop over = Loop.open(LoopConfig.DEFAULT, new ScriptedBackend());
                            Promise.from(over, stage);
                            over.close();
                            return over;
                        });
        dead.assertLost("a closed loop that waited for a stage");
        assertThat(stage.complete("for nobody")).isTrue();
    }

    @Test
    @Clause("R-1")
    void deferred_heldByAnyone_holdsWhatWaitsForIt() {
        List<Deferred<String>> held = new ArrayList<>();
        Reachability step =
                madeInATick(
                        () -> {
                            held.add(loop.deferred());
                            return held.getFirst().promise().thenAccept(log::add);
                        });
        assertThat(step.isLost()).isFalse();
        loop.submit(() -> held.getFirst().resolve("resolved"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("resolved");
        step.assertLost("a step that has run");
    }

    // ------------------------------------------------------------------ long-lived sources

    @Test
    @Clause("R-1")
    void longLivedSource_keepsNoGuardThatWasCancelled() {
        Promise<Integer> source = pending();
        CancellationSource later = new CancellationSource();
        Reachability guard =
                madeInATick(() -> source.cancelOn(later.cancellation()).recover(e -> 0));
        later.cancel();
        tick();
        guard.assertLost("a cancelled guard of a promise that is still pending");
        assertThat(source.isSettled()).isFalse();
    }

    @Test
    @Clause("R-1")
    void longLivedSource_keepsNoGuardThatWasCancelledFromTheStart() {
        Promise<Integer> source = pending();
        CancellationSource before = new CancellationSource();
        before.cancel();
        Reachability guard =
                madeInATick(
                        () -> {
                            Promise<Integer> cancelled = source.cancelOn(before.cancellation());
                            cancelled.recover(e -> 0);
                            return cancelled;
                        });
        guard.assertLost("a guard that was cancelled before it was made");
        assertThat(source.isSettled()).isFalse();
    }

    @Test
    @Clause("R-1")
    void longLivedSource_keepsNoCombinationThatAnotherDecided() {
        Promise<Integer> source = pending();
        List<Reachability> all = new ArrayList<>();
        Supplier<List<Promise<Integer>>> won =
                () -> List.of(source, Promise.resolved(loop, 1), source);
        all.add(madeInATick(() -> Promise.race(loop, won.get())));
        all.add(madeInATick(() -> Promise.any(loop, won.get())));
        all.add(
                madeInATick(
                        () -> {
                            Promise<Integer> lost = Promise.rejected(loop, new Exception("lost"));
                            Promise<?> whole = Promise.all(loop, List.of(source, lost));
                            whole.recover(e -> null);
                            return whole;
                        }));
        all.forEach(each -> each.assertLost("a settled combination of a source still pending"));
        assertThat(source.isSettled()).isFalse();
    }

    @Test
    @Clause("R-1")
    void longLivedSource_ofAnotherLoop_keepsNoCombinationThatAnotherDecided() {
        try (Loop another = Loop.open(LoopConfig.DEFAULT, new ScriptedBackend())) {
            Promise<Integer> source = another.<Integer>deferred().promise();
            Reachability race =
                    madeInATick(
                            () -> Promise.race(loop, List.of(source, Promise.resolved(loop, 1))));
            another.submit(() -> {});
            another.runSome(); // It attaches what waits for the source.
            race.assertLost("a settled race with a promise of another loop");
            assertThat(source.isSettled()).isFalse();
        }
    }

    @Test
    @Clause("R-1")
    void settledStep_heldByAnyone_holdsNeitherItsSourceNorItsHandler() {
        List<Promise<?>> held = new ArrayList<>();
        Reachability source =
                madeInATick(
                        () -> {
                            Promise<Integer> resolved = Promise.resolved(loop, 1);
                            held.add(resolved.then(n -> n + 1));
                            return resolved;
                        });
        Reachability handler =
                madeInATick(
                        () -> {
                            Object captured = new Object();
                            held.add(Promise.resolved(loop, 1).then(captured::equals));
                            return captured;
                        });
        source.assertLost("the source of a step that has run");
        handler.assertLost("the handler of a step that has run");
        assertThat(held).allMatch(Promise::isSettled);
    }

    @Test
    @Clause("R-1")
    void settledCombination_heldByAnyone_doesNotHoldItsSources() {
        List<Promise<?>> held = new ArrayList<>();
        Reachability loser =
                madeInATick(
                        () -> {
                            Promise<Integer> pending = pending();
                            held.add(
                                    Promise.race(
                                            loop, List.of(pending, Promise.resolved(loop, 1))));
                            return pending;
                        });
        loser.assertLost("the loser of a race that is over");
        assertThat(held).allMatch(Promise::isSettled);
    }

    // ------------------------------------------------------------------ the newest

    @Test
    @Clause("R-1")
    void newest_whileTheLoopWaits_keepNothingAlive() {
        List<Reachability> made = new ArrayList<>();
        FakeDescriptors fakes = new FakeDescriptors();
        loop.watch(
                fakes.get(7), WatchSpec.reading(ready -> made.add(Reachability.of(this::pending))));
        backend.makeReady(7, Readiness.READ); // After the poll: the last callbacks of a turn.
        loop.submit(() -> made.add(Reachability.of(this::pending)));
        backend.duringWait(
                () -> {
                    assertThat(made).hasSize(2);
                    made.forEach(each -> each.assertLost("a promise, while the loop waits"));
                    log.add("waited");
                    loop.stop();
                });
        loop.run();
        assertThat(log).containsExactly("waited");
    }

    @Test
    @Clause("R-1")
    void newest_afterARunThatEndedInTheMiddleOfATick_keepNothingAlive() {
        Reachability[] made = new Reachability[1];
        loop.submit(() -> made[0] = Reachability.of(this::pending));
        loop.submit(() -> log.add("still queued"));
        loop.runOne();
        made[0].assertLost("a promise made in a run that has returned");
        assertThat(log).isEmpty();
        loop.runUntilEmpty();
        assertThat(log).containsExactly("still queued");
    }

    @Test
    @Clause("R-1")
    void newest_afterARunThatThrew_keepNothingAlive() {
        loop.close();
        loop =
                Loop.open(
                        LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE),
                        new ScriptedBackend());
        Reachability[] made = new Reachability[1];
        loop.submit(
                () -> {
                    made[0] = Reachability.of(this::pending);
                    throw new IllegalStateException("thrown");
                });
        assertThatThrownBy(loop::runSome).hasMessage("thrown");
        made[0].assertLost("a promise made in a run that threw");
    }

    // ------------------------------------------------------------------ the end

    @Test
    @Clause({"R-1", "S-3"})
    void loop_closedBetweenRuns_keepsNothingAliveAndNoTable() {
        List<Promise<Integer>> held = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            held.add(pending());
        }
        Reachability kept = Reachability.of(held::getFirst);
        assertThat(loop.promises().registry.capacity()).isEqualTo(2_048);
        loop.close();
        assertThat(held).allMatch(Promise::isSettled);
        held.clear();
        kept.assertLost("a promise of a loop that is closed");
        assertThat(loop.promises().registry.capacity()).isEqualTo(Registry.MIN_CAPACITY);
        assertThat(loop.metrics().promises()).isZero();
        assertThat(loop.metrics().promisesScavenged()).isEqualTo(1_000);
    }

    @Test
    @Clause({"R-1", "S-1"})
    void loop_shutDownByACallback_keepsNothingAlive() {
        List<Reachability> made = new ArrayList<>();
        loop.submit(
                () -> {
                    made.add(Reachability.of(this::pending));
                    made.add(Reachability.of(() -> pending().then(n -> n + 1)));
                    made.add(Reachability.of(() -> Promise.all(loop, List.of(pending()))));
                    made.add(Reachability.of(() -> Promise.delay(loop, Duration.ofHours(1))));
                    made.add(Reachability.of(() -> Promise.resolved(loop, 1).then(n -> n + 1)));
                    loop.shutdown(Duration.ofSeconds(1));
                });
        loop.run();
        made.forEach(each -> each.assertLost("a promise of a loop that is over"));
        assertThat(loop.metrics().promises()).isZero();
    }

    @Test
    @Clause("R-1")
    void follower_madeWhileNobodyRuns_isCollectedWhenDropped() {
        Reachability follower =
                Reachability.of(
                        () -> {
                            Deferred<Integer> following = loop.deferred();
                            following.follow(pending());
                            return following;
                        });
        Reachability promise =
                Reachability.of(
                        () -> {
                            Deferred<Integer> following = loop.deferred();
                            following.follow(pending());
                            return following.promise();
                        });
        follower.assertLost("the writing end of a follower");
        promise.assertLost("a follower in a loop that does not run");
    }

    @Test
    @Clause("R-1")
    void longLivedSource_ofAnotherLoop_keepsNoFollowerOfALoopThatIsOver() {
        try (Loop another = Loop.open(LoopConfig.DEFAULT, new ScriptedBackend())) {
            Promise<Integer> source = another.<Integer>deferred().promise();
            Reachability follower =
                    madeInATick(
                            () -> {
                                Deferred<Integer> following = loop.deferred();
                                following.follow(source);
                                return following.promise();
                            });
            another.submit(() -> {});
            another.runSome(); // It attaches what waits for the source.
            loop.close();
            another.submit(() -> {});
            another.runSome(); // And takes it out again.
            follower.assertLost("a follower whose loop is over");
            assertThat(source.isSettled()).isFalse();
        }
    }

    @Test
    @Clause("R-1")
    void stage_ofSomebodyElse_keepsNothingOfALoopThatIsOver() {
        CompletableFuture<String> stage = new CompletableFuture<>();
        Reachability promise = madeInATick(() -> Promise.from(loop, stage));
        loop.close();
        promise.assertLost("the promise of a stage that outlives the loop");
        assertThat(stage.complete("too late")).isTrue();
    }
}
