package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.internal.base.Checks;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;

/// Misuse of promises is rejected by the call and changes nothing.
class PromiseMisuseTest extends PromiseFixture {
    private static final Duration NEGATIVE = Duration.ofNanos(-1);

    // ------------------------------------------------------------------ values

    @Test
    @Clause("P-1")
    void null_anywhere_isRefusedByName() {
        Deferred<String> deferred = loop.deferred();
        Promise<String> promise = deferred.promise();
        Promise.Handler<Object, String> handler = value -> "";
        Cancellation none = Cancellation.none();
        refusesNull("loop", () -> Promise.resolved(null, ""));
        refusesNull("loop", () -> Promise.rejected(null, TROUBLE));
        refusesNull("loop", () -> Promise.all(null, List.<Promise<String>>of()));
        refusesNull("reason", () -> Promise.rejected(loop, null));
        refusesNull("stage", () -> Promise.from(loop, null));
        refusesNull("delay", () -> Promise.delay(loop, null));
        refusesNull("cancellation", () -> Promise.delay(loop, Duration.ZERO, null));
        refusesNull("promises", () -> Promise.all(loop, null));
        refusesNull("promises", () -> Promise.allSettled(loop, null));
        refusesNull("promises", () -> Promise.any(loop, null));
        refusesNull("promises", () -> Promise.race(loop, null));
        refusesNull("handler", () -> promise.then(null));
        refusesNull("onResolved", () -> promise.then(null, handler));
        refusesNull("onRejected", () -> promise.then(handler, null));
        refusesNull("action", () -> promise.thenAccept(null));
        refusesNull("handler", () -> promise.thenCompose(null));
        refusesNull("handler", () -> promise.recover(null));
        refusesNull("type", () -> promise.recover(null, handler));
        refusesNull("handler", () -> promise.recover(Trouble.class, null));
        refusesNull("handler", () -> promise.recoverCompose(null));
        refusesNull("cleanup", () -> promise.finallyRun(null));
        refusesNull("timeout", () -> promise.orTimeout(null));
        refusesNull("cancellation", () -> promise.cancelOn(null));
        refusesNull("timeout", () -> awaitUnchecked(promise, null));
        refusesNull("reason", () -> deferred.reject(null));
        refusesNull("other", () -> deferred.follow(null));
        refusesNull("work", () -> loop.promisify(null));
        refusesNull("cancellation", () -> loop.promisify((Cancellation) null, c -> ""));
        refusesNull("executor", () -> loop.promisify((Executor) null, c -> ""));
        refusesNull("executor", () -> loop.promisify(null, none, c -> ""));
        assertUntouched(deferred);
    }

    private static void refusesNull(String name, Runnable call) {
        assertThatThrownBy(call::run).isInstanceOf(NullPointerException.class).hasMessage(name);
    }

    private static void awaitUnchecked(Promise<?> promise, Duration timeout) {
        try {
            promise.await(timeout);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("waited instead of refusing " + timeout, e);
        }
    }

    @Test
    @Clause("P-1")
    void duration_outOfRange_isRefusedByNameAndValue() {
        Deferred<String> deferred = loop.deferred();
        Promise<String> promise = deferred.promise();
        Duration tooLong = Duration.ofSeconds(Long.MAX_VALUE);
        Duration unreachable = Duration.ofNanos(Long.MAX_VALUE);
        refuses("timeout", Checks.format(NEGATIVE), () -> promise.orTimeout(NEGATIVE));
        refuses("timeout", Checks.format(tooLong), () -> promise.orTimeout(tooLong));
        refuses("timeout", "represented", () -> promise.orTimeout(unreachable));
        refuses("delay", Checks.format(NEGATIVE), () -> Promise.delay(loop, NEGATIVE));
        refuses("delay", Checks.format(tooLong), () -> Promise.delay(loop, tooLong));
        refuses("timeout", Checks.format(NEGATIVE), () -> awaitUnchecked(promise, NEGATIVE));
        assertUntouched(deferred);
    }

    private static void refuses(String name, String value, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(name)
                .hasMessageContaining(value);
    }

    /// Checks that nothing is attached to it, it is pending, and the loop is empty.
    private void assertUntouched(Deferred<String> deferred) {
        long microtasks = loop.metrics().microtasks();
        assertThat(deferred.promise().isSettled()).isFalse();
        assertThat(deferred.reject(TROUBLE)).isTrue();
        assertThat(loop.runUntilEmpty()).isZero();
        assertThat(loop.metrics().microtasks()).isEqualTo(microtasks);
        assertThat(unhandled).as("not handled").containsExactly(TROUBLE);
        assertThat(backend.nanoTime()).as("no timer is left").isEqualTo(1_000);
    }

