package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import static java.util.Objects.requireNonNull;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/// Long chains of promises and the memory that they retain.
class PromiseMemoryTest extends PromiseFixture {
    private static final int MANY = 1_000_000;

    // ------------------------------------------------------------------ length

    @Test
    @Clause("P-1")
    void chain_ofAMillionSteps_settlesWithoutDeepStacks() {
        Deferred<Integer> first = loop.deferred();
        Promise<Integer> last = first.promise();
        for (int i = 0; i < MANY; i++) {
            last = last.then(n -> n + 1);
        }
        first.resolve(0);
        loop.runUntilEmpty();
        assertThat(last.outcome()).isEqualTo(resolved(MANY));
    }

    @Test
    @Clause("P-1")
    void rejection_atTheHeadOfAMillionSteps_reachesTheEnd() {
        Deferred<String> first = loop.deferred();
        Promise<String> last = first.promise();
        for (int i = 0; i < MANY; i++) {
            last = last.finallyRun(() -> {});
        }
        note("last", last);
        first.reject(TROUBLE);
        loop.runUntilEmpty();
        assertThat(log).containsExactly("last rejected trouble");
    }

    @Test
    @Clause("P-1")
    void thenCompose_recursiveForAMillionRounds_settlesWithoutDeepStacks() {
        Promise<String> whole = countdown(MANY);
        loop.runUntilEmpty();
        assertThat(whole.outcome()).isEqualTo(resolved("lift-off"));
    }

    private Promise<String> countdown(int from) {
        return Promise.resolved(loop, from)
                .thenCompose(n -> n == 0 ? Promise.resolved(loop, "lift-off") : countdown(n - 1));
    }

    @Test
    @Clause("P-1")
    void rounds_thatNobodyWaitsFor_keepNothingOfThoseBefore() {
        List<Reachability> early = new ArrayList<>();
        goRound(MANY, early);
        loop.runUntilEmpty();
        assertThat(early).hasSize(2);
        assertThat(loop.metrics().promises()).as("entries in the registry").isLessThan(1_000);
    }

    private void goRound(int left, List<Reachability> early) {
        Promise<Integer> round = Promise.resolved(loop, left).thenCompose(n -> later(n - 1));
        if (left > MANY - 2) {
            early.add(Reachability.of(() -> round));
        }
        if (left == MANY - 1_000 || left == 1) {
            early.forEach(each -> each.assertLost("an early round"));
        }
        round.thenAccept(
                n -> {
                    if (n > 0) {
                        goRound(n, early);
                    }
                });
    }

    /// Settles after the microtasks that are queued now.
    private Promise<Integer> later(int value) {
        Deferred<Integer> deferred = loop.deferred();
        loop.microtask(() -> deferred.resolve(value));
        return deferred.promise();
    }

    // ------------------------------------------------------------------ what is kept

    /// Attaches steps whose handlers capture the second argument.
    private static final List<BiFunction<Promise<Object>, Object, Promise<?>>> STEPS =
            List.of(
                    (source, captured) -> source.then(value -> captured.hashCode()),
                    (source, captured) ->
                            source.then(value -> captured.hashCode(), r -> captured.hashCode()),
                    (source, captured) -> source.thenAccept(value -> requireNonNull(captured)),
                    (source, captured) ->
                            source.thenCompose(
                                    v -> Promise.resolved(source.loop(), captured.hashCode())),
                    (source, captured) ->
                            source.then(value -> "").recover(r -> "" + captured.hashCode()),
                    (source, captured) ->
                            source.then(v -> "")
                                    .recover(IllegalStateException.class, r -> "" + captured),
                    (source, captured) ->
                            source.then(value -> "").finallyRun(() -> requireNonNull(captured)),
                    (source, captured) ->
                            source.then(v -> "")
                                    .recoverCompose(
                                            r -> Promise.resolved(source.loop(), "" + captured)),
                    (source, captured) -> source.then(v -> "").orTimeout(Duration.ofHours(1)),
                    (source, captured) ->
                            source.then(v -> "").cancelOn(new CancellationSource().cancellation()));

