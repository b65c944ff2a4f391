package dev.gyre.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.BoundedExecutor;
import dev.gyre.CancellationSource;
import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.LoopState;
import dev.gyre.Promise;
import dev.gyre.StackEnd;
import dev.gyre.SubmitResult;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.io.Buffer;
import dev.gyre.io.Descriptor;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/// Clause E-4: a library call without enough stack has no effect, and one with just enough has all of it.
@Timeout(120)
public abstract class StackEndContract extends ConformanceFixture {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Executor DIRECTLY = Runnable::run;

    /// How often what the call leads to has happened.
    private final AtomicInteger done = new AtomicInteger();

    /// Calls that lead to one [#done()], each made where there is stack enough.
    private Map<String, Supplier<Runnable>> calls() {
        Map<String, Supplier<Runnable>> calls = new LinkedHashMap<>();
        addTasks(calls);
        addTimers(calls);
        addPromises(calls);
        addCancellations(calls);
        addDescriptors(calls);
        return calls;
    }

    private void done() {
        done.incrementAndGet();
    }

    /// Makes a call once with stack enough: what the JVM does at the first use of a class or a call site
    /// is its own, and needs much more of it.
    private void warmUp(Supplier<Runnable> call) {
        call.get().run();
        loop.runUntilEmpty();
        done.set(0);
    }

    private void addTasks(Map<String, Supplier<Runnable>> calls) {
        calls.put("submit", () -> () -> loop.submit(this::done));
        calls.put("trySubmit", () -> () -> loop.trySubmit(this::done));
        calls.put("submitPriority", () -> () -> loop.submitPriority(this::done));
        calls.put("defer", () -> () -> loop.defer(this::done));
        calls.put("microtask", () -> () -> loop.microtask(this::done));
        calls.put(
                "BoundedExecutor.execute",
                () -> {
                    BoundedExecutor workers = BoundedExecutor.bounded(DIRECTLY, 1, 1);
                    loop.defer(() -> assertThat(workers.running()).isZero());
                    return () -> workers.execute(this::done);
                });
    }

    private void addTimers(Map<String, Supplier<Runnable>> calls) {
        calls.put("after", () -> () -> loop.after(Duration.ZERO, _ -> done()));
        calls.put("at", () -> () -> loop.at(loop.nowNanos(), _ -> done()));
        calls.put(
                "every",
                () ->
                        () ->
                                loop.every(
                                        Duration.ofNanos(1),
                                        timer -> {
                                            timer.cancel();
                                            done();
                                        }));
        calls.put(
                "Timer.cancel",
                () -> {
                    Timer timer = loop.after(HOUR, _ -> {});
                    return () -> doneIf(timer.cancel());
                });
        calls.put(
                "Timer.reschedule",
                () -> {
                    Timer timer = loop.after(HOUR, _ -> done());
                    return () -> timer.reschedule(Duration.ZERO);
                });
        calls.put(
                "Timer.unreference",
                () -> {
                    Timer timer = loop.after(HOUR, _ -> {});
                    loop.defer(this::done);
                    return timer::unreference;
                });
        calls.put(
                "Timer.cancelOn",
                () -> {
                    Timer timer = loop.after(HOUR, _ -> {});
                    CancellationSource source = new CancellationSource();
                    loop.defer(
                            () -> {
                                source.cancel();
                                done();
                            });
                    return () -> timer.cancelOn(source.cancellation());
                });
    }

    private void doneIf(boolean effective) {
        if (effective) {
            done();
        }
    }

    private void addPromises(Map<String, Supplier<Runnable>> calls) {
        calls.put("resolve", () -> settling(true));
        calls.put("reject", () -> settling(false));
        calls.put(
                "then",
                () -> {
                    Promise<Integer> one = Promise.resolved(loop, 1);
                    return () -> one.thenAccept(_ -> done());
                });
        calls.put(
                "orTimeout",
                () -> {
                    Deferred<Integer> deferred = loop.deferred();
                    loop.defer(() -> deferred.resolve(1));
                    deferred.promise().thenAccept(_ -> done());
                    return () -> deferred.promise().orTimeout(HOUR);
                });
        calls.put(
                "promisify",
                () ->
                        () ->
                                loop.promisify(
                                        DIRECTLY,
                                        _ -> {
                                            done();
                                            return 1;
                                        }));
        calls.put(
                "all",
                () -> {
                    Promise<Integer> one = Promise.resolved(loop, 1);
                    Deferred<Integer> two = loop.deferred();
                    loop.defer(() -> two.resolve(2));
                    two.promise().thenAccept(_ -> done());
                    return () -> Promise.all(loop, List.of(one, two.promise()));
                });
        calls.put(
                "delay",
                () -> {
                    loop.defer(this::done);
                    return () -> Promise.delay(loop, Duration.ZERO);
                });
        calls.put("call", () -> this::callLoop);
    }