    // ------------------------------------------------------------------ threads

    /// All loop-confined methods by their name in the message.
    private Map<String, List<Runnable>> confined(
            Deferred<String> deferred, CompletableFuture<String> stage) {
        Promise<String> promise = deferred.promise();
        Cancellation none = Cancellation.none();
        Executor refused = work -> log.add("executed");
        Map<String, List<Runnable>> calls = new LinkedHashMap<>();
        calls.put(
                "then",
                List.of(
                        () -> promise.then(value -> log.add("ran")),
                        () -> promise.then(value -> log.add("ran"), reason -> log.add("ran"))));
        calls.put("thenAccept", List.of(() -> promise.thenAccept(log::add)));
        calls.put("thenCompose", List.of(() -> promise.thenCompose(value -> promise)));
        calls.put(
                "recover",
                List.of(
                        () -> promise.recover(reason -> "" + log.add("ran")),
                        () -> promise.recover(Trouble.class, reason -> "" + log.add("ran"))));
        calls.put("recoverCompose", List.of(() -> promise.recoverCompose(reason -> promise)));
        calls.put("finallyRun", List.of(() -> promise.finallyRun(() -> log.add("ran"))));
        calls.put("orTimeout", List.of(() -> promise.orTimeout(Duration.ofHours(1))));
        calls.put("cancelOn", List.of(() -> promise.cancelOn(none)));
        calls.put("resolved", List.of(() -> Promise.resolved(loop, "")));
        calls.put("rejected", List.of(() -> Promise.rejected(loop, TROUBLE)));
        calls.put("from", List.of(() -> Promise.from(loop, stage)));
        calls.put(
                "delay",
                List.of(
                        () -> Promise.delay(loop, Duration.ofHours(1)),
                        () -> Promise.delay(loop, Duration.ofHours(1), none)));
        calls.put("all", List.of(() -> Promise.all(loop, List.of(promise))));
        calls.put("allSettled", List.of(() -> Promise.allSettled(loop, List.of(promise))));
        calls.put("any", List.of(() -> Promise.any(loop, List.of(promise))));
        calls.put("race", List.of(() -> Promise.race(loop, List.of(promise))));
        calls.put("deferred", List.of(loop::deferred));
        calls.put(
                "promisify",
                List.of(
                        () -> loop.promisify(c -> log.add("worked")),
                        () -> loop.promisify(none, c -> log.add("worked")),
                        () -> loop.promisify(refused, none, c -> log.add("worked"))));
        return calls;
    }

    private static Map<String, List<Runnable>> settling(Deferred<String> deferred) {
        return Map.of(
                "resolve", List.of(() -> deferred.resolve(VALUE)),
                "reject", List.of(() -> deferred.reject(TROUBLE)),
                "follow", List.of(() -> deferred.follow(deferred.promise())));
    }

    @Test
    @Clause({"P-1", "L-9"})
    void confinedMethods_onAnotherThread_nameBothThreadsAndChangeNothing() {
        Deferred<String> deferred = loop.deferred();
        CompletableFuture<String> stage = new CompletableFuture<>();
        Map<String, List<Runnable>> calls = confined(deferred, stage);
        calls.putAll(settling(deferred));
        loop.submit(() -> runElsewhere(() -> calls.forEach(this::assertRefusedHere)));
        loop.runUntilEmpty();
        assertThat(log).isEmpty();
        assertThat(stage.getNumberOfDependents()).isZero();
        assertThat(loop.deferred().promise().id())
                .as("no number was taken: another thread's count might give one twice")
                .isEqualTo(deferred.promise().id() + 1);
        assertUntouched(deferred);
    }

    private void assertRefusedHere(String method, List<Runnable> calls) {
        for (Runnable call : calls) {
            assertThatThrownBy(call::run)
                    .isInstanceOf(WrongThreadException.class)
                    .hasMessageStartingWith(method + " is confined to the thread of loop here")
                    .hasMessageContaining("the loop's own")
                    .hasMessageContaining("the stranger");
        }
    }

