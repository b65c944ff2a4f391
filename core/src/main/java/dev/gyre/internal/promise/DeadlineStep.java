package dev.gyre.internal.promise;

import dev.gyre.Timer;
import dev.gyre.internal.time.Durations;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.TimeoutException;

/// A step that settles as its source does, unless something else comes first: a deadline or a cancellation.
///
/// Loop thread only.
final class DeadlineStep<T extends @Nullable Object> extends Step<T, T> {
    DeadlineStep(LoopPromise<T> source) {
        super(source);
        // A source that stays pending for long must not gather guards that gave up.
        attach((InternalReaction) this::detachFromSource);
    }

    @Override
    void onSettled(LoopPromise<T> source) {
        settleLike(source);
    }

    /// Rejects it when the time has passed.
    void rejectAfter(Duration timeout, long nanos) {
        long deadlineNanos = Durations.deadline("timeout", loop().nowNanos(), nanos);
        Timer timer =
                loop().at(
                                deadlineNanos,
                                fired ->
                                        settleRejected(
                                                new TimeoutException(
                                                        "not settled within " + timeout)));
        attach((InternalReaction) () -> owner.cancel(timer));
    }
}
