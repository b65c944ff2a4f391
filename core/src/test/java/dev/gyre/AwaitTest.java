package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;

/// Awaiting promises on other threads, and conversion from and to futures.
@Timeout(60)
class AwaitTest {
    private static final LoopConfig QUIET = LoopConfig.DEFAULT.withObserver(new LoopObserver() {});
    private static final List<ThreadFactory> KINDS =
            List.of(Thread.ofPlatform().factory(), Thread.ofVirtual().factory());

    private final EventLoop loop = EventLoop.open(QUIET);
    private final Deferred<String> deferred = loop.deferred();
    private final Promise<String> promise = deferred.promise();
    private final List<String> log = new ArrayList<>();

    @AfterEach
    void closeLoop() {
        loop.close();
    }

    /// A thread that runs one task, and its result.
    private record Other<T>(Thread thread, FutureTask<T> task) {
        static <T> Other<T> start(ThreadFactory kind, Callable<T> body) {
            FutureTask<T> task = new FutureTask<>(body);
            Thread thread = kind.newThread(task);
            thread.start();
            return new Other<>(thread, task);
        }

        /// Waits until it has subscribed at the loop and blocks.
        void untilItWaits(EventLoop loop, int waiters) {
            while (loop.metrics().queuedPriorityTasks() < waiters
                    || (thread.getState() != Thread.State.WAITING
                            && thread.getState() != Thread.State.TIMED_WAITING)) {
                assertThat(task.isDone()).as("it was to wait").isFalse();
                Thread.onSpinWait();
            }
        }

        Throwable failure() throws InterruptedException {
            try {
                throw new AssertionError("it was to fail, but returned " + task.get());
            } catch (ExecutionException e) {
                return e.getCause();
            }
        }
    }

    // ------------------------------------------------------------------ waiting

    @Test
    @Clause("P-4")
    void await_beforeItIsResolved_waitsOnAnyKindOfThread() throws Exception {
        List<Other<String>> others = new ArrayList<>();
        for (ThreadFactory kind : KINDS) {
            others.add(Other.start(kind, promise::await));
            others.add(Other.start(kind, () -> promise.await(Duration.ofDays(1))));
            others.add(Other.start(kind, () -> promise.await(ChronoUnit.FOREVER.getDuration())));
        }
        for (Other<String> other : others) {
            other.untilItWaits(loop, others.size());
        }
        loop.submit(() -> deferred.resolve("value"));
        loop.runUntilEmpty();
        for (Other<String> other : others) {
            assertThat(other.task().get()).isEqualTo("value");
        }
    }

    @Test
    @Clause("P-4")
    void await_whileTheLoopSleeps_wakesItOnlyToBeNoted() throws Exception {
        Thread runner = Thread.ofPlatform().start(loop::run);
        while (loop.state() != LoopState.SLEEPING) {
            Thread.onSpinWait();
        }
        Other<String> other = Other.start(KINDS.getFirst(), promise::await);
        while (loop.metrics().priorityTasks() == 0) {
            Thread.onSpinWait();
        }
        loop.submit(() -> deferred.resolve("value"));
        assertThat(other.task().get()).isEqualTo("value");
        loop.stop();
        runner.join();
    }

    @Test
    @Clause("P-4")
    void await_afterItIsSettled_returnsAtOnceWithoutTheLoop() throws Exception {
        deferred.resolve("value");
        for (ThreadFactory kind : KINDS) {
            assertThat(Other.start(kind, promise::await).task().get()).isEqualTo("value");
            assertThat(Other.start(kind, () -> promise.await(Duration.ZERO)).task().get())
                    .isEqualTo("value");
        }
        assertThat(loop.metrics().queuedPriorityTasks()).isZero();
    }

    @Test
    @Clause("P-4")
    void await_ofARejection_throwsItAsTheCause() throws Exception {
        IOException reason = new IOException("no such row");
        Other<String> before = Other.start(KINDS.getLast(), promise::await);
        before.untilItWaits(loop, 1);
        loop.submit(() -> deferred.reject(reason));
        loop.runUntilEmpty();
        Other<String> after = Other.start(KINDS.getLast(), () -> promise.await(Duration.ZERO));
        for (Other<String> other : List.of(before, after)) {
            assertThat(other.failure()).isInstanceOf(CompletionException.class);
            assertThat(other.failure().getCause()).isSameAs(reason);
        }
        assertThat(loop.metrics().unhandledRejections()).as("it was awaited").isZero();
    }

