package dev.gyre.internal.promise;

import org.jspecify.annotations.Nullable;

/// Something outside the loop that a promise waits for. While it is outstanding, the loop is alive and a graceful
/// shutdown waits.
abstract sealed class ExternalWork<T extends @Nullable Object> permits PromisedWork, AwaitedStage {
    final LoopPromise<T> promise;

    // Loop thread only: its place in the list of what is outstanding.
    @Nullable ExternalWork<?> previous;
    @Nullable ExternalWork<?> next;

    ExternalWork(LoopPromise<T> promise) {
        this.promise = promise;
    }

    /// Lets the list know it, until the promise is settled, by whomever. Loop thread.
    final void register() {
        ExternalWorkList outstanding = promise.owner.externalWork;
        // First, as it may allocate: a failure later would leave the list waiting.
        // Not a handler: a rejection that nobody else hears of is still unhandled.
        promise.attach(
                (InternalReaction)
                        () -> {
                            outstanding.remove(this);
                            onSettled();
                        });
        outstanding.add(this);
    }

    /// Any thread.
    final void deliverResolved(T value) {
        promise.owner.settleOnLoop(() -> promise.settleResolved(value));
    }

    /// Any thread.
    final void deliverRejected(Throwable reason) {
        promise.owner.settleOnLoop(() -> promise.settleRejected(reason));
    }

    /// The loop ends before it did: rejects the promise. Loop thread, perhaps with a lock: no user code.
    abstract void abandon(Throwable reason);

    /// Tells whoever is at it that it was abandoned. User code may run, so no lock is held.
    abstract void notifyAbandoned(Throwable reason);

    /// The promise is settled. Loop thread.
    abstract void onSettled();
}
