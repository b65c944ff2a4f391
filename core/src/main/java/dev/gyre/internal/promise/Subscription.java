package dev.gyre.internal.promise;

import dev.gyre.internal.base.LoopContext;

/// Observes a promise from any thread, also from another loop.
///
/// The loop thread attaches the reaction, through the priority lane. If the lane is closed, the
/// loop terminates, and all its promises are settled once it has terminated.
final class Subscription implements Reaction.Internal {
    private final LoopPromise<?> promise;
    private final Runnable action;

    private Subscription(LoopPromise<?> promise, Runnable action) {
        this.promise = promise;
        this.action = action;
    }

    /// Runs the action once the promise is settled, on an unspecified thread. Any thread.
    static Subscription of(LoopPromise<?> promise, Runnable action) {
        Subscription subscription = new Subscription(promise, action);
        subscription.subscribe();
        return subscription;
    }

    private void subscribe() {
        promise.markHandled();
        LoopContext context = promise.owner.context;
        if (promise.isSettled()) {
            action.run();
        } else if (promise.owner.confinement.isHere()) {
            promise.react(this);
        } else if (!context.trySubmitPriority((Promises.Settlement) () -> promise.react(this))) {
            context.whenTerminated(action);
        }
    }

    /// Removes the action, which may still run. Any thread.
    void cancel() {
        if (!promise.isSettled()) {
            promise.owner.context.trySubmitPriority(
                    (Promises.Settlement) () -> promise.detach(this));
        }
    }

    @Override
    public void run() {
        action.run();
    }
}