    @Test
    @Clause("P-4")
    void await_byAThousandThreads_wakesThemAll() throws Exception {
        List<Other<String>> others = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            others.add(Other.start(KINDS.getLast(), promise::await));
        }
        others.getLast().untilItWaits(loop, others.size());
        loop.submit(() -> deferred.resolve("value"));
        loop.runUntilEmpty();
        for (Other<String> other : others) {
            assertThat(other.task().get()).isEqualTo("value");
        }
    }

    // ------------------------------------------------------------------ on the wrong thread

    @Test
    @Clause("P-4")
    void await_onTheLoopThread_throwsAtOnce() {
        Promise<String> settled = Promise.resolved(loop, "settled");
        loop.submit(
                () -> {
                    for (Promise<String> each : List.of(promise, settled)) {
                        assertThatThrownBy(each::await)
                                .isInstanceOf(WrongThreadException.class)
                                .hasMessageContaining(Thread.currentThread().toString())
                                .hasMessageContaining(each.toString())
                                .hasMessageContaining("continue with then, or wait in promisify");
                        assertThatThrownBy(() -> each.await(Duration.ofDays(1)))
                                .isInstanceOf(WrongThreadException.class);
                        log.add("refused");
                    }
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("refused", "refused");
    }

    @Test
    @Clause({"P-4", "S-4"})
    void await_onTheThreadThatCarriesOutTheEnd_throwsAtOnce() {
        loop.own(
                () -> {
                    assertThatThrownBy(promise::await).isInstanceOf(WrongThreadException.class);
                    log.add("refused while it ends");
                });
        loop.close(); // Nobody runs it, so this thread ends it.
        assertThat(log).containsExactly("refused while it ends");
        assertThatThrownBy(promise::await)
                .as("when it has ended, this thread is like any other")
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(LoopTerminatedException.class);
    }

    // ------------------------------------------------------------------ giving up

    @Test
    @Clause("P-4")
    void await_interrupted_throwsAndThePromiseDoesNotMind() throws Exception {
        for (ThreadFactory kind : KINDS) {
            int known = loop.metrics().queuedPriorityTasks();
            Other<String> other = Other.start(kind, promise::await);
            other.untilItWaits(loop, known + 1);
            other.thread().interrupt();
            assertThat(other.failure()).isInstanceOf(InterruptedException.class);
        }
        deferred.resolve("value");
        loop.runUntilEmpty();
        assertThat(promise.await()).isEqualTo("value");
    }

    @Test
    @Clause("P-4")
    void await_byAThreadThatIsInterruptedAlready_throwsAndClearsTheStatus() {
        Thread.currentThread().interrupt();
        assertThatThrownBy(promise::await).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    @Clause("P-4")
    void await_thatTimesOut_saysForHowLongItWaited() {
        assertThatThrownBy(() -> promise.await(Duration.ofNanos(1)))
                .isInstanceOf(TimeoutException.class)
                .hasMessageContaining(promise.toString())
                .hasMessageContaining("1 ns");
        assertThatThrownBy(() -> promise.await(Duration.ZERO)).isInstanceOf(TimeoutException.class);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> promise.await(Duration.ofNanos(-1)))
                .withMessageContaining("but is -1 ns");
    }

    @Test
    @Clause("P-4")
    void await_thatWasGivenUp_leavesNoTraceOfTheWaiter() throws Exception {
        for (boolean interrupted : new boolean[] {true, false}) {
            Reachability waiter =
                    Reachability.of(
                            () -> {
                                Thread thread =
                                        Thread.ofPlatform().unstarted(() -> giveUp(interrupted));
                                thread.start();
                                join(thread);
                                return thread;
                            });
            loop.runUntilEmpty();
            waiter.assertLost("a thread that waited for a promise, and gave up,");
        }
        assertThat(promise.isSettled()).isFalse();
    }

    private void giveUp(boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        assertThatThrownBy(() -> promise.await(Duration.ZERO))
                .isInstanceOfAny(InterruptedException.class, TimeoutException.class);
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError("the test took too long", e);
        }
    }

    // ------------------------------------------------------------------ futures

    @Test
    @Clause("P-4")
    void toFuture_eachTime_isANewOne() {
        CompletableFuture<String> cancelled = promise.toFuture();
        CompletableFuture<String> completed = promise.toFuture();
        CompletableFuture<String> untouched = promise.toFuture();
        assertThat(cancelled.cancel(true)).isTrue();
        assertThat(completed.complete("mine")).isTrue();
        deferred.resolve("value");
        loop.runUntilEmpty();
        assertThat(promise.outcome()).isEqualTo(new Outcome.Resolved<>("value"));
        assertThat(completed.join()).isEqualTo("mine");
        assertThat(untouched.join()).isEqualTo("value");
    }

    @Test
    @Clause("P-4")
    void toFuture_ofASettledPromise_isComplete() {
        IOException reason = new IOException("no such row");
        assertThat(Promise.resolved(loop, "value").toFuture()).isCompletedWithValue("value");
        CompletableFuture<Object> rejected = Promise.rejected(loop, reason).toFuture();
        assertThat(rejected).isCompletedExceptionally();
        assertThat(rejected.exceptionNow()).isSameAs(reason);
        loop.runUntilEmpty();
        assertThat(loop.metrics().unhandledRejections()).as("the future has it").isZero();
    }

    @Test
    @Clause("P-4")
    void toFuture_neverRunsDependentsOnTheLoopThread() {
        List<CompletableFuture<Thread>> threads = new ArrayList<>();
        threads.add(promise.toFuture().thenApply(value -> Thread.currentThread()));
        loop.submit(
                () -> {
                    threads.add(promise.toFuture().thenApply(value -> Thread.currentThread()));
                    threads.add(
                            promise.then(value -> value + "!")
                                    .toFuture()
                                    .thenApply(value -> Thread.currentThread()));
                    deferred.resolve("value");
                });
        loop.runUntilEmpty();
        assertThat(threads)
                .hasSize(3)
                .allSatisfy(
                        thread -> {
                            assertThat(thread.join()).isNotSameAs(Thread.currentThread());
                            assertThat(thread.join().isVirtual()).isTrue();
                        });
    }

    @Test
    @Clause({"P-4", "R-2"})
    void toFuture_ofAPromiseThatNobodyElseHolds_isCompletedByTheEnd() {
        CompletableFuture<Object> future = loop.deferred().promise().toFuture();
        loop.runUntilEmpty();
        Reachability garbage = Reachability.of(Object::new);
        garbage.assertLost("an object that nobody holds");
        loop.close();
        assertThatThrownBy(future::get)
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(LoopTerminatedException.class);
    }

    @Test
    @Clause("P-4")
    void from_aFailedStage_isRejectedWithWhatCausedIt() {
        IOException reason = new IOException("no such row", new EOFException("its own cause"));
        CompletableFuture<String> failed = new CompletableFuture<>();
        Promise<String> direct = Promise.from(loop, failed);
        Promise<String> passedOn = Promise.from(loop, failed.thenApply(value -> value + "!"));
        Promise<String> bare =
                Promise.from(loop, failedWith(new CompletionException("bare", null)));
        CompletableFuture<String> cancelled = new CompletableFuture<>();
        Promise<String> ofCancelled = Promise.from(loop, cancelled);
        failed.completeExceptionally(reason);
        cancelled.cancel(false);
        loop.runUntilEmpty();
        assertThat(direct.outcome()).isEqualTo(new Outcome.Rejected<>(reason));
        assertThat(passedOn.outcome()).isEqualTo(new Outcome.Rejected<>(reason));
        assertThat(bare.toFuture().exceptionNow()).hasMessage("bare");
        assertThat(ofCancelled.toFuture().isCancelled()).isTrue();
    }

    @Test
    @Clause({"P-4", "L-8"})
    void from_aStageThatCannotBeListenedTo_isRejectedAndKeepsNobodyWaiting() {
        for (Throwable refusal :
                List.of(
                        new UnsupportedOperationException("mute"),
                        new LinkageError("of another version"))) {
            Promise<String> ofMute = Promise.from(loop, stageThatThrows(refusal));
            loop.runUntilEmpty();
            assertThat(ofMute.outcome()).isEqualTo(new Outcome.Rejected<>(refusal));
            assertThat(loop.metrics().awaited()).isZero();
        }
    }

    @Test
    @Clause({"P-4", "L-8"})
    void from_aStageThatFailsFatally_throwsAndKeepsNobodyWaiting() {
        StackOverflowError fatal = new StackOverflowError();
        Throwable thrown = catchThrowable(() -> Promise.from(loop, stageThatThrows(fatal)));
        assertThat(thrown).isSameAs(fatal);
        loop.runUntilEmpty();
        assertThat(loop.metrics().awaited()).isZero();
    }

    /// A custom stage.
    private static CompletableFuture<String> stageThatThrows(Throwable thrown) {
        return new CompletableFuture<>() {
            @Override
            public CompletableFuture<String> whenComplete(
                    BiConsumer<? super String, ? super Throwable> action) {
                throw AwaitTest.<RuntimeException>unchecked(thrown);
            }
        };
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> T unchecked(Throwable thrown) throws T {
        throw (T) thrown;
    }

    private static CompletableFuture<String> failedWith(Throwable reason) {
        return CompletableFuture.failedFuture(reason);
    }

    @Test
    @Clause("P-4")
    void futureToPromiseToFuture_passesTheSameOutcomeOn() {
        CompletableFuture<Object> first = new CompletableFuture<>();
        CompletableFuture<Object> second = new CompletableFuture<>();
        CompletableFuture<Object> last = Promise.from(loop, first).toFuture();
        CompletableFuture<Object> lastFailed = Promise.from(loop, second).toFuture();
        Object value = new Object();
        IOException reason = new IOException("no such row");
        first.complete(value);
        second.completeExceptionally(reason);
        loop.runUntilEmpty();
        assertThat(last.join()).isSameAs(value);
        assertThatThrownBy(lastFailed::join).cause().isSameAs(reason);
    }

    // ------------------------------------------------------------------ two loops

    @Test
    @Clause({"P-1", "P-4"})
    void promises_ofTwoLoops_followEachOtherAcrossThreads() throws Exception {
        try (EventLoop other = EventLoop.open(QUIET)) {
            Thread runner = Thread.ofPlatform().start(loop::run);
            Thread otherRunner = Thread.ofPlatform().start(other::run);
            CompletableFuture<Promise<String>> made = new CompletableFuture<>();
            other.submit(
                    () -> {
                        Deferred<String> follower = other.deferred();
                        follower.follow(promise);
                        made.complete(
                                follower.promise()
                                        .then(value -> value + (other.isLoopThread() ? "!" : "?")));
                    });
            Promise<String> there = made.join();
            CompletableFuture<Promise<String>> back = new CompletableFuture<>();
            loop.submit(
                    () ->
                            back.complete(
                                    Promise.resolved(loop, 1)
                                            .thenCompose(one -> there)
                                            .then(v -> v + (loop.isLoopThread() ? "!" : "?"))));
            loop.submit(() -> deferred.resolve("value"));
            assertThat(there.await()).isEqualTo("value!");
            assertThat(back.join().await()).isEqualTo("value!!");
            loop.stop();
            other.stop();
            runner.join();
            otherRunner.join();
        }
    }

    @Test
    @Clause({"P-1", "R-2"})
    void promise_thatFollowsOneOfALoopThatEnds_isRejected() {
        EventLoop other = EventLoop.open(QUIET);
        Deferred<String> leader = other.deferred();
        deferred.follow(leader.promise());
        other.close();
        loop.runUntilEmpty();
        assertThatThrownBy(promise::await).hasCauseInstanceOf(LoopTerminatedException.class);
    }
}
