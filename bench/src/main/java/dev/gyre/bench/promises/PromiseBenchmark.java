package dev.gyre.bench.promises;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.metrics.LoopObserver;

import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.FutureListener;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// Creates a promise, attaches one step, resolves it and runs the step's handler, on one thread.
///
/// The handler of one promise starts the next, so that each completes before the next is created,
/// as in [#future]. Gyre's handlers run as microtasks at a barrier of the loop. Those of other
/// implementations run inside the completing call, except in [#queuedFuture], which queues them
/// like Gyre. [#batch] creates and resolves 64 promises in one callback, so that their handlers run
/// one after the other at the barrier.
///
/// Netty's result is not fully comparable: its listener creates no second promise, and it keeps the
/// depth of listeners in a thread-local that is fast only on Netty's own threads, unlike JMH's.
///
/// A call of `run` does ten thousand, in ticks of a thousand. One poll per thousand is included.
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
public class PromiseBenchmark {
    static final int PROMISES = 10_000;
    private static final int PROMISES_PER_TICK = 1_000;
    private static final int BATCH = 64;

    private final EventLoop loop =
            EventLoop.open(LoopConfig.DEFAULT.withObserver(new LoopObserver() {}));
    private final Runnable chained = this::chain;
    private final Runnable batched = this::makeBatch;
    private final Queue<Runnable> queue = new ArrayDeque<>();
    private int left;
    private int leftInTick;
    private long sum;

    @TearDown
    public void close() {
        loop.close();
    }

    // ------------------------------------------------------------------ Gyre

    @Benchmark
    @OperationsPerInvocation(PROMISES)
    public long gyre() {
        left = PROMISES;
        loop.defer(chained);
        loop.run();
        return sum;
    }

    private void chain() {
        leftInTick = PROMISES_PER_TICK;
        next();
    }

    private void next() {
        Deferred<Integer> deferred = loop.deferred();
        deferred.promise().then(this::gone);
        deferred.resolve(left);
    }

    private Integer gone(Integer value) {
        sum += value;
        left--;
        if (--leftInTick > 0) {
            next();
        } else if (left > 0) {
            loop.defer(chained);
        } else {
            loop.stop();
        }
        return value;
    }

    @Benchmark
    @OperationsPerInvocation(BATCH * 100)
    public long batch() {
        left = 100;
        loop.defer(batched);
        loop.run();
        return sum;
    }

    private void makeBatch() {
        for (int i = 0; i < BATCH; i++) {
            Deferred<Integer> deferred = loop.deferred();
            deferred.promise().then(this::add);
            deferred.resolve(i);
        }
        if (--left > 0) {
            loop.microtask(batched); // After the handlers.
        } else {
            loop.stop();
        }
    }

    private Integer add(Integer value) {
        sum += value;
        return value;
    }

    // ------------------------------------------------------------------ peers

    @Benchmark
    @OperationsPerInvocation(PROMISES)
    public long future() {
        for (int i = PROMISES; i > 0; i--) {
            var future = new CompletableFuture<Integer>();
            var _ = future.thenApply(this::add);
            future.complete(i);
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(PROMISES)
    public long queuedFuture() {
        for (int i = PROMISES; i > 0; i--) {
            var future = new CompletableFuture<Integer>();
            var _ = future.thenApplyAsync(this::add, queue::add);
            future.complete(i);
            for (Runnable handler = queue.poll(); handler != null; handler = queue.poll()) {
                handler.run();
            }
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(PROMISES)
    public long netty() {
        FutureListener<Integer> listener = future -> add(future.getNow());
        for (int i = PROMISES; i > 0; i--) {
            Promise<Integer> promise = new DefaultPromise<>(ImmediateEventExecutor.INSTANCE);
            promise.addListener(listener);
            promise.setSuccess(i);
        }
        return sum;
    }
}
