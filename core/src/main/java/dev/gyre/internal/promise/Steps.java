package dev.gyre.internal.promise;

import dev.gyre.Promise;
import dev.gyre.Promise.Action;
import dev.gyre.Promise.Cleanup;
import dev.gyre.Promise.Handler;
import dev.gyre.internal.base.Throwables;

import org.jspecify.annotations.Nullable;

/// The kinds of steps that user code can attach.
final class Steps {
    private Steps() {}

    /// A step with a handler. Each kind has a field of its own for it, typed, and lets it go when it has run.
    abstract static sealed class Kind<S extends @Nullable Object, T extends @Nullable Object>
            extends Step<S, T>
            permits Then, Either, Accept, Compose, Recover, RecoverCompose, Finally {
        Kind(LoopPromise<S> source) {
            super(source);
        }

        /// Goes on as that promise does.
        final void followReturned(@Nullable Promise<? extends T> returned) {
            if (returned == null) {
                throw new NullPointerException(
                        "the handler of " + this + " returned null instead of a promise");
            }
            follow((LoopPromise<? extends T>) returned);
        }
    }

    private static <H> H used(@Nullable H handler) {
        assert handler != null : "a step runs once";
        return handler;
    }

    static final class Then<S extends @Nullable Object, T extends @Nullable Object>
            extends Kind<S, T> {
        private @Nullable Handler<? super S, ? extends T> handler;

        Then(LoopPromise<S> source, Handler<? super S, ? extends T> handler) {
            super(source);
            this.handler = handler;
        }

        @Override
        void onSettled(LoopPromise<S> source) throws Throwable {
            Handler<? super S, ? extends T> apply = used(handler);
            handler = null;
            if (source.isResolved()) {
                settleResolved(apply.apply(source.resolvedValue()));
            } else {
                settleLike(source);
            }
        }
    }

    static final class Either<S extends @Nullable Object, T extends @Nullable Object>
            extends Kind<S, T> {
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
            Handler<? super S, ? extends T> resolved = used(onResolved);
            Handler<? super Throwable, ? extends T> rejected = used(onRejected);
            onResolved = null;
            onRejected = null;
            settleResolved(
                    source.isResolved()
                            ? resolved.apply(source.resolvedValue())
                            : rejected.apply(source.reason()));
        }
    }

    static final class Accept<S extends @Nullable Object> extends Kind<S, @Nullable Void> {
        private @Nullable Action<? super S> action;

        Accept(LoopPromise<S> source, Action<? super S> action) {
            super(source);
            this.action = action;
        }

        @Override
        void onSettled(LoopPromise<S> source) throws Throwable {
            Action<? super S> accept = used(action);
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
            extends Kind<S, T> {
        private @Nullable Handler<? super S, ? extends Promise<? extends T>> handler;

        Compose(LoopPromise<S> source, Handler<? super S, ? extends Promise<? extends T>> handler) {
            super(source);
            this.handler = handler;
        }

        @Override
        void onSettled(LoopPromise<S> source) throws Throwable {
            Handler<? super S, ? extends Promise<? extends T>> apply = used(handler);
            handler = null;
            if (source.isResolved()) {
                followReturned(apply.apply(source.resolvedValue()));
            } else {
                settleLike(source);
            }
        }
    }

    static final class Recover<T extends @Nullable Object, X extends Throwable> extends Kind<T, T> {
        private final Class<X> type;
        private @Nullable Handler<? super X, ? extends T> handler;

        Recover(LoopPromise<T> source, Class<X> type, Handler<? super X, ? extends T> handler) {
            super(source);
            this.type = type;
            this.handler = handler;
        }

        @Override
        void onSettled(LoopPromise<T> source) throws Throwable {
            Handler<? super X, ? extends T> apply = used(handler);
            handler = null;
            if (!source.isResolved() && type.isInstance(source.reason())) {
                settleResolved(apply.apply(type.cast(source.reason())));
            } else {
                settleLike(source);
            }
        }
    }

    static final class RecoverCompose<T extends @Nullable Object> extends Kind<T, T> {
        private @Nullable Handler<? super Throwable, ? extends Promise<? extends T>> handler;

        RecoverCompose(
                LoopPromise<T> source,
                Handler<? super Throwable, ? extends Promise<? extends T>> handler) {
            super(source);
            this.handler = handler;
        }

        @Override
        void onSettled(LoopPromise<T> source) throws Throwable {
            Handler<? super Throwable, ? extends Promise<? extends T>> apply = used(handler);
            handler = null;
            if (source.isResolved()) {
                settleLike(source);
            } else {
                followReturned(apply.apply(source.reason()));
            }
        }
    }

    static final class Finally<T extends @Nullable Object> extends Kind<T, T> {
        private @Nullable Cleanup cleanup;

        Finally(LoopPromise<T> source, Cleanup cleanup) {
            super(source);
            this.cleanup = cleanup;
        }

        @Override
        void onSettled(LoopPromise<T> source) throws Throwable {
            Cleanup clean = used(cleanup);
            cleanup = null;
            try {
                clean.run();
            } catch (Throwable thrown) {
                throw source.isResolved() ? thrown : Throwables.firstOf(thrown, source.reason());
            }
            settleLike(source);
        }
    }
}
