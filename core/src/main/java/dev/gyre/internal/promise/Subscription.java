package dev.gyre.internal.promise;

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
        PromiseHost host = promise.owner.host;
        if (promise.isSettled()) {
            action.run();
        } else if (promise.owner.confinement.isHere()) {
            promise.react(this);
        } else if (!host.submitPriority((SettlementTask) () -> promise.react(this))) {
            host.whenOver(action);
        }
    }

    /// Any thread. It may still run.
    void cancel() {
        promise.owner.host.submitPriority((SettlementTask) () -> promise.detach(this));
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
