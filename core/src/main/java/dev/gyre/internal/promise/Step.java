package dev.gyre.internal.promise;

import dev.gyre.Promise;
import dev.gyre.Promise.Action;
import dev.gyre.Promise.Cleanup;
import dev.gyre.Promise.Handler;
import dev.gyre.Timer;
import dev.gyre.internal.base.Checks;
import dev.gyre.internal.base.Throwables;
import dev.gyre.internal.time.Durations;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.TimeoutException;

/// A promise derived from the outcome of another one, its source. It is its own reaction to the
/// source, so a step is one object.
///
/// Each kind has a typed field for its handler and clears it before the handler runs.
///
/// Loop thread only.
abstract sealed class Step<S extends @Nullable Object, T extends @Nullable Object>
        extends LoopPromise<T> implements Reaction {
    // Null once it has run: a settled promise keeps only its value reachable.
    private @Nullable LoopPromise<S> source;

    private Step(LoopPromise<S> source) {
        super(source.owner);
        this.source = source;
    }

    @Override
    final boolean isDerived() {
        return source != null || super.isDerived();
    }

    @Override
    @SuppressWarnings("Interruption") // restores the cleared interrupt status
    public final void run() {
        LoopPromise<S> settled = source;
        if (settled == null) {
            return; // Settled by a deadline or a cancellation.
        }
        source = null;
        try {
            onSettled(settled);
        } catch (VirtualMachineError fatal) {
            settleRejected(fatal);
            throw fatal; // The loop's failure policy applies.
        } catch (Throwable thrown) {
            if (thrown instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            settleRejected(thrown);
        }
    }

    /// Settles the step with the outcome of its source.
    abstract void onSettled(LoopPromise<S> source) throws Throwable;

    final void detachFromSource() {
        LoopPromise<S> detached = source;
        if (detached != null) {
            source = null;
            detached.detach(this);
        }
    }

    final void followReturned(@Nullable Promise<? extends T> returned) {
        if (returned == null) {
            throw new NullPointerException(
                    "the handler of " + this + " returned null instead of a promise");
        }
        follow((LoopPromise<? extends T>) returned);
    }

    private static <H> H required(@Nullable H handler) {
        assert handler != null : "a step runs once";
        return handler;
    }

    static final class Then<S extends @Nullable Object, T extends @Nullable Object>
            extends Step<S, T> {
        private @Nullable Handler<? super S, ? extends T> handler;

        Then(LoopPromise<S> source, Handler<? super S, ? extends T> handler) {
            super(source);
            this.handler = handler;
        }

        @Override
        void onSettled(LoopPromise<S> source) throws Throwable {
            Handler<? super S, ? extends T> apply = required(handler);
            handler = null;
            if (source.isResolved()) {
                settleResolved(apply.apply(source.resolvedValue()));
            } else {
                settleLike(source);
            }
        }
    }

    static final class Either<S extends @Nullable Object, T extends @Nullable Object>
            extends Step<S, T> {
        private @Nullable Handler<? super S, ? extends T> onResolved;
        private @Nullable Handler<? super Throwable, ? extends T> onRejected;

        Either(
                LoopPromise<S> source,
                Handler<? super S, ? extends T> onResolved,
                Handler<? super Throwable, ? extends T> onRejected) {
            super(source);
            this.onResolved = onResolved;
            this.onRejected = onRejected;
        }

        @Override
        void onSettled(LoopPromise<S> source) throws Throwable {
            Handler<? super S, ? extends T> resolved = required(onResolved);
            Handler<? super Throwable, ? extends T> rejected = required(onRejected);
            onResolved = null;
            onRejected = null;
            settleResolved(
                    source.isResolved()
                            ? resolved.apply(source.resolvedValue())
                            : rejected.apply(source.reason()));
        }
    }

    static final class Accept<S extends @Nullable Object> extends Step<S, @Nullable Void> {
        private @Nullable Action<? super S> action;

        Accept(LoopPromise<S> source, Action<? super S> action) {
            super(source);
            this.action = action;
        }

        @Override
        void onSettled(LoopPromise<S> source) throws Throwable {
            Action<? super S> accept = required(action);
            action = null;
            if (source.isResolved()) {
                accept.accept(source.resolvedValue());
                settleResolved(null);
            } else {
                settleLike(source);
            }
        }
    }

    static final class Compose<S extends @Nullable Object, T extends @Nullable Object>
            extends Step<S, T> {
        private @Nullable Handler<? super S, ? extends Promise<? extends T>> handler;

        Compose(LoopPromise<S> source, Handler<? super S, ? extends Promise<? extends T>> handler) {
            super(source);
            this.handler = handler;
        }

        @Override
        void onSettled(LoopPromise<S> source) throws Throwable {
            Handler<? super S, ? extends Promise<? extends T>> apply = required(handler);
            handler = null;
            if (source.isResolved()) {
                followReturned(apply.apply(source.resolvedValue()));
            } else {
                settleLike(source);
            }
        }
    }

    static final class Recover<T extends @Nullable Object, X extends Throwable> extends Step<T, T> {
        private final Class<X> type;
        private @Nullable Handler<? super X, ? extends T> handler;

        Recover(LoopPromise<T> source, Class<X> type, Handler<? super X, ? extends T> handler) {
            super(source);
            this.type = type;
            this.handler = handler;
        }

        @Override
        void onSettled(LoopPromise<T> source) throws Throwable {
            Handler<? super X, ? extends T> apply = required(handler);
            handler = null;
            if (!source.isResolved() && type.isInstance(source.reason())) {
                settleResolved(apply.apply(type.cast(source.reason())));
            } else {
                settleLike(source);
            }
        }
    }

    static final class RecoverCompose<T extends @Nullable Object> extends Step<T, T> {
        private @Nullable Handler<? super Throwable, ? extends Promise<? extends T>> handler;

        RecoverCompose(
                LoopPromise<T> source,
                Handler<? super Throwable, ? extends Promise<? extends T>> handler) {
            super(source);
            this.handler = handler;
        }

        @Override
        void onSettled(LoopPromise<T> source) throws Throwable {
            Handler<? super Throwable, ? extends Promise<? extends T>> apply = required(handler);
            handler = null;
            if (source.isResolved()) {
                settleLike(source);
            } else {
                followReturned(apply.apply(source.reason()));
            }
        }
    }

    static final class Finally<T extends @Nullable Object> extends Step<T, T> {
        private @Nullable Cleanup cleanup;
        private final boolean handles;

        /// @param handles whether the cleanup handles a rejection unless it throws
        Finally(LoopPromise<T> source, Cleanup cleanup, boolean handles) {
            super(source);
            this.cleanup = cleanup;
            this.handles = handles;
        }

        @Override
        void onSettled(LoopPromise<T> source) throws Throwable {
            Cleanup clean = required(cleanup);
            cleanup = null;
            try {
                clean.run();
            } catch (Throwable thrown) {
                throw source.isResolved() ? thrown : Throwables.firstOf(thrown, source.reason());
            }
            if (handles) {
                markHandled();
            }
            settleLike(source);
        }
    }

    /// Settles as its source does, unless a deadline or a cancellation rejects it first.
    static final class Limit<T extends @Nullable Object> extends Step<T, T> {
        Limit(LoopPromise<T> source) {
            super(source);
            // A source that stays pending must not accumulate steps that have timed out.
            attach((Internal) this::detachFromSource);
        }

        @Override
        void onSettled(LoopPromise<T> source) {
            settleLike(source);
        }

        void rejectAfter(Duration timeout, long nanos) {
            long deadlineNanos = Durations.deadline("timeout", loop().nowNanos(), nanos);
            Timer timer = loop().at(deadlineNanos, fired -> timeOut(timeout));
            attach((Internal) () -> owner.cancel(timer));
        }

        private void timeOut(Duration timeout) {
            settleRejected(new TimeoutException("not settled within " + Checks.format(timeout)));
        }
    }
}
