package dev.gyre.internal.promise;

import dev.gyre.Promise;
import dev.gyre.Promise.Action;
import dev.gyre.Promise.Cleanup;
import dev.gyre.Promise.Handler;

import org.jspecify.annotations.Nullable;

/// The kinds of steps that user code can attach.
final class Steps {
    private Steps() {}

    /// A step with a handler, which is let go when it has run.
    abstract static sealed class Kind<S extends @Nullable Object, T extends @Nullable Object, H>
            extends Step<S, T>
            permits Then, Either, Accept, Compose, Recover, RecoverCompose, Finally {
        private @Nullable H handler;

        Kind(LoopPromise<S> source, H handler) {
            super(source);
            this.handler = handler;
        }

        @Override
        final void settled(LoopPromise<S> source) throws Throwable {
            H used = handler;
            assert used != null : "a step runs once";
            handler = null;
            settled(source, used);
        }

        abstract void settled(LoopPromise<S> source, H handler) throws Throwable;

        /// Goes on as that promise does.
        final void followReturned(@Nullable Promise<? extends T> returned) {
            if (returned == null) {
                throw new NullPointerException(
                        "the handler of " + this + " returned null instead of a promise");
            }
            follow((LoopPromise<? extends T>) returned);
        }
    }

    static final class Then<S extends @Nullable Object, T extends @Nullable Object>
            extends Kind<S, T, Handler<? super S, ? extends T>> {
        Then(LoopPromise<S> source, Handler<? super S, ? extends T> handler) {
            super(source, handler);
        }

        @Override
        void settled(LoopPromise<S> source, Handler<? super S, ? extends T> handler)
                throws Throwable {
            if (source.isResolved()) {
                settleResolved(handler.apply(source.resolvedValue()));
            } else {
                settleLike(source);
            }
        }
    }

    static final class Either<S extends @Nullable Object, T extends @Nullable Object>
            extends Kind<S, T, Handler<? super S, ? extends T>> {
        private @Nullable Handler<? super Throwable, ? extends T> onRejected;

        Either(
                LoopPromise<S> source,
                Handler<? super S, ? extends T> onResolved,
                Handler<? super Throwable, ? extends T> onRejected) {
            super(source, onResolved);
            this.onRejected = onRejected;
        }

        @Override
        void settled(LoopPromise<S> source, Handler<? super S, ? extends T> onResolved)
                throws Throwable {
            Handler<? super Throwable, ? extends T> used = onRejected;
            assert used != null : "a step runs once";
            onRejected = null;
            settleResolved(
                    source.isResolved()
                            ? onResolved.apply(source.resolvedValue())
                            : used.apply(source.reason()));
        }
    }

    static final class Accept<S extends @Nullable Object>
            extends Kind<S, @Nullable Void, Action<? super S>> {
        Accept(LoopPromise<S> source, Action<? super S> action) {
            super(source, action);
        }

        @Override
        void settled(LoopPromise<S> source, Action<? super S> action) throws Throwable {
            if (source.isResolved()) {
                action.accept(source.resolvedValue());
                settleResolved(null);
            } else {
                settleLike(source);
            }
        }
    }

    static final class Compose<S extends @Nullable Object, T extends @Nullable Object>
            extends Kind<S, T, Handler<? super S, ? extends Promise<? extends T>>> {
        Compose(LoopPromise<S> source, Handler<? super S, ? extends Promise<? extends T>> handler) {
            super(source, handler);
        }

        @Override
        void settled(
                LoopPromise<S> source, Handler<? super S, ? extends Promise<? extends T>> handler)
                throws Throwable {
            if (source.isResolved()) {
                followReturned(handler.apply(source.resolvedValue()));
            } else {
                settleLike(source);
            }
        }
    }

    static final class Recover<T extends @Nullable Object, X extends Throwable>
            extends Kind<T, T, Handler<? super X, ? extends T>> {
        private final Class<X> type;

        Recover(LoopPromise<T> source, Class<X> type, Handler<? super X, ? extends T> handler) {
            super(source, handler);
            this.type = type;
        }

        @Override
        void settled(LoopPromise<T> source, Handler<? super X, ? extends T> handler)
                throws Throwable {
            if (!source.isResolved() && type.isInstance(source.reason())) {
                settleResolved(handler.apply(type.cast(source.reason())));
            } else {
                settleLike(source);
            }
        }
    }

    static final class RecoverCompose<T extends @Nullable Object>
            extends Kind<T, T, Handler<? super Throwable, ? extends Promise<? extends T>>> {
        RecoverCompose(
                LoopPromise<T> source,
                Handler<? super Throwable, ? extends Promise<? extends T>> handler) {
            super(source, handler);
        }

        @Override
        void settled(
                LoopPromise<T> source,
                Handler<? super Throwable, ? extends Promise<? extends T>> handler)
                throws Throwable {
            if (source.isResolved()) {
                settleLike(source);
            } else {
                followReturned(handler.apply(source.reason()));
            }
        }
    }

    static final class Finally<T extends @Nullable Object> extends Kind<T, T, Cleanup> {
        Finally(LoopPromise<T> source, Cleanup cleanup) {
            super(source, cleanup);
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // a throwable cannot suppress itself
        void settled(LoopPromise<T> source, Cleanup cleanup) throws Throwable {
            try {
                cleanup.run();
            } catch (Throwable thrown) {
                if (!source.isResolved() && source.reason() != thrown) {
                    thrown.addSuppressed(source.reason());
                }
                throw thrown;
            }
            settleLike(source);
        }
    }
}
