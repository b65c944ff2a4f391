package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;

/// Promises that settle as another one does: the second half of the Promises/A+ clauses, for
/// `follow`, `thenCompose` and `recoverCompose`, within a loop and from one loop to another.
class PromiseFollowingTest extends PromiseFixture {
    /// The ways to make a promise follow another.
    private static final List<BiFunction<EventLoop, Promise<String>, Promise<String>>> WAYS =
            List.of(
                    (loop, followed) -> {
                        Deferred<String> deferred = loop.deferred();
                        assertThat(deferred.follow(followed)).isTrue();
                        return deferred.promise();
                    },
                    (loop, followed) -> Promise.resolved(loop, "").thenCompose(v -> followed),
                    (loop, followed) ->
                            Promise.<String>rejected(loop, TROUBLE).recoverCompose(r -> followed));

    // ------------------------------------------------------------------ 2.3.1 itself

    @Test
    @Clause("P-1")
    void clause_2_3_1_followingItself_isRejected() {
        inLoop(
                () -> {
                    Deferred<String> deferred = loop.deferred();
                    assertThat(deferred.follow(deferred.promise())).isTrue();
                    note("deferred", deferred.promise());
                });
        assertThat(log).hasSize(1).first().asString().contains("follow itself");
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_3_1_handlerThatReturnsItsOwnPromise_isRejected(When when) {
        List<Promise<String>> steps = new ArrayList<>();
        resolving(when, promise -> steps.add(promise.thenCompose(value -> steps.getFirst())));
        rejecting(when, promise -> steps.add(promise.recoverCompose(reason -> steps.getLast())));
        assertThat(steps).hasSize(2).allSatisfy(PromiseFollowingTest::assertRejectedForItself);
        assertThat(unhandled).hasSize(2).allMatch(IllegalStateException.class::isInstance);
    }

    private static void assertRejectedForItself(Promise<?> promise) {
        assertThat(promise.outcome())
                .isInstanceOfSatisfying(
                        Outcome.Rejected.class,
                        outcome ->
                                assertThat(outcome.reason())
                                        .isInstanceOf(IllegalStateException.class)
                                        .hasMessageContaining("follow itself"));
    }

    @Test
    @Clause("P-1")
    void clause_2_3_1_followingItselfByWayOfOthers_isRejectedAndTheOthersWithIt() {
        List<Deferred<String>> circle = new ArrayList<>();
        inLoop(
                () -> {
                    for (int i = 0; i < 5; i++) {
                        circle.add(loop.deferred());
                    }
                    for (int i = 0; i < 5; i++) {
                        assertThat(circle.get(i).follow(circle.get((i + 1) % 5).promise()))
                                .isTrue();
                    }
                });
        assertThat(circle).allSatisfy(each -> assertRejectedForItself(each.promise()));
        assertThat(unhandled).as("the first has no follower").hasSize(1);
    }

    @Test
    @Clause("P-1")
    void clause_2_3_1_followingAGuardOfItself_settlesWhenTheGuardGivesUp() {
        inLoop(
                () -> {
                    Deferred<String> deferred = loop.deferred();
                    var source = new CancellationSource();
                    deferred.follow(deferred.promise().cancelOn(source.cancellation()));
                    note("deferred", deferred.promise());
                    loop.defer(() -> source.cancel("enough"));
                });
        assertThat(log).containsExactly("deferred rejected enough");
    }

    // ------------------------------------------------------------------ 2.3.2 another promise

    @Test
    @Clause("P-1")
    void clause_2_3_2_1_followingAPendingPromise_staysPendingAndNothingElseSettlesIt() {
        for (EventLoop owner : List.of(loop, other)) {
            Deferred<String> followed = owner.deferred();
            Deferred<String> deferred = loop.deferred();
            deferred.follow(followed.promise());
            note("deferred", deferred.promise());
            runBoth();
            assertThat(deferred.resolve("another")).isFalse();
            assertThat(deferred.reject(TROUBLE)).isFalse();
            assertThat(deferred.follow(Promise.resolved(loop, "another"))).isFalse();
            runBoth();
            assertThat(deferred.promise().isSettled()).isFalse();
            assertThat(log).isEmpty();
            followed.resolve(VALUE);
            runBoth();
            assertThat(log).containsExactly("deferred resolved value");
            log.clear();
        }
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_3_2_2_followingOneThatIsResolved_isResolvedWithTheSameValue(When when) {
        follows(when, resolved(VALUE), "resolved value");
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_3_2_3_followingOneThatIsRejected_isRejectedWithTheSameReason(When when) {
        follows(when, rejected(TROUBLE), "rejected trouble");
    }

    private void follows(When when, Outcome<String> outcome, String text) {
        for (EventLoop owner : List.of(loop, other)) {
            for (var way : WAYS) {
                log.clear();
                List<Promise<String>> kept = new ArrayList<>();
                settle(
                        owner,
                        when,
                        outcome,
                        followed -> {
                            Promise<String> follower = way.apply(loop, followed);
                            assertThat(follower).isNotSameAs(followed);
                            note("follower", follower);
                            kept.add(follower);
                        });
                runBoth();
                assertThat(log).containsExactly("follower " + text);
                assertThat(kept.getFirst().outcome()).isEqualTo(outcome);
            }
        }
        assertThat(unhandled).as("a follower handles it").isEmpty();
    }

    @Test
    @Clause("P-1")
    void clause_2_3_2_followersOfOnePromise_settleInTheOrderTheyFollowed() {
        Deferred<String> followed = loop.deferred();
        for (int i = 0; i < 6; i++) {
            Promise<String> follower = WAYS.get(i % 3).apply(loop, followed.promise());
            loop.runUntilEmpty();
            String name = "follower " + i;
            follower.thenAccept(value -> log.add(name));
        }
        followed.promise().thenAccept(value -> log.add("a handler attached last"));
        followed.resolve(VALUE);
        loop.runUntilEmpty();
        assertThat(log)
                .containsExactly(
                        "a handler attached last",
                        "follower 0",
                        "follower 1",
                        "follower 2",
                        "follower 3",
                        "follower 4",
                        "follower 5");
    }

    @Test
    @Clause("P-1")
    void clause_2_3_2_followingAChainOfFollowers_takesTheOutcomeFromItsEnd() {
        Deferred<String> end = other.deferred();
        Promise<String> next = end.promise();
        for (int i = 0; i < 20; i++) {
            next = WAYS.get(i % 3).apply(i % 2 == 0 ? loop : other, next);
        }
        note("last", next);
        runBoth();
        assertThat(log).isEmpty();
        end.resolve(VALUE);
        runBoth();
        assertThat(log).containsExactly("last resolved value");
    }

    @Test
    @Clause({"P-1", "R-2"})
    void clause_2_3_2_followingOneWhoseLoopEnds_isRejectedWithThat() {
        Deferred<String> followed = other.deferred();
        for (var way : WAYS) {
            note("follower", way.apply(loop, followed.promise()));
        }
        loop.runUntilEmpty();
        other.close();
        note("late", WAYS.getFirst().apply(loop, followed.promise()));
        loop.runUntilEmpty();
        assertThat(log)
                .hasSize(4)
                .allMatch(line -> line.contains("rejected loop there terminated"));
    }

    @Test
    @Clause("P-1")
    void clause_2_3_2_handlersOfAFollower_runOnTheFollowersOwnLoop() {
        Deferred<String> followed = other.deferred();
        WAYS.getFirst()
                .apply(loop, followed.promise())
                .thenAccept(value -> log.add(loop.isLoopThread() + " " + other.isLoopThread()));
        other.submit(() -> followed.resolve(VALUE));
        runBoth();
        assertThat(log).containsExactly("true false");
    }

    // ------------------------------------------------------------------ 2.3.4 anything else

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_3_4_promiseReturnedByThen_isAValueLikeAnyOther(When when) {
        Promise<String> value = Promise.resolved(loop, VALUE);
        List<Promise<String>> got = new ArrayList<>();
        resolving(when, promise -> promise.then(v -> value).thenAccept(got::add));
        assertThat(got).containsExactly(value);
    }
}
