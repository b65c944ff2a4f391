package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/// The result of each kind of step for each outcome.
class PromiseStepsTest extends PromiseFixture {
    // ------------------------------------------------------------------ then, thenAccept

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void thenOfBoth_whoseFirstHandlerThrows_doesNotReachTheSecond(When when) {
        resolving(
                when,
                promise ->
                        note(
                                "step",
                                promise.then(
                                        value -> {
                                            throw new Trouble("thrown by the first");
                                        },
                                        reason -> log.add("the second ran"))));
        assertThat(log).containsExactly("step rejected thrown by the first");
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void thenAccept_whenItsActionReturns_isResolvedWithNull(When when) {
        resolving(when, promise -> note("step", promise.thenAccept(log::add)));
        assertThat(log).containsExactly("value", "step resolved null");
    }

    @Test
    @Clause("P-1")
    void thenAccept_whoseActionThrows_isRejectedWithThat() {
        resolving(
                When.RIGHT_AFTER,
                promise ->
                        note(
                                "step",
                                promise.thenAccept(
                                        value -> {
                                            throw new Trouble("thrown");
                                        })));
        assertThat(log).containsExactly("step rejected thrown");
    }

    // ------------------------------------------------------------------ composing

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void thenCompose_ofAHandlerThatReturnsNull_saysWhichStepAndWhatWasExpected(When when) {
        List<Throwable> reasons = new ArrayList<>();
        List<String> names = new ArrayList<>();
        resolving(
                when,
                promise -> {
                    Promise<String> step = promise.thenCompose(value -> null);
                    names.add("Promise#" + step.id());
                    step.recover(reason -> "" + reasons.add(reason));
                });
        rejecting(
                when,
                promise -> {
                    Promise<String> step = promise.recoverCompose(reason -> null);
                    names.add("Promise#" + step.id());
                    step.recover(reason -> "" + reasons.add(reason));
                });
        assertThat(reasons).hasSize(2).allMatch(NullPointerException.class::isInstance);
        for (int i = 0; i < 2; i++) {
            assertThat(reasons.get(i))
                    .hasMessageContaining(names.get(i))
                    .hasMessageContaining("returned null instead of a promise");
        }
    }

    @Test
    @Clause("P-1")
    void thenCompose_ofAHandlerThatThrows_isRejectedWithThat() {
        resolving(
                When.ALREADY,
                promise ->
                        note(
                                "step",
                                promise.<String>thenCompose(
                                        value -> {
                                            throw new Trouble("thrown");
                                        })));
        rejecting(
                When.ALREADY,
                promise ->
                        note(
                                "step",
                                promise.recoverCompose(
                                        reason -> {
                                            throw new Trouble("thrown too");
                                        })));
        assertThat(log).containsExactly("step rejected thrown", "step rejected thrown too");
    }

    @Test
    @Clause("P-1")
    void thenCompose_repeated_goesFromOnePromiseToTheNext() {
        inLoop(
                () ->
                        note(
                                "sum",
                                Promise.resolved(loop, 1)
                                        .thenCompose(n -> later(n + 10))
                                        .thenCompose(n -> later(n + 100))
                                        .then(n -> n + 1_000)));
        assertThat(log).containsExactly("sum resolved 1111");
    }

    private <T> Promise<T> later(T value) {
        return Promise.delay(loop, Duration.ofMillis(1)).then(time -> value);
    }

    // ------------------------------------------------------------------ recovering

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void recoverOfAType_takesThatTypeAndPassesAllElseOn(When when) {
        for (Throwable reason :
                List.of(
                        new IOException("io"),
                        new FileNotFoundException("a kind of io"),
                        TROUBLE,
                        new AssertionError("an error"))) {
            settling(
                    when,
                    rejected(reason),
                    promise ->
                            note(
                                    "step",
                                    promise.recover(
                                            IOException.class, e -> "from " + e.getMessage())));
        }
        assertThat(log)
                .containsExactly(
                        "step resolved from io",
                        "step resolved from a kind of io",
                        "step rejected trouble",
                        "step rejected an error");
    }

    @Test
    @Clause("P-1")
    void recover_inAChain_isReachedFromEveryStepBeforeItAndFromNoneBehind() {
        rejecting(
                When.BY_A_TASK,
                promise ->
                        note(
                                "end",
                                promise.then(value -> "skipped")
                                        .recover(IOException.class, e -> "not of that type")
                                        .recover(reason -> "recovered from " + reason.getMessage())
                                        .recover(reason -> "not reached")
                                        .then(value -> value + ", went on")));
        assertThat(log).containsExactly("end resolved recovered from trouble, went on");
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void recoverCompose_whenRejected_goesOnAsTheReturnedPromise(When when) {
        rejecting(when, promise -> note("step", promise.recoverCompose(r -> later("second try"))));
        resolving(when, promise -> note("step", promise.recoverCompose(r -> later("not called"))));
        assertThat(log).containsExactly("step resolved second try", "step resolved value");
    }

    // ------------------------------------------------------------------ finally

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void finallyRun_passesTheOutcomeOn(When when) {
        resolving(when, promise -> note("step", promise.finallyRun(() -> log.add("cleanup"))));
        rejecting(when, promise -> note("step", promise.finallyRun(() -> log.add("cleanup"))));
        assertThat(log)
                .containsExactly(
                        "cleanup", "step resolved value", "cleanup", "step rejected trouble");
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void finallyRun_whoseCleanupThrows_isRejectedWithThatAndSuppressesTheReason(When when) {
        Trouble ofResolved = new Trouble("cleanup of a value");
        Trouble ofRejected = new Trouble("cleanup of a reason");
        resolving(when, promise -> note("step", promise.finallyRun(() -> raise(ofResolved))));
        rejecting(when, promise -> note("step", promise.finallyRun(() -> raise(ofRejected))));
        assertThat(log)
                .containsExactly(
                        "step rejected cleanup of a value", "step rejected cleanup of a reason");
        assertThat(ofResolved.getSuppressed()).isEmpty();
        assertThat(ofRejected.getSuppressed()).containsExactly(TROUBLE);
    }

    @Test
    @Clause("P-1")
    void finallyRun_whoseCleanupThrowsTheReasonItself_passesItOn() {
        rejecting(
                When.RIGHT_AFTER,
                promise -> note("step", promise.finallyRun(() -> raise(TROUBLE))));
        assertThat(log).containsExactly("step rejected trouble");
        assertThat(TROUBLE.getSuppressed()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void onRejected_observesTheReason_andPassesTheOutcomeOn(When when) {
        Consumer<Throwable> action = reason -> log.add("observed " + reason.getMessage());
        resolving(when, promise -> note("step", promise.onRejected(action)));
        rejecting(when, promise -> note("step", promise.onRejected(action)));
        assertThat(log)
                .containsExactly(
                        "step resolved value", "observed trouble", "step rejected trouble");
    }

    @Test
    @Clause("P-1")
    void onRejected_whoseActionThrows_isRejectedWithThatAndSuppressesTheReason() {
        IllegalStateException thrown = new IllegalStateException("of the action");
        rejecting(
                When.RIGHT_AFTER,
                promise ->
                        note(
                                "step",
                                promise.onRejected(
                                        _ -> {
                                            throw thrown;
                                        })));
        assertThat(log).containsExactly("step rejected of the action");
        assertThat(thrown.getSuppressed()).containsExactly(TROUBLE);
    }

    private static void raise(Trouble trouble) throws Trouble {
        throw trouble;
    }

    // ------------------------------------------------------------------ timeouts and cancellation

    @Test
    @Clause({"P-1", "T-1"})
    void orTimeout_ofAPromiseThatTakesLonger_isRejectedOnTimeAndThePromiseGoesOn() {
        Deferred<String> deferred = loop.deferred();
        List<Throwable> reasons = new ArrayList<>();
        List<Long> times = new ArrayList<>();
        long start = backend.nanoTime();
        inLoop(
                () ->
                        deferred.promise()
                                .orTimeout(Duration.ofSeconds(3))
                                .recover(
                                        reason -> {
                                            times.add(backend.nanoTime() - start);
                                            return "" + reasons.add(reason);
                                        }));
        assertThat(reasons)
                .singleElement()
                .isInstanceOf(TimeoutException.class)
                .extracting(Throwable::getMessage)
                .asString()
                .contains("3 s");
        assertThat(times).containsExactly(Duration.ofSeconds(3).toNanos());
        assertThat(deferred.promise().isSettled()).isFalse();
        assertThat(deferred.resolve(VALUE)).isTrue();
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause("P-1")
    void orTimeout_ofAPromiseThatIsInTime_passesTheOutcomeAndLeavesNoTimer(When when) {
        resolving(when, promise -> note("guard", promise.orTimeout(Duration.ofHours(1))));
        rejecting(when, promise -> note("guard", promise.orTimeout(Duration.ofHours(1))));
        assertThat(log).containsExactly("guard resolved value", "guard rejected trouble");
        assertThat(backend.nanoTime())
                .as("nothing waits for the hour to pass: the timers are gone")
                .isLessThan(Duration.ofSeconds(1).toNanos());
        assertThat(unhandled).isEmpty();
    }

    @Test
    @Clause("P-1")
    void orTimeout_ofNoTime_letsOnlyASettledPromisePass() {
        resolving(When.ALREADY, promise -> note("settled", promise.orTimeout(Duration.ZERO)));
        resolving(When.BY_A_TIMER, promise -> note("pending", promise.orTimeout(Duration.ZERO)));
        assertThat(log)
                .containsExactly(
                        "settled resolved value", "pending rejected not settled within 0 s");
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause({"P-1", "P-5"})
    void cancelOn_ofAPromiseThatSettlesFirst_passesTheOutcome(When when) {
        var source = new CancellationSource();
        resolving(when, promise -> note("guard", promise.cancelOn(source.cancellation())));
        rejecting(when, promise -> note("guard", promise.cancelOn(source.cancellation())));
        source.cancel("too late");
        runBoth();
        assertThat(log).containsExactly("guard resolved value", "guard rejected trouble");
    }

    @Test
    @Clause({"P-1", "P-5"})
    void cancelOn_cancelledFirst_isRejectedWithTheReasonAndThePromiseGoesOn() {
        var source = new CancellationSource();
        Deferred<String> deferred = loop.deferred();
        Promise<String> guard = deferred.promise().cancelOn(source.cancellation());
        guard.recover(reason -> "");
        inLoop(() -> source.cancel("enough"));
        assertThat(guard.outcome()).isEqualTo(rejected(source.cancellation().reason()));
        assertThat(deferred.promise().isSettled()).isFalse();
        note("promise", deferred.promise());
        deferred.resolve(VALUE);
        runBoth();
        assertThat(log).containsExactly("promise resolved value");
    }

    @ParameterizedTest
    @EnumSource(When.class)
    @Clause({"P-1", "P-5"})
    void cancelOn_cancelledAlready_isRejectedWhereverItIsAttached(When when) {
        var source = new CancellationSource();
        source.cancel("long ago");
        loop.after(Duration.ZERO, timer -> log.add("timer"));
        settle(
                loop,
                when,
                resolved(VALUE),
                promise -> note("outside", promise.cancelOn(source.cancellation())));
        runBoth();
        resolving(when, promise -> note("inside", promise.cancelOn(source.cancellation())));
        assertThat(log)
                .containsExactlyInAnyOrder(
                        "timer", "outside rejected long ago", "inside rejected long ago");
    }

    // ------------------------------------------------------------------ delays

    @Test
    @Clause({"P-1", "T-1"})
    void delay_isResolvedWithNullWhenTheTimeHasPassed() {
        long start = backend.nanoTime();
        note("delay", Promise.delay(loop, Duration.ofMinutes(2)));
        runBoth();
        assertThat(log).containsExactly("delay resolved null");
        assertThat(backend.nanoTime() - start).isEqualTo(Duration.ofMinutes(2).toNanos());
    }

    @Test
    @Clause({"P-1", "P-5"})
    void delay_cancelled_isRejectedAndLeavesNoTimer() {
        var source = new CancellationSource();
        note("delay", Promise.delay(loop, Duration.ofHours(1), source.cancellation()));
        inLoop(() -> source.cancel("enough"));
        assertThat(log).containsExactly("delay rejected enough");
        assertThat(backend.nanoTime()).isEqualTo(1_000);
    }

    @Test
    @Clause({"P-1", "P-5"})
    void delay_cancelledAlready_isRejectedAlsoIfItIsOfNoTime() {
        var source = new CancellationSource();
        source.cancel("long ago");
        note("outside", Promise.delay(loop, Duration.ZERO, source.cancellation()));
        runBoth();
        inLoop(() -> note("inside", Promise.delay(loop, Duration.ZERO, source.cancellation())));
        assertThat(log).containsExactly("outside rejected long ago", "inside rejected long ago");
    }

    @Test
    @Clause({"P-1", "P-5"})
    void delay_cancelledAfterItHasPassed_staysResolved() {
        var source = new CancellationSource();
        note("delay", Promise.delay(loop, Duration.ofMillis(1), source.cancellation()));
        runBoth();
        source.cancel("too late");
        runBoth();
        assertThat(log).containsExactly("delay resolved null");
    }

    // ------------------------------------------------------------------ unhandled rejections

    @Test
    @Clause({"P-3", "L-8"})
    void rejection_madeWhileNoThreadRunsTheLoop_isReportedByTheNextRunOfAnyKind() {
        for (Runnable run : List.<Runnable>of(loop::runOne, loop::runSome, loop::runUntilEmpty)) {
            unhandled.clear();
            Promise.rejected(loop, TROUBLE);
            Promise.<String>rejected(loop, new Trouble("handled in time")).recover(reason -> "");
            run.run();
            assertThat(unhandled).containsExactly(TROUBLE);
            loop.runUntilEmpty();
            assertThat(unhandled).as("reported once").hasSize(1);
        }
    }
}
