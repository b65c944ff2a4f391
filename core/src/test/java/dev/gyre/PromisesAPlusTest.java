package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/// Promises against the clauses of the Promises/A+ specification, by number. [PromiseFollowingTest]
/// covers the clauses about following another promise.
///
/// Two clauses do not apply. Handlers are never optional (2.2.1): separate methods handle one
/// outcome, and a null handler is rejected. Handlers have no `this` (2.2.5).
class PromisesAPlusTest extends PromiseFixture {
    // ------------------------------------------------------------------ 2.1 states

    @Test
    @Clause("P-1")
    void clause_2_1_1_1_pending_maySettleEitherWay() {
        for (Outcome<String> outcome : List.<Outcome<String>>of(resolved("a"), rejected(TROUBLE))) {
            Deferred<String> deferred = loop.deferred();
            assertThat(deferred.promise().isSettled()).isFalse();
            assertThat(deferred.promise().outcome()).isNull();
            assertThat(settle(deferred, outcome)).isTrue();
            assertThat(deferred.promise().isSettled()).isTrue();
            assertThat(deferred.promise().outcome()).isEqualTo(outcome);
        }
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_1_2_resolved_staysSoWithItsValue(When when) {
        Deferred<String> deferred = loop.deferred();
        settle(loop, when, resolved(VALUE), first -> deferred.follow(first));
        deferred.promise().then(log::add, reason -> log.add("rejected"));
        runBoth();
        assertSettledForGood(deferred, resolved(VALUE));
        assertThat(log).containsExactly(VALUE);
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_1_3_rejected_staysSoWithItsReason(When when) {
        Deferred<String> deferred = loop.deferred();
        settle(loop, when, rejected(TROUBLE), first -> deferred.follow(first));
        deferred.promise().then(log::add, reason -> log.add("rejected"));
        runBoth();
        assertSettledForGood(deferred, rejected(TROUBLE));
        assertThat(log).containsExactly("rejected");
    }

    private void assertSettledForGood(Deferred<String> deferred, Outcome<String> outcome) {
        Deferred<String> pending = loop.deferred();
        inLoop(
                () -> {
                    assertThat(deferred.resolve("another")).isFalse();
                    assertThat(deferred.reject(new Trouble("another"))).isFalse();
                    assertThat(deferred.follow(pending.promise())).isFalse();
                    assertThat(deferred.follow(Promise.resolved(loop, "another"))).isFalse();
                });
        assertThat(deferred.promise().outcome()).isEqualTo(outcome);
    }

    // ------------------------------------------------------------------ 2.2.2, 2.2.3 which handler

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_2_2_onResolved_runsOnceAfterTheValueIsThere_withTheValue(When when) {
        resolving(
                when,
                promise ->
                        promise.then(
                                value -> {
                                    assertThat(promise.isSettled()).isTrue();
                                    return log.add("resolved " + value);
                                },
                                reason -> log.add("rejected " + reason)));
        assertThat(log).containsExactly("resolved value");
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_2_3_onRejected_runsOnceAfterTheReasonIsThere_withTheReason(When when) {
        List<Throwable> reasons = new ArrayList<>();
        rejecting(
                when,
                promise ->
                        promise.then(
                                value -> log.add("resolved " + value),
                                reason -> {
                                    assertThat(promise.isSettled()).isTrue();
                                    return reasons.add(reason);
                                }));
        assertThat(reasons).containsExactly(TROUBLE);
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("P-1")
    void clause_2_2_2_2_neverSettled_neverRunsAHandler() {
        inLoop(() -> note("never", loop.deferred().promise()));
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("P-1")
    void clause_2_2_2_3_settledAgainAndAgain_runsAHandlerOnce() {
        inLoop(
                () -> {
                    Deferred<String> deferred = loop.deferred();
                    note("twice", deferred.promise());
                    assertThat(deferred.resolve("first")).isTrue();
                    assertThat(deferred.resolve("second")).isFalse();
                    loop.defer(() -> assertThat(deferred.reject(TROUBLE)).isFalse());
                    loop.submit(() -> assertThat(deferred.resolve("third")).isFalse());
                });
        assertThat(log).containsExactly("twice resolved first");
    }

    @Test
    @Clause("P-1")
    void clause_2_2_3_3_attachedAtDifferentTimes_runsEachHandlerOnce() {
        inLoop(
                () -> {
                    Deferred<String> deferred = loop.deferred();
                    note("before", deferred.promise());
                    loop.defer(() -> note("meanwhile", deferred.promise()));
                    loop.after(Duration.ofMillis(1), timer -> deferred.reject(TROUBLE));
                    loop.after(Duration.ofMillis(2), timer -> note("after", deferred.promise()));
                });
        assertThat(log)
                .containsExactly(
                        "before rejected trouble",
                        "meanwhile rejected trouble",
                        "after rejected trouble");
    }

    // ------------------------------------------------------------------ 2.2.4 only the loop below

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause({"P-1", "M-1"})
    void clause_2_2_4_handlers_runOnlyWhenTheCallbackHasReturned(When when) {
        for (Outcome<String> outcome :
                List.<Outcome<String>>of(resolved(VALUE), rejected(TROUBLE))) {
            log.clear();
            settling(
                    when,
                    outcome,
                    promise -> {
                        log.add("attaching");
                        note("promise", promise);
                        promise.finallyRun(this::assertOnlyTheLoopIsBelow).recover(reason -> "");
                        log.add("attached");
                        loop.microtask(() -> log.add("microtask"));
                    });
            assertThat(log).startsWith("attaching", "attached").hasSize(4);
        }
    }

    private void assertOnlyTheLoopIsBelow() {
        assertThat(loop.isLoopThread()).isTrue();
        List<String> below =
                StackWalker.getInstance()
                        .walk(
                                frames ->
                                        frames.map(StackWalker.StackFrame::getMethodName)
                                                .filter(
                                                        name ->
                                                                name.equals("barrier")
                                                                        || name.equals("resolve")
                                                                        || name.equals("reject")
                                                                        || name.equals("settle")
                                                                        || name.equals("runTask"))
                                                .toList());
        assertThat(below)
                .as("a handler runs in a microtask of its own, never inside what settled")
                .startsWith("barrier")
                .doesNotContain("resolve", "reject", "settle", "runTask");
    }

    @Test
    @Clause({"P-1", "M-1"})
    void clause_2_2_4_handlerAttachedInAHandler_runsAfterThatOneHasReturned() {
        inLoop(
                () -> {
                    Promise<String> promise = Promise.resolved(loop, VALUE);
                    promise.thenAccept(
                            value -> {
                                promise.thenAccept(inner -> log.add("inner"));
                                log.add("outer");
                            });
                });
        assertThat(log).containsExactly("outer", "inner");
    }

    @Test
    @Clause({"P-1", "M-1"})
    void clause_2_2_4_promiseSettledInAHandler_runsItsHandlersAfterwards() {
        inLoop(
                () -> {
                    Deferred<String> deferred = loop.deferred();
                    note("deferred", deferred.promise());
                    Promise.rejected(loop, TROUBLE)
                            .recover(
                                    reason -> {
                                        log.add("settling");
                                        deferred.resolve(VALUE);
                                        log.add("settled");
                                        return "";
                                    });
                });
        assertThat(log).containsExactly("settling", "settled", "deferred resolved value");
    }

    @Test
    @Clause("P-1")
    void clause_2_2_4_settledWhileNoThreadRunsTheLoop_runsItsHandlersInTheNextRun() {
        Deferred<String> deferred = loop.deferred();
        note("deferred", deferred.promise());
        deferred.resolve(VALUE);
        assertThat(log).isEmpty();
        loop.runUntilEmpty();
        assertThat(log).containsExactly("deferred resolved value");
    }

    // ------------------------------------------------------------------ 2.2.6 several handlers

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_2_6_1_handlersOfOneResolvedPromise_runInTheOrderTheyWereAttached(When when) {
        resolving(when, this::attachManyKinds);
        assertThat(log)
                .containsExactly(
                        "1 value",
                        "2 value",
                        "3 value",
                        "4 value",
                        "5 value",
                        "7 value",
                        "8 value",
                        "of 2: two",
                        "of 3: thrown",
                        "of 5: null");
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_2_6_2_handlersOfOneRejectedPromise_runInTheOrderTheyWereAttached(When when) {
        rejecting(when, this::attachManyKinds);
        assertThat(log)
                .containsExactly(
                        "4 trouble",
                        "6 trouble",
                        "7 trouble",
                        "8 trouble",
                        "of 2: trouble",
                        "of 3: trouble",
                        "of 5: trouble");
    }

    /// A handler does not affect other handlers.
    private void attachManyKinds(Promise<String> promise) {
        promise.then(value -> log.add("1 " + value)).recover(reason -> false);
        Promise<String> second =
                promise.then(
                        value -> {
                            log.add("2 " + value);
                            return "two";
                        });
        Promise<String> third =
                promise.then(
                        value -> {
                            log.add("3 " + value);
                            throw new Trouble("thrown");
                        });
        promise.then(value -> log.add("4 " + value), reason -> log.add("4 trouble"));
        Promise<?> fifth = promise.thenAccept(value -> log.add("5 " + value));
        promise.recover(Trouble.class, reason -> noted("6 " + reason.getMessage()));
        promise.finallyRun(() -> log.add("7 " + textOf(promise))).recover(reason -> "");
        promise.finallyRun(() -> log.add("8 " + textOf(promise))).recover(reason -> "");
        second.then(value -> log.add("of 2: " + value), reason -> log.add("of 2: trouble"));
        third.recover(reason -> noted("of 3: " + reason.getMessage()));
        fifth.then(value -> log.add("of 5: " + value), reason -> log.add("of 5: trouble"));
    }

    private String noted(String line) {
        log.add(line);
        return line;
    }

    private static String textOf(Promise<String> settled) {
        return switch (settled.outcome()) {
            case Outcome.Resolved<String>(String value) -> value;
            case Outcome.Rejected<String>(Throwable reason) -> reason.getMessage();
        };
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_2_6_1_ahundredHandlers_runInTheOrderTheyWereAttached(When when) {
        List<Integer> ran = new ArrayList<>();
        List<Integer> expected = new ArrayList<>();
        resolving(
                when,
                promise -> {
                    for (int i = 0; i < 100; i++) {
                        int number = i;
                        expected.add(i);
                        promise.thenAccept(value -> ran.add(number));
                    }
                });
        assertThat(ran).isEqualTo(expected);
    }

    // ------------------------------------------------------------------ 2.2.7 what a step becomes

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_2_7_then_returnsAnotherPendingPromiseOfTheSameLoop(When when) {
        resolving(
                when,
                promise -> {
                    Promise<Integer> step = promise.then(String::length);
                    assertThat(step).isNotSameAs(promise);
                    assertThat(step.isSettled()).isFalse();
                    assertThat(step.loop()).isSameAs(loop);
                    assertThat(step.id()).isNotEqualTo(promise.id());
                });
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_2_7_1_handlerThatReturns_resolvesTheStepWithThat(When when) {
        Object value = new Object();
        List<Outcome<Object>> outcomes = new ArrayList<>();
        resolving(when, promise -> keep(outcomes, promise.then(v -> value)));
        resolving(when, promise -> keep(outcomes, promise.then(v -> value, reason -> "wrong")));
        rejecting(when, promise -> keep(outcomes, promise.then(v -> "wrong", reason -> value)));
        assertThat(outcomes).hasSize(3).allMatch(resolved(value)::equals);
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_2_7_1_handlerThatReturnsNull_resolvesTheStepWithNull(When when) {
        List<Outcome<Object>> outcomes = new ArrayList<>();
        resolving(when, promise -> keep(outcomes, promise.then(v -> null)));
        rejecting(when, promise -> keep(outcomes, promise.<Object>then(v -> "", r -> null)));
        assertThat(outcomes).hasSize(2).allMatch(resolved(null)::equals);
    }

    private static <T> void keep(List<Outcome<T>> outcomes, Promise<T> promise) {
        promise.finallyRun(() -> outcomes.add(promise.outcome())).recover(reason -> null);
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_2_7_2_handlerThatThrows_rejectsTheStepWithThatVeryThrowable(When when) {
        for (Throwable thrown :
                List.of(
                        new Trouble("checked"),
                        new IOException("checked"),
                        new IllegalStateException("unchecked"),
                        new AssertionError("an error"),
                        new LinkageError("an error of the JVM"))) {
            List<Outcome<Object>> outcomes = new ArrayList<>();
            resolving(when, promise -> keep(outcomes, promise.then(v -> raise(thrown))));
            resolving(when, promise -> keep(outcomes, promise.then(v -> raise(thrown), r -> "no")));
            rejecting(when, promise -> keep(outcomes, promise.then(v -> "no", r -> raise(thrown))));
            assertThat(outcomes).hasSize(3).allMatch(rejected(thrown)::equals);
        }
        assertThat(loop.metrics().failures()).as("a rejection is no failure of the loop").isZero();
    }

    private static Object raise(Throwable thrown) throws Exception {
        switch (thrown) {
            case Error error -> throw error;
            case Exception exception -> throw exception;
            default -> throw new AssertionError(thrown);
        }
    }

    @Test
    @Clause({"P-1", "L-10"})
    void clause_2_2_7_2_virtualMachineError_rejectsTheStepAndLeavesTheRunToo() {
        OutOfMemoryError fatal = new OutOfMemoryError("made up");
        AtomicReference<Promise<Object>> step = new AtomicReference<>();
        loop.submit(
                () -> {
                    Promise<String> promise = Promise.resolved(loop, VALUE);
                    step.set(promise.then(value -> raise(fatal)));
                    step.get().recover(reason -> log.add("told " + reason.getMessage()));
                    promise.thenAccept(value -> log.add("not kept from running"));
                });
        assertThatThrownBy(loop::runUntilEmpty).isSameAs(fatal);
        assertThat(step.get().outcome()).isEqualTo(rejected(fatal));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("not kept from running", "told made up");
    }

    @Test
    @Clause("P-1")
    void clause_2_2_7_2_handlerThatThrowsInterruptedException_leavesTheThreadInterrupted() {
        AtomicInteger interrupted = new AtomicInteger();
        inLoop(
                () ->
                        Promise.resolved(loop, VALUE)
                                .then(value -> raise(new InterruptedException("by somebody")))
                                .recover(
                                        InterruptedException.class,
                                        reason -> {
                                            interrupted.addAndGet(Thread.interrupted() ? 1 : 0);
                                            return null;
                                        }));
        assertThat(interrupted).as("the interrupt must not be lost").hasValue(1);
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_2_7_3_stepWithoutAHandlerForValues_passesTheValueOn(When when) {
        resolving(
                when,
                promise -> {
                    note("recover", promise.recover(reason -> "wrong"));
                    note("typed", promise.recover(Trouble.class, reason -> "wrong"));
                    note("compose", promise.recoverCompose(r -> Promise.resolved(loop, "wrong")));
                    note("far", promise.recover(reason -> "wrong").recover(reason -> "wrong"));
                });
        assertThat(log)
                .containsExactly(
                        "recover resolved value",
                        "typed resolved value",
                        "compose resolved value",
                        "far resolved value");
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void clause_2_2_7_4_stepWithoutAHandlerForReasons_passesTheReasonOn(When when) {
        rejecting(
                when,
                promise -> {
                    note("then", promise.then(value -> "wrong"));
                    note("accept", promise.thenAccept(value -> log.add("wrong")));
                    note("compose", promise.thenCompose(v -> Promise.resolved(loop, "wrong")));
                    note("typed", promise.recover(IOException.class, reason -> "wrong"));
                    note("far", promise.then(value -> "wrong").then(value -> "wrong"));
                });
        assertThat(log)
                .containsExactly(
                        "then rejected trouble",
                        "accept rejected trouble",
                        "compose rejected trouble",
                        "typed rejected trouble",
                        "far rejected trouble");
    }
}
