package dev.gyre.internal.promise;

import dev.gyre.internal.base.LoopContext;

/// Hears of a promise on any thread: from outside the loop, or from another one.
///
/// The reaction is attached by the loop thread, through the priority lane. If that is closed, the loop is about to
/// end or has ended, and all its promises are settled when it has.
final class Subscription implements InternalReaction {
    private final LoopPromise<?> promise;
    private final Runnable action;

    private Subscription(LoopPromise<?> promise, Runnable action) {
        this.promise = promise;
        this.action = action;
    }

    /// Any thread. The action runs once the promise is settled, on whatever thread.
    static Subscription of(LoopPromise<?> promise, Runnable action) {
        Subscription subscription = new Subscription(promise, action);
        subscription.begin();
        return subscription;
    }

    private void begin() {
        promise.markHandled();
        LoopContext host = promise.home.host;
        if (promise.isSettled()) {
            action.run();
        } else if (promise.home.confinement.isHere()) {
            promise.react(this);
        } else if (!host.trySubmitPriority((SettlementTask) () -> promise.react(this))) {
            host.whenTerminated(action);
        }
    }

    /// Any thread. It may still run.
    void cancel() {
        promise.home.host.trySubmitPriority((SettlementTask) () -> promise.detach(this));
    }

    /// The same, if there is anything to take back.
    void cancelUnlessSettled() {
        if (!promise.isSettled()) {
            cancel();
        }
    }

    @Override
    public void run() {
        action.run();
    }
}
