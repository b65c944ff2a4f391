package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.LoopGroupConfig.FailureAction;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;

/// The contract of groups on every backend.
public abstract class LoopGroupContract {
    protected static final Duration LONG = Duration.ofSeconds(30);

    protected static final LoopGroupConfig CONFIG =
            LoopGroupConfig.DEFAULT.withLoopConfig(
                    LoopConfig.DEFAULT.withName("group").withObserver(new LoopObserver() {}));

    private LogCapture log;

    /// Opens a group on the backend. The subclass closes it.
    protected abstract LoopGroup open(int size, LoopGroupConfig config);

    /// Runs the loops until a condition holds.
    protected abstract void runUntil(BooleanSupplier condition);

    @BeforeEach
    void captureLog() {
        log = new LogCapture();
    }

    @AfterEach
    void releaseLog() {
        log.close();
    }

    protected LoopGroup start(int size, LoopGroupConfig config) {
        LoopGroup group = open(size, config);
        group.start();
        return group;
    }

    protected GroupReport shutDown(LoopGroup group, Duration deadline) {
        CompletableFuture<GroupReport> outcome = group.shutdown(deadline).toCompletableFuture();
        runUntil(outcome::isDone);
        return outcome.join();
    }

    protected static void fail(EventLoop loop) {
        loop.submit(
                () -> {
                    throw new InternalError("provoked");
                });
    }

    protected void failAndReplace(LoopGroup group, int index) {
        EventLoop failing = group.loops().get(index);
        fail(failing);
        runUntil(() -> group.loops().get(index) != failing);
    }

    // ------------------------------------------------------------------ loops and values

    @Test
    @Clause("G-1")
    void of_badSize_throwsWithTheValue() {
        for (int size : new int[] {0, -1, 1_025}) {
            assertThatThrownBy(() -> open(size, CONFIG))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(String.valueOf(size));
        }
    }

    @Test
    @Clause("G-1")
    void loops_areNamedByTheirIndex() {
        LoopGroup group = open(3, CONFIG);
        assertThat(group.size()).isEqualTo(3);
        assertThat(group.loops())
                .extracting(loop -> loop.config().name())
                .containsExactly("group-0", "group-1", "group-2");
    }