    private void callLoop() {
        CompletableFuture<Integer> _ =
                loop.call(
                        () -> {
                            done();
                            return Promise.resolved(loop, 1);
                        });
    }

    /// Settles a promise that all kinds of things wait for.
    private Runnable settling(boolean resolves) {
        Deferred<Integer> deferred = loop.deferred();
        Promise<Integer> promise = deferred.promise();
        promise.orTimeout(HOUR).recover(_ -> 0);
        promise.cancelOn(new CancellationSource().cancellation()).recover(_ -> 0);
        promise.then(_ -> 1, _ -> 2).thenAccept(_ -> done());
        Promise.all(loop, List.of(promise)).then(_ -> 1, _ -> 2);
        return resolves
                ? () -> deferred.resolve(1)
                : () -> deferred.reject(new IllegalStateException());
    }

    private void addCancellations(Map<String, Supplier<Runnable>> calls) {
        calls.put(
                "CancellationSource.cancel",
                () -> {
                    CancellationSource source = new CancellationSource();
                    loop.after(HOUR, _ -> {}).cancelOn(source.cancellation());
                    Promise.delay(loop, HOUR, source.cancellation()).recover(_ -> null);
                    source.cancellation().onCancel(this::done);
                    return source::cancel;
                });
        calls.put(
                "onCancel",
                () -> {
                    CancellationSource parent = new CancellationSource();
                    CancellationSource source = CancellationSource.linkedTo(parent.cancellation());
                    loop.defer(parent::cancel);
                    return () -> source.cancellation().onCancel(this::done);
                });
    }

    private void addDescriptors(Map<String, Supplier<Runnable>> calls) {
        calls.put(
                "watch",
                () -> {
                    Descriptor ready = readyPair().getFirst();
                    return () ->
                            loop.watch(
                                    ready,
                                    WatchSpec.reading(
                                            _ -> {
                                                loop.unwatch(ready);
                                                done();
                                            }));
                });
        calls.put(
                "unwatch",
                () -> {
                    Descriptor quiet = pair().getFirst();
                    loop.watch(quiet, WatchSpec.reading(_ -> {}));
                    loop.defer(this::done);
                    return () -> loop.unwatch(quiet);
                });
        calls.put(
                "Descriptor.close",
                () -> {
                    Descriptor quiet = pair().getFirst();
                    loop.watch(quiet, WatchSpec.reading(_ -> {}));
                    loop.defer(this::done);
                    return quiet::close;
                });
        calls.put(
                "Descriptor.close with a pending operation",
                () -> {
                    Descriptor quiet = pair().getFirst();
                    reading(quiet).start();
                    return quiet::close;
                });
        calls.put("Operation.start", () -> reading(readyPair().getFirst())::start);
        calls.put(
                "Operation.cancel",
                () -> {
                    Operation read = reading(pair().getFirst());
                    read.start();
                    return read::cancel;
                });
        calls.put(
                "Buffer.release",
                () -> {
                    Buffer buffer = Buffer.acquire(loop, 100);
                    loop.defer(this::done);
                    return buffer::release;
                });
    }

    private Operation reading(Descriptor from) {
        return Operations.on(loop).read(from, Buffer.allocate(16), _ -> done());
    }

    // ------------------------------------------------------------------ the tests

