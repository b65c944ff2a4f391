package dev.gyre.internal.promise;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;

/// A stage that somebody else completes.
final class AwaitedStage<T extends @Nullable Object> extends Outside<T> {
    private final Ear<T> ear = new Ear<>(this);

    AwaitedStage(LoopPromise<T> promise) {
        super(promise);
    }

    void await(CompletionStage<? extends T> stage) {
        try {
            stage.whenComplete(ear);
        } catch (Throwable refused) {
            // A stage of somebody else's make: it will never tell, and the loop must not wait.
            deliverRejected(refused);
            if (refused instanceof VirtualMachineError fatal) {
                throw fatal;
            }
        }
    }

    /// What the stage holds. A stage may outlive many loops, and cannot be told to forget.
    private static final class Ear<T extends @Nullable Object>
            implements BiConsumer<T, @Nullable Throwable> {
        // Shared: cleared by the loop thread, read by who completes the stage.
        private volatile @Nullable AwaitedStage<T> awaited;

        Ear(AwaitedStage<T> awaited) {
            this.awaited = awaited;
        }

        @Override
        public void accept(T value, @Nullable Throwable thrown) {
            AwaitedStage<T> told = awaited;
            if (told == null) {
                return;
            }
            if (thrown == null) {
                told.deliverResolved(value);
            } else {
                told.deliverRejected(cause(thrown));
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
    void tellAbandoned(Throwable reason) {
        // Others may wait for the stage, too.
    }

    @Override
    void ended() {
        ear.awaited = null;
    }
}