    /// Runs it on another thread while the loop thread waits, and rethrows its exception.
    private static void runElsewhere(Runnable body) {
        Thread loopThread = Thread.currentThread();
        String name = loopThread.getName();
        loopThread.setName("the loop's own");
        List<Throwable> thrown = new ArrayList<>();
        Thread stranger = Thread.ofPlatform().name("the stranger").unstarted(body);
        stranger.setUncaughtExceptionHandler((thread, failure) -> thrown.add(failure));
        stranger.start();
        try {
            stranger.join();
        } catch (InterruptedException e) {
            throw new AssertionError("nobody interrupts this thread", e);
        } finally {
            loopThread.setName(name);
        }
        assertThat(thrown).isEmpty();
    }

    @Test
    @Clause({"P-1", "L-9"})
    void otherMethods_onAnotherThread_work() {
        Deferred<String> deferred = loop.deferred();
        loop.submit(
                () ->
                        runElsewhere(
                                () -> {
                                    Promise<String> promise = deferred.promise();
                                    assertThat(promise.isSettled()).isFalse();
                                    assertThat(promise.outcome()).isNull();
                                    assertThat(promise.loop()).isSameAs(loop);
                                    assertThat(promise.id()).isPositive();
                                    assertThat(promise.createdAt()).isNull();
                                    assertThat(promise.toString()).contains("pending");
                                }));
        loop.runUntilEmpty();
        assertUntouched(deferred);
    }

    // ------------------------------------------------------------------ too late

    @Test
    @Clause({"P-1", "R-2"})
    void everyStep_afterTheLoopsEnd_isRefused() {
        for (boolean settled : List.of(true, false)) {
            EventLoop ended = settled ? loop : other;
            Deferred<String> deferred = ended.deferred();
            if (settled) {
                deferred.resolve(VALUE);
            }
            ended.close();
            Outcome<String> outcome = deferred.promise().outcome();
            assertThat(outcome).isNotNull();
            Map<String, List<Runnable>> calls = confined(deferred, new CompletableFuture<>());
            calls.forEach(PromiseMisuseTest::assertTooLate);
            assertThat(deferred.resolve("late")).isFalse();
            assertThat(deferred.reject(TROUBLE)).isFalse();
            assertThat(deferred.follow(deferred.promise())).isFalse();
            assertThat(deferred.promise().outcome()).isEqualTo(outcome);
            loop.close(); // Those that make promises are of that loop.
        }
        assertThat(log).isEmpty();
    }

    private static void assertTooLate(String method, List<Runnable> calls) {
        for (Runnable call : calls) {
            assertThatThrownBy(call::run)
                    .isInstanceOf(LoopTerminatedException.class)
                    .hasMessageContaining(method)
                    .hasMessageContaining("too late");
        }
    }

    @Test
    @Clause("P-1")
    void settling_aSecondTime_returnsFalse() {
        for (boolean running : List.of(false, true)) {
            Runnable body =
                    () -> {
                        Deferred<String> deferred = loop.deferred();
                        assertThat(deferred.resolve(VALUE)).isTrue();
                        assertThat(deferred.resolve(VALUE)).isFalse();
                        assertThat(deferred.reject(TROUBLE)).isFalse();
                        assertThat(deferred.follow(deferred.promise())).isFalse();
                        Deferred<String> rejected = loop.deferred();
                        rejected.promise().recover(reason -> "");
                        assertThat(rejected.reject(TROUBLE)).isTrue();
                        assertThat(rejected.resolve(VALUE)).isFalse();
                    };
            if (running) {
                inLoop(body);
            } else {
                body.run();
            }
        }
    }

    private static boolean waitsForThisThread(Thread thread) {
        ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(thread.threadId());
        return info != null && info.getLockOwnerId() == Thread.currentThread().threadId();
    }

    /// Promises use no lock while the loop runs, so no set-up call may be active when a run begins.
    @Test
    @Clause({"L-9", "P-1"})
    void run_whileAnotherThreadIsSettingUp_waitsUntilItIsDone() throws InterruptedException {
        Thread runner = Thread.ofPlatform().unstarted(() -> loop.runFor(Duration.ZERO));
        List<Promise<String>> slow =
                new AbstractList<>() {
                    @Override
                    public Promise<String> get(int index) {
                        throw new IndexOutOfBoundsException(index);
                    }

                    @Override
                    public int size() {
                        if (runner.getState() == Thread.State.NEW) {
                            runner.start();
                        }
                        while (runner.isAlive() && !waitsForThisThread(runner)) {
                            Thread.onSpinWait();
                        }
                        assertThat(runner.isAlive()).as("it runs beside the set-up").isTrue();
                        return 0;
                    }
                };
        Promise<List<String>> all = Promise.all(loop, slow);
        runner.join();
        assertThat(all.isSettled()).isTrue();
    }
}