    @Test
    @Clause("E-4")
    void everyCall_atTheEndOfAStack_onTheLoopThread_hasNoEffectOrAll() {
        calls().forEach(
                        (name, made) -> {
                            warmUp(made);
                            AtomicInteger overflows = new AtomicInteger();
                            loop.submit(() -> overflows.set(StackEnd.call(made.get())));
                            Thread runner =
                                    new Thread(null, loop::runUntilEmpty, "runner", 256 << 10);
                            runner.start();
                            join(runner);
                            check(name, overflows.get());
                        });
    }

    @Test
    @Clause("E-4")
    void everyCall_atTheEndOfAStack_whileNoThreadRunsTheLoop_hasNoEffectOrAll() {
        calls().forEach(
                        (name, made) -> {
                            warmUp(made);
                            int overflows = StackEnd.callElsewhere(made.get());
                            loop.runUntilEmpty();
                            check(name, overflows);
                        });
    }

    @Test
    @Clause("E-4")
    void bufferRelease_thatSchedulesATrim_atTheEndOfAStack_hasNoEffectOrAll() {
        releaseBeforeTrim().run();
        trim();
        AtomicInteger overflows = new AtomicInteger();
        loop.submit(() -> overflows.set(StackEnd.call(releaseBeforeTrim())));
        Thread runner = new Thread(null, loop::runUntilEmpty, "runner", 256 << 10);
        runner.start();
        join(runner);
        assertThat(overflows.get()).isPositive();
        assertThat(loop.metrics().bufferMemory()).isZero();
        long fired = loop.metrics().timers();
        trim();
        assertThat(loop.metrics().timers() - fired).as("the trim, and the test's own").isEqualTo(2);
    }

    /// Returns the release that exceeds the mebibyte of idle memory that a loop keeps.
    private Runnable releaseBeforeTrim() {
        List<Buffer> buffers =
                IntStream.range(0, 16).mapToObj(_ -> Buffer.acquire(loop, 1 << 16)).toList();
        Buffer.acquire(loop, 100).release();
        buffers.stream().skip(1).forEach(Buffer::release);
        return buffers.getFirst()::release;
    }

    private void trim() {
        loop.after(Duration.ofMillis(1_100), _ -> {});
        loop.runUntilEmpty();
    }

    private void check(String name, int overflows) {
        loop.runUntilEmpty();
        assertThat(overflows).as("overflows of %s", name).isPositive();
        assertThat(done.getAndSet(0)).as("effects of %s", name).isEqualTo(1);
        assertThat(loop.metrics().queuedTasks()).as("tasks after %s", name).isZero();
        assertThat(loop.metrics().queuedPriorityTasks()).as("tasks after %s", name).isZero();
        assertThat(loop.metrics().awaited()).as("awaited after %s", name).isZero();
        assertThat(loop.metrics().operations()).as("operations after %s", name).isZero();
        assertThat(loop.metrics().watchers()).as("watchers after %s", name).isZero();
        assertThat(loop.metrics().bufferMemory()).as("buffers after %s", name).isZero();
    }

    @Test
    @Clause({"E-4", "Q-1", "Q-2"})
    void submit_atTheEndOfManyStacks_leavesNoHole() throws InterruptedException {
        warmUp(() -> () -> loop.trySubmit(this::done));
        AtomicInteger accepted = new AtomicInteger();
        CountDownLatch last = new CountDownLatch(1);
        Thread runner = world().sleeps() ? Thread.ofPlatform().start(loop::run) : null;
        for (int i = 0; i < 20; i++) {
            StackEnd.callElsewhere(
                    () -> {
                        if (loop.trySubmit(this::done) == SubmitResult.ACCEPTED) {
                            accepted.incrementAndGet();
                        }
                    });
        }
        loop.submit(last::countDown);
        if (runner == null) {
            loop.runUntilEmpty();
        }
        last.await();
        assertThat(done).as("what ran").hasValueGreaterThanOrEqualTo(accepted.get());
        loop.close();
        if (runner != null) {
            join(runner);
        }
    }

    @Test
    @Clause({"E-4", "S-3"})
    void close_atTheEndOfAStack_endsTheLoop() throws InterruptedException {
        Thread runner = world().sleeps() ? Thread.ofPlatform().start(loop::run) : null;
        loop.submit(this::done);
        assertThat(StackEnd.callElsewhere(loop::close)).isPositive();
        loop.close();
        if (runner != null) {
            join(runner);
        }
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
    }
}
