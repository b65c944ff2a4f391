package dev.gyre.internal.promise;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/// A stage that somebody else completes.
final class AwaitedStage<T extends @Nullable Object> extends Outside<T> {
    AwaitedStage(LoopPromise<T> promise) {
        super(promise);
    }

    void await(CompletionStage<? extends T> stage) {
        try {
            stage.whenComplete(
                    (value, thrown) -> {
                        if (thrown == null) {
                            deliverResolved(value);
                        } else {
                            deliverRejected(cause(thrown));
                        }
                    });
        } catch (RuntimeException refused) {
            // A stage of somebody else's make: it will never tell, and the loop must not wait.
            deliverRejected(refused);
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
    void ended() {}
}
