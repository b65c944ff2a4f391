package dev.gyre.internal.promise;

import dev.gyre.CooperativeExecutor;
import dev.gyre.EventLoop;
import dev.gyre.LoopOverloadedException;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Promise;
import dev.gyre.internal.base.StackReserve;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// A future for a promise: clause P-4. It keeps the promise reachable, as do its dependents. The
/// loop does not: without this reference the promise could be collected, and the loop could not
/// settle it on termination.
public sealed class PromiseFuture<T extends @Nullable Object> extends CompletableFuture<T> {
    /// The promise, or the future that this one depends on.
    @SuppressWarnings({"unused", "UnusedVariable"})
    volatile @Nullable Object held;

    private final EventLoop loop;

    private PromiseFuture(EventLoop loop, @Nullable Object held) {
        this.loop = loop;
        this.held = held;
    }

    static <T extends @Nullable Object> CompletableFuture<T> of(LoopPromise<T> promise) {
        StackReserve.requireLarge();
        PromiseFuture<T> future = new PromiseFuture<>(promise.loop(), promise);
        if (promise.isSettled()) {
            promise.markHandled();
            future.completeLike(promise); // Nothing depends on it yet.
        } else {
            future.follow(promise);
        }
        return future;
    }

    /// Calls the body on the loop thread and follows the promise it returns. Any thread.
    public static <T extends @Nullable Object> CompletableFuture<T> call(
            EventLoop loop, Callable<? extends Promise<? extends T>> body) {
        Call<T> call = new Call<>(loop, body);
        switch (loop.trySubmit(call)) {
            case ACCEPTED -> {}
            case OVERLOADED ->
                    call.completeExceptionally(
                            new LoopOverloadedException(
                                    loop
                                            + " rejected a call: "
                                            + loop.config().highWaterMark()
                                            + " tasks are waiting"));
            case TERMINATED ->
                    call.completeExceptionally(
                            new LoopTerminatedException(loop + " rejected a call: terminated"));
        }
        return call;
    }

    /// Calls the body like [#call], through the priority lane.
    public static <T extends @Nullable Object> CompletableFuture<T> callPriority(
            EventLoop loop, Callable<? extends Promise<? extends T>> body) {
        Call<T> call = new Call<>(loop, body);
        try {
            loop.submitPriority(call);
        } catch (LoopTerminatedException e) {
            call.completeExceptionally(e);
        }
        return call;
    }

    @Override
    public final <U extends @Nullable Object> CompletableFuture<U> newIncompleteFuture() {
        return new PromiseFuture<>(loop, this);
    }

    /// The completing thread runs a future's dependents, so the loop thread must not complete it.
    final void follow(LoopPromise<? extends T> promise) {
        Subscription.of(promise, () -> onAnotherThread(() -> completeLike(promise)));
    }

    final void onAnotherThread(Runnable completion) {
        if (loop.config().executor() instanceof CooperativeExecutor turns) {
            turns.execute(completion);
        } else {
            Thread.startVirtualThread(completion);
        }
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        CooperativeExecutor turns = CooperativeExecutor.current(loop);
        if (turns != null) {
            turns.await(this::isDone);
        }
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        CooperativeExecutor turns = CooperativeExecutor.current(loop);
        if (turns == null) {
            return super.get(timeout, unit);
        }
        boolean done = turns.await(this::isDone, Duration.of(timeout, unit.toChronoUnit()));
        return super.get(done ? timeout : 0, unit);
    }

    @Override
    public T join() {
        CooperativeExecutor turns = CooperativeExecutor.current(loop);
        boolean interrupted = false;
        while (turns != null && !isDone()) {
            try {
                turns.await(this::isDone);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return super.join();
    }

    private void completeLike(LoopPromise<? extends T> settled) {
        if (settled.isResolved()) {
            complete(settled.resolvedValue());
        } else {
            completeExceptionally(settled.reason());
        }
    }

    /// A call queued for the loop thread: task and future in one. The loop calls [#fail] if it
    /// drops the task, because the caller waits.
    public static final class Call<T extends @Nullable Object> extends PromiseFuture<T>
            implements Runnable {
        private final Callable<? extends Promise<? extends T>> body;

        private Call(EventLoop loop, Callable<? extends Promise<? extends T>> body) {
            super(loop, null);
            this.body = body;
        }

        @Override
        public void run() {
            if (isDone()) {
                return; // Cancelled before it ran.
            }
            try {
                Promise<? extends T> promise = body.call();
                if (promise == null) {
                    throw new NullPointerException("the call returned null, not a promise");
                }
                held = promise;
                // Before the barrier that reports unhandled rejections.
                follow((LoopPromise<? extends T>) promise);
            } catch (Throwable thrown) {
                fail(thrown);
                if (thrown instanceof VirtualMachineError fatal) {
                    throw fatal;
                }
            }
        }

        /// Completes the future exceptionally. Runs no user code on the calling thread.
        public void fail(Throwable reason) {
            onAnotherThread(() -> completeExceptionally(reason));
        }
    }
}