    @Test
    @Clause("G-1")
    void next_returnsTheLoopsInTurn() {
        LoopGroup group = open(3, CONFIG);
        List<EventLoop> turns = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            turns.add(group.next());
        }
        List<EventLoop> twice = new ArrayList<>(group.loops());
        twice.addAll(group.loops());
        assertThat(turns).isEqualTo(twice);
    }

    @Test
    @Clause("G-1")
    void forEach_beforeAndAfterTheStart_callsEachLoop() {
        LoopGroup group = open(3, CONFIG);
        List<EventLoop> seen = new CopyOnWriteArrayList<>();
        group.forEach(seen::add);
        group.start();
        group.forEach(seen::add);
        List<EventLoop> twice = new ArrayList<>(group.loops());
        twice.addAll(group.loops());
        assertThat(seen).isEqualTo(twice);
    }

    @Test
    @Clause("G-1")
    void perLoop_createsOneValueForEachLoop() {
        LoopGroup group = open(2, CONFIG);
        PerLoop<String> before = group.perLoop(loop -> loop.config().name());
        group.start();
        PerLoop<String> after = group.perLoop(loop -> loop.config().name());
        for (EventLoop loop : group.loops()) {
            assertThat(before.get(loop)).isEqualTo(loop.config().name());
            assertThat(after.get(loop)).isEqualTo(loop.config().name());
        }
        try (EventLoop stranger = EventLoop.open()) {
            assertThatThrownBy(() -> before.get(stranger))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not a current loop of the group");
        }
    }

    @Test
    @Clause("G-1")
    void perLoop_factoryThrows_closesTheOtherValuesAndThrows() {
        LoopGroup group = start(3, CONFIG);
        List<String> closed = new CopyOnWriteArrayList<>();
        assertThatThrownBy(
                        () ->
                                group.perLoop(
                                        loop -> {
                                            String name = loop.config().name();
                                            if (name.equals("group-2")) {
                                                throw new IllegalArgumentException("provoked");
                                            }
                                            return (AutoCloseable) () -> closed.add(name);
                                        }))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("provoked");
        assertThat(closed).containsExactly("group-0", "group-1");
        failAndReplace(group, 0);
        assertThat(group.isTerminated()).as("the factory is not called again").isFalse();
    }

    @Test
    @Clause("G-1")
    void perLoop_closeableValues_closeWithTheirLoops() {
        LoopGroup group = open(2, CONFIG);
        List<String> closed = new CopyOnWriteArrayList<>();
        PerLoop<AutoCloseable> _ = group.perLoop(loop -> () -> closed.add(loop.config().name()));
        group.start();
        failAndReplace(group, 1);
        assertThat(closed).containsExactly("group-1");
        shutDown(group, LONG);
        assertThat(closed).containsExactlyInAnyOrder("group-1", "group-0", "group-1");
    }

    // ------------------------------------------------------------------ the end

    @Test
    @Clause("G-1")
    void shutdown_reportsEveryLoop() throws Exception {
        LoopGroup group = start(2, CONFIG);
        GroupReport report = shutDown(group, LONG);
        assertThat(report.loops()).hasSize(2);
        assertThat(report.isGraceful()).isTrue();
        assertThat(report.abandoned()).isZero();
        assertThat(group.await()).isEqualTo(report);
        assertThat(shutDown(group, LONG)).as("idempotent").isEqualTo(report);
    }

    @Test
    @Clause("G-1")
    void shutdown_beforeTheStart_ends() {
        LoopGroup group = open(2, CONFIG);
        group.onShutdown(_ -> new CompletableFuture<>()); // Nothing could complete it.
        assertThat(shutDown(group, LONG).loops()).hasSize(2);
        assertEnded(group);
    }

    @Test
    @Clause("G-1")
    void close_beforeTheStart_endsAndIsIdempotent() {
        LoopGroup group = open(2, CONFIG);
        group.close();
        group.close();
        assertEnded(group);
    }

    private static void assertEnded(LoopGroup group) {
        assertThat(group.isTerminated()).isTrue();
        assertThat(group.loops()).allMatch(loop -> loop.state() == LoopState.TERMINATED);
        assertThatThrownBy(group::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("open a new group");
        assertThatThrownBy(() -> group.forEach(_ -> {})).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> group.perLoop(_ -> 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> group.onShutdown(_ -> new CompletableFuture<>()))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Clause("G-1")
    void shutdown_runsTheActionsBeforeTheLoopsTerminate() {
        LoopGroup group = start(2, CONFIG);
        CompletableFuture<Void> drained = new CompletableFuture<>();
        List<Duration> deadlines = new CopyOnWriteArrayList<>();
        group.onShutdown(
                deadline -> {
                    deadlines.add(deadline);
                    return drained;
                });
        CompletableFuture<?> outcome = group.shutdown(LONG).toCompletableFuture();
        List<String> ran = new CopyOnWriteArrayList<>();
        group.loops().get(1).submit(() -> ran.add("task"));
        runUntil(() -> !ran.isEmpty());
        assertThat(deadlines).containsExactly(LONG);
        assertThat(outcome).isNotDone();
        drained.complete(null);
        runUntil(outcome::isDone);
        assertThat(group.isTerminated()).isTrue();
    }

    @Test
    @Clause("G-1")
    void shutdown_actionNeverCompletes_endsAtTheDeadline() {
        LoopGroup group = start(2, CONFIG);
        group.onShutdown(_ -> new CompletableFuture<>());
        GroupReport report = shutDown(group, Duration.ofMillis(20));
        assertThat(report.loops()).allMatch(loop -> loop.timers() == 0);
    }

    @Test
    @Clause("G-1")
    void shutdown_actionCompletes_leavesNoTimerInTheReport() {
        LoopGroup group = start(2, CONFIG);
        CompletableFuture<Void> drained = new CompletableFuture<>();
        group.onShutdown(_ -> drained);
        CompletableFuture<GroupReport> outcome = group.shutdown(LONG).toCompletableFuture();
        group.loops().get(0).submit(() -> drained.complete(null));
        runUntil(outcome::isDone);
        assertThat(outcome.join().loops()).allMatch(loop -> loop.timers() == 0);
        assertThat(outcome.join().isGraceful()).isTrue();
    }

    @Test
    @Clause("G-1")
    void shutdown_actionsFail_areLoggedAndTheGroupEnds() {
        LoopGroup group = start(2, CONFIG);
        group.onShutdown(
                _ -> {
                    throw new StackOverflowError("provoked");
                });
        group.onShutdown(_ -> CompletableFuture.failedFuture(new IllegalStateException("late")));
        group.onShutdown(_ -> null);
        assertThat(shutDown(group, LONG).isGraceful()).isTrue();
        assertThat(log.messages())
                .filteredOn(message -> message.contains("LoopGroup.onShutdown failed"))
                .hasSize(3);
    }

    @Test
    @Clause("G-1")
    void close_duringADrainThatNeverEnds_ends() {
        LoopGroup group = start(2, CONFIG);
        group.onShutdown(_ -> new CompletableFuture<>());
        CompletableFuture<GroupReport> outcome = group.shutdown(LONG).toCompletableFuture();
        assertThat(outcome).isNotDone();
        group.close();
        assertThat(outcome.join().loops()).hasSize(2);
        assertEnded(group);
    }

    @Test
    @Clause("G-1")
    void close_inACallback_endsTheGroup() {
        LoopGroup group = start(2, CONFIG);
        group.loops().get(1).submit(group::close);
        runUntil(group::isTerminated);
        assertEnded(group);
    }

    @Test
    @Clause("G-1")
    void waitingMethods_inACallback_throw() {
        LoopGroup group = start(2, CONFIG);
        List<Throwable> thrown = new CopyOnWriteArrayList<>();
        group.loops()
                .get(1)
                .submit(
                        () -> {
                            thrown.add(thrownBy(() -> group.forEach(_ -> {})));
                            thrown.add(thrownBy(() -> group.perLoop(_ -> 1)));
                            thrown.add(thrownBy(group::run));
                            thrown.add(thrownBy(group::await));
                        });
        runUntil(() -> thrown.size() == 4);
        assertThat(thrown)
                .allSatisfy(
                        each ->
                                assertThat(each)
                                        .isInstanceOf(IllegalStateException.class)
                                        .hasMessageContaining("must not be called on loop"));
    }

    private static Throwable thrownBy(Callable call) {
        try {
            call.call();
            return new AssertionError("nothing was thrown");
        } catch (Exception e) {
            return e;
        }
    }

    private interface Callable {
        void call() throws Exception;
    }

    @Test
    @Clause("G-1")
    void oneLoopClosed_shutsTheGroupDown() {
        LoopGroup group = start(2, CONFIG);
        EventLoop second = group.loops().get(1);
        second.submit(second::close);
        runUntil(group::isTerminated);
        assertThat(log.messages()).anyMatch(message -> message.contains("was stopped"));
    }

    // ------------------------------------------------------------------ failures

    @Test
    @Clause("G-1")
    void loopFailed_isReplacedWithNewValues() {
        LoopGroup group = open(2, CONFIG);
        PerLoop<Object> values = group.perLoop(_ -> new Object());
        group.start();
        EventLoop first = group.loops().getFirst();
        Object before = values.get(first);
        Object other = values.get(group.loops().getLast());
        failAndReplace(group, 0);
        group.forEach(loop -> assertThat(values.get(loop)).isNotSameAs(before));
        assertThat(values.get(group.loops().getLast())).isSameAs(other);
        assertThatThrownBy(() -> values.get(first))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("group-0");
        assertThat(shutDown(group, LONG).failures())
                .singleElement()
                .satisfies(
                        failure -> {
                            assertThat(failure.loop()).isEqualTo("group-0");
                            assertThat(failure.replaced()).isTrue();
                            assertThat(failure.cause()).hasMessage("provoked");
                        });
        assertThat(log.messages())
                .contains(
                        "loop group-0 failed with 0 open connections, which were reset; a new loop"
                                + " replaces it");
    }

    @Test
    @Clause("G-1")
    void loopFailed_withEndGroup_closesTheGroup() {
        LoopGroup group = start(3, CONFIG.withFailureAction(FailureAction.CLOSE_GROUP));
        group.onShutdown(_ -> new CompletableFuture<>()); // Not for a close.
        fail(group.loops().get(1));
        runUntil(group::isTerminated);
        assertEnded(group);
        assertThat(shutDown(group, LONG).failures())
                .singleElement()
                .satisfies(failure -> assertThat(failure.replaced()).isFalse());
    }

    @Test
    @Clause("G-1")
    void loopFailed_sixTimesInAMinute_closesTheGroup() {
        LoopGroup group = start(2, CONFIG);
        for (int i = 0; i < 5; i++) {
            failAndReplace(group, 0);
        }
        failAndReplace(group, 1);
        fail(group.loops().getFirst());
        runUntil(group::isTerminated);
        assertThat(shutDown(group, LONG).failures())
                .extracting(LoopFailure::replaced)
                .containsExactly(true, true, true, true, true, true, false);
        assertThat(log.messages()).anyMatch(message -> message.contains("failed 6 times"));
    }

    @Test
    @Clause("G-1")
    void loopFailed_factoryThrows_closesTheGroup() {
        LoopGroup group = open(2, CONFIG);
        List<EventLoop> created = new CopyOnWriteArrayList<>();
        PerLoop<String> _ =
                group.perLoop(
                        loop -> {
                            created.add(loop);
                            if (created.size() > 2) {
                                throw new IllegalArgumentException("no value");
                            }
                            return "value";
                        });
        group.start();
        fail(group.loops().getFirst());
        runUntil(group::isTerminated);
        assertThat(created).allMatch(loop -> loop.state() == LoopState.TERMINATED);
        assertThat(shutDown(group, LONG).failures())
                .singleElement()
                .satisfies(
                        failure -> {
                            assertThat(failure.cause()).hasMessage("provoked");
                            assertThat(failure.cause().getSuppressed()[0]).hasMessage("no value");
                            assertThat(failure.replaced()).isFalse();
                        });
    }

    @Test
    @Clause("G-1")
    void loopFailed_factoryClosesTheGroup_ends() {
        LoopGroup group = open(2, CONFIG);
        List<EventLoop> created = new CopyOnWriteArrayList<>();
        PerLoop<String> _ =
                group.perLoop(
                        loop -> {
                            created.add(loop);
                            if (created.size() > 2) {
                                group.close();
                            }
                            return "value";
                        });
        group.start();
        fail(group.loops().getFirst());
        runUntil(group::isTerminated);
        assertThat(created).hasSize(3).allMatch(loop -> loop.state() == LoopState.TERMINATED);
    }

    @Test
    @Clause("G-1")
    void loopFailed_whileTheGroupDrains_isReportedAndNotReplaced() {
        LoopGroup group = start(2, CONFIG);
        CompletableFuture<Void> drained = new CompletableFuture<>();
        group.onShutdown(_ -> drained);
        CompletableFuture<GroupReport> outcome = group.shutdown(LONG).toCompletableFuture();
        EventLoop first = group.loops().getFirst();
        fail(first);
        runUntil(() -> first.state() == LoopState.TERMINATED);
        assertThat(outcome).as("the other loop drains").isNotDone();
        drained.complete(null);
        runUntil(outcome::isDone);
        assertThat(outcome.join().failures())
                .singleElement()
                .satisfies(failure -> assertThat(failure.replaced()).isFalse());
        assertThat(outcome.join().isGraceful()).isFalse();
    }

    @Test
    @Clause("G-1")
    void loopFailed_whileItTerminates_isReported() {
        LoopGroup group = open(2, CONFIG);
        group.loops()
                .getFirst()
                .own(
                        () -> {
                            throw new InternalError("in close");
                        });
        group.start();
        GroupReport report = shutDown(group, LONG);
        assertThat(report.failures())
                .singleElement()
                .satisfies(failure -> assertThat(failure.cause()).hasMessage("in close"));
        assertThat(report.loops()).hasSize(2);
    }

    @Test
    @Clause("G-1")
    void allLoopsFailed_whileTheGroupDrains_endsIt() {
        LoopGroup group = start(2, CONFIG);
        group.onShutdown(_ -> new CompletableFuture<>());
        CompletableFuture<GroupReport> outcome = group.shutdown(LONG).toCompletableFuture();
        group.loops().forEach(LoopGroupContract::fail);
        runUntil(outcome::isDone);
        assertThat(outcome.join().failures()).hasSize(2);
    }
}
