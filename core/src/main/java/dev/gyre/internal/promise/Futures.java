package dev.gyre.internal.promise;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.CompletableFuture;

/// From promises to futures: clause P-4.
final class Futures {
    private Futures() {}

    static <T extends @Nullable Object> CompletableFuture<T> of(LoopPromise<T> promise) {
        CompletableFuture<T> future = new Holding<>(promise);
        if (promise.isSettled()) {
            promise.markHandled();
            complete(future, promise); // Nothing depends on it yet.
        } else {
            // Whoever completes a future runs what depends on it, and the loop must not.
            Subscription.of(
                    promise, () -> Thread.startVirtualThread(() -> complete(future, promise)));
        }
        return future;
    }

    /// A future that holds its promise, as do those that depend on it: the loop does not, and could not settle at
    /// its end what has been collected, while somebody waits for the future.
    private static final class Holding<T extends @Nullable Object> extends CompletableFuture<T> {
        @SuppressWarnings({"unused", "UnusedVariable"})
        private final LoopPromise<?> held;

        Holding(LoopPromise<?> held) {
            this.held = held;
        }

        @Override
        public <U extends @Nullable Object> CompletableFuture<U> newIncompleteFuture() {
            return new Holding<>(held);
        }
    }

    private static <T extends @Nullable Object> void complete(
            CompletableFuture<T> future, LoopPromise<T> settled) {
        if (settled.isResolved()) {
            future.complete(settled.resolvedValue());
        } else {
            future.completeExceptionally(settled.reason());
        }
    }
}
