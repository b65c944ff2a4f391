package dev.gyre.internal.promise;

import dev.gyre.internal.base.StackReserve;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/// A stage that somebody else completes. It may never be, and outlive many loops, and nobody can take back what
/// listens to it: so what it holds of the loop is cut off once the promise is settled.
final class AwaitedStage<T extends @Nullable Object> extends ExternalWork<T> {
    private final Ear<T> callback = new Ear<>(this);

    AwaitedStage(LoopPromise<T> promise) {
        super(promise);
    }

    void await(CompletionStage<? extends T> stage) {
        try {
            stage.whenComplete(callback::hear);
        } catch (Throwable refused) {
            // A stage of somebody else's make: it will never tell, and the loop must not wait.
            deliverRejected(refused);
            if (refused instanceof VirtualMachineError fatal) {
                throw fatal;
            }
        }
    }

    /// What the stage knows of it.
    private static final class Ear<T extends @Nullable Object> {
        // Shared: cleared by the loop thread, read by whoever completes the stage, who may deliver
        // in vain.
        private volatile @Nullable AwaitedStage<T> awaited;

        Ear(AwaitedStage<T> awaited) {
            this.awaited = awaited;
        }

        void hear(T value, @Nullable Throwable thrown) {
            StackReserve.requireLarge();
            AwaitedStage<T> waiting = awaited;
            if (waiting == null) {
                return;
            }
            if (thrown == null) {
                waiting.deliverResolved(value);
            } else {
                waiting.deliverRejected(cause(thrown));
            }
        }
    }

    /// A stage that passes a failure on wraps it.
    private static Throwable cause(Throwable thrown) {
        return thrown instanceof CompletionException && thrown.getCause() != null
                ? thrown.getCause()
                : thrown;
    }

    @Override
    void abandon(Throwable reason) {
        promise.settleRejected(reason);
    }

    @Override
    void notifyAbandoned(Throwable reason) {
        // Others may wait for the stage, too.
    }

    @Override
    void onSettled() {
        callback.awaited = null;
    }
}