    @Test
    @Clause({"P-1", "R-1"})
    void settledStep_keepsNeitherItsSourceNorItsHandler() {
        for (var step : STEPS) {
            Deferred<Object> source = loop.deferred();
            List<Reachability> gone = new ArrayList<>();
            Promise<?> kept = settledStep(step, gone);
            loop.runUntilEmpty();
            assertThat(kept.isSettled()).isTrue();
            gone.get(0).assertLost("the value of the source of " + kept);
            gone.get(1).assertLost("the source of " + kept);
            gone.get(2).assertLost("what the handler of " + kept + " captured");
            assertThat(source.promise().isSettled()).isFalse();
        }
    }

    private Promise<?> settledStep(
            BiFunction<Promise<Object>, Object, Promise<?>> step, List<Reachability> gone) {
        Object value = new Object();
        Object captured = new Object();
        Deferred<Object> source = loop.deferred();
        gone.add(Reachability.of(() -> value));
        gone.add(Reachability.of(source::promise));
        gone.add(Reachability.of(() -> captured));
        Promise<?> made = step.apply(source.promise(), captured);
        source.resolve(value);
        return made;
    }

    @Test
    @Clause({"P-1", "R-1"})
    void settledCombination_keepsNothingButItsValue() {
        for (boolean race : List.of(true, false)) {
            List<Reachability> gone = new ArrayList<>();
            Promise<?> kept = settledCombination(race, gone);
            loop.runUntilEmpty();
            assertThat(kept.isSettled()).isTrue();
            gone.forEach(each -> each.assertLost("a promise that " + kept + " was made of"));
        }
    }

    private Promise<?> settledCombination(boolean race, List<Reachability> gone) {
        List<Deferred<Object>> sources = List.of(loop.deferred(), loop.deferred());
        var promises = sources.stream().map(Deferred::promise).toList();
        promises.forEach(each -> gone.add(Reachability.of(() -> each)));
        Promise<?> made = race ? Promise.race(loop, promises) : Promise.all(loop, promises);
        sources.forEach(each -> each.resolve(VALUE));
        return made;
    }

    @Test
    @Clause({"P-1", "R-1"})
    void pendingPromise_keepsNoneOfThoseThatHaveGivenItUp() {
        for (EventLoop owner : List.of(loop, other)) {
            Deferred<String> pending = owner.deferred();
            List<Reachability> gone = new ArrayList<>();
            giveUp(pending.promise(), gone);
            runBoth();
            runBoth();
            gone.forEach(each -> each.assertLost("what no longer waits for " + pending));
        }
    }

    private void giveUp(Promise<String> pending, List<Reachability> gone) {
        Promise<String> settled = Promise.resolved(loop, VALUE);
        List<Promise<?>> givenUp =
                new ArrayList<>(
                        List.of(
                                Promise.race(loop, List.of(pending, settled)),
                                Promise.any(loop, List.of(settled, pending)),
                                Promise.all(
                                        loop, List.of(pending, Promise.rejected(loop, TROUBLE)))));
        if (pending.loop() == loop) {
            var source = new CancellationSource();
            givenUp.add(pending.orTimeout(Duration.ofSeconds(1)));
            givenUp.add(pending.cancelOn(source.cancellation()));
            source.cancel();
            loop.submit(
                    () -> gone.add(Reachability.of(() -> pending.cancelOn(source.cancellation()))));
        }
        givenUp.forEach(each -> gone.add(Reachability.of(() -> each)));
    }

    @Test
    @Clause({"P-1", "R-1"})
    void pendingPromise_thatNobodyHolds_isGarbageWithAllItsSteps() {
        List<Reachability> gone = new ArrayList<>();
        inLoop(
                () -> {
                    Promise<String> pending = loop.<String>deferred().promise();
                    Promise<String> step = pending.then(value -> value).finallyRun(() -> {});
                    gone.add(Reachability.of(() -> pending));
                    gone.add(Reachability.of(() -> step));
                });
        gone.forEach(each -> each.assertLost("a pending promise"));
    }
}
