package dev.gyre.internal.promise;

import dev.gyre.EventLoop;
import dev.gyre.LoopOverloadedException;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Promise;
import dev.gyre.internal.base.StackReserve;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/// From promises to futures: clause P-4.
public final class Futures {
    private Futures() {}

    static <T extends @Nullable Object> CompletableFuture<T> of(LoopPromise<T> promise) {
        StackReserve.requireLarge();
        CompletableFuture<T> future = new Holding<>(promise);
        if (promise.isSettled()) {
            promise.markHandled();
            complete(future, promise); // Nothing depends on it yet.
        } else {
            completeLater(future, promise);
        }
        return future;
    }

    /// Calls the body on the loop thread, and follows the promise it returns. Any thread.
    public static <T extends @Nullable Object> CompletableFuture<T> call(
            EventLoop loop, Callable<? extends Promise<? extends T>> body) {
        Call<T> call = new Call<>(body);
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

    /// The completing thread runs a future's dependents, so the loop thread must not complete it.
    private static <T extends @Nullable Object> void completeLater(
            CompletableFuture<T> future, LoopPromise<? extends T> promise) {
        Subscription.of(promise, () -> Thread.startVirtualThread(() -> complete(future, promise)));
    }

    private static <T extends @Nullable Object> void complete(
            CompletableFuture<T> future, LoopPromise<? extends T> settled) {
        if (settled.isResolved()) {
            future.complete(settled.resolvedValue());
        } else {
            future.completeExceptionally(settled.reason());
        }
    }

    /// A future that keeps its promise reachable, as do its dependents. The loop does not. Without
    /// this the promise could be collected, and the loop could not settle it at its end.
    private static class Holding<T extends @Nullable Object> extends CompletableFuture<T> {
        /// The promise, or the future that this one depends on.
        @SuppressWarnings({"unused", "UnusedVariable"})
        volatile @Nullable Object held;

        Holding(@Nullable Object held) {
            this.held = held;
        }

        @Override
        public final <U extends @Nullable Object> CompletableFuture<U> newIncompleteFuture() {
            return new Holding<>(this);
        }
    }

    /// A call queued for the loop thread: task and future in one.
    private static final class Call<T extends @Nullable Object> extends Holding<T>
            implements AwaitedTask {
        private final Callable<? extends Promise<? extends T>> body;

        Call(Callable<? extends Promise<? extends T>> body) {
            super(null);
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
                completeLater(this, (LoopPromise<? extends T>) promise);
            } catch (Throwable thrown) {
                fail(thrown);
                if (thrown instanceof VirtualMachineError fatal) {
                    throw fatal;
                }
            }
        }

        @Override
        public void fail(Throwable reason) {
            Thread.startVirtualThread(() -> completeExceptionally(reason));
        }
    }
}
