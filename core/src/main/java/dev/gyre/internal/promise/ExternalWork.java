package dev.gyre.internal.promise;

import dev.gyre.internal.base.Counter;
import dev.gyre.internal.base.IntrusiveList;
import dev.gyre.internal.base.StackReserve;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/// Work outside the loop that settles a promise. While it is pending, the loop is alive and a
/// graceful shutdown waits.
abstract sealed class ExternalWork<T extends @Nullable Object>
        extends IntrusiveList.Node<ExternalWork<?>> permits PromisedWork, ExternalWork.Stage {
    final LoopPromise<T> promise;

    ExternalWork(LoopPromise<T> promise) {
        this.promise = promise;
    }

    /// Lists the work until the promise is settled. Loop thread.
    final void register() {
        Pending pending = promise.owner.externalWork;
        // Before the list, as it may throw: otherwise the loop would wait forever.
        // Not a handler: a rejection without one is still unhandled.
        promise.attach(
                (Reaction.Internal)
                        () -> {
                            pending.remove(this);
                            onSettled();
                        });
        pending.add(this);
    }

    /// Any thread.
    final void deliverResolved(T value) {
        promise.owner.settleOnLoop(() -> promise.settleResolved(value));
    }

    /// Any thread.
    final void deliverRejected(Throwable reason) {
        promise.owner.settleOnLoop(() -> promise.settleRejected(reason));
    }

    /// Rejects the promise because the loop terminates first. Runs no user code, as the caller may
    /// hold a lock. Loop thread.
    abstract void abandon(Throwable reason);

    /// Notifies the worker that the work was abandoned. May run user code, so no lock is held.
    abstract void notifyAbandoned(Throwable reason);

    /// Releases what the work holds once the promise is settled. Loop thread.
    abstract void onSettled();

    /// All pending work of a loop, oldest first.
    ///
    /// Loop thread only, except for the counter.
    static final class Pending {
        private final IntrusiveList<ExternalWork<?>> list = new IntrusiveList<>();
        final Counter count = new Counter();

        private void add(ExternalWork<?> work) {
            list.add(work);
            count.add(1);
        }

        private void remove(ExternalWork<?> work) {
            list.remove(work);
            count.add(-1);
        }

        /// Returns the abandoned work.
        List<ExternalWork<?>> abandonAll(Throwable reason) {
            List<ExternalWork<?>> abandoned = new ArrayList<>();
            for (ExternalWork<?> work = list.first(); work != null; work = list.first()) {
                work.abandon(reason);
                abandoned.add(work);
            }
            return abandoned;
        }
    }

    /// A stage that other code completes. It may never complete and may outlive many loops, and its
    /// callback cannot be removed. So the callback drops its reference once the promise is settled.
    static final class Stage<T extends @Nullable Object> extends ExternalWork<T> {
        private final Callback<T> callback = new Callback<>(this);

        Stage(LoopPromise<T> promise) {
            super(promise);
        }

        void await(CompletionStage<? extends T> stage) {
            try {
                stage.whenComplete(callback::onComplete);
            } catch (Throwable refused) {
                // A custom stage that will not report: the loop must not wait for it.
                deliverRejected(refused);
                if (refused instanceof VirtualMachineError fatal) {
                    throw fatal;
                }
            }
        }

        @Override
        void abandon(Throwable reason) {
            promise.settleRejected(reason);
        }

        @Override
        void notifyAbandoned(Throwable reason) {
            // The stage stays as it is, because other code may wait for it.
        }

        @Override
        void onSettled() {
            callback.waiting = null;
        }

        private static final class Callback<T extends @Nullable Object> {
            // Shared: cleared by the loop thread, read by the thread that completes the stage. A
            // late delivery has no effect.
            private volatile @Nullable Stage<T> waiting;

            Callback(Stage<T> waiting) {
                this.waiting = waiting;
            }

            void onComplete(T value, @Nullable Throwable thrown) {
                StackReserve.requireLarge();
                Stage<T> present = waiting;
                if (present == null) {
                    return;
                }
                if (thrown == null) {
                    present.deliverResolved(value);
                } else {
                    present.deliverRejected(unwrap(thrown));
                }
            }

            /// Dependent stages wrap the exception of their source.
            private static Throwable unwrap(Throwable thrown) {
                return thrown instanceof CompletionException && thrown.getCause() != null
                        ? thrown.getCause()
                        : thrown;
            }
        }
    }
}
