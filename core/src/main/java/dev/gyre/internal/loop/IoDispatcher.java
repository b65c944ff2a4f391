package dev.gyre.internal.loop;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.Request;

import org.jspecify.annotations.Nullable;

/// Runs the callbacks of collected events and completed operations, one by one. Those of an event
/// run in the order error, read, write (W-5), before those of the next event. Completions precede
/// events that are not dispatched yet.
///
/// Between two callbacks microtasks may run, and a run may end and another begin. So the handler
/// checks just before a callback runs whether it is still wanted, however old its event is.
///
/// Loop thread only.
final class IoDispatcher {
    private final Backend backend;
    private final OperationEngine operations;

    /// How many completions may still be delivered in this tick.
    private int completionsLeft;

    /// The handler of the event whose callbacks run.
    private @Nullable ReadinessHandler handler;

    /// The completion that [#run()] delivers or has delivered last. Other threads read it without
    /// synchronization, to describe it.
    private @Nullable Request completed;

    IoDispatcher(Backend backend, OperationEngine operations) {
        this.backend = backend;
        this.operations = operations;
    }

    void beginTick(int completions) {
        completionsLeft = completions;
    }

    /// Moves to the next callback that is wanted.
    ///
    /// @return false if no collected event and no completion is left
    boolean next() {
        while (true) {
            if (handler != null) {
                if (handler.nextCallback()) {
                    return true;
                }
                handler = null;
            }
            completed = completionsLeft > 0 ? operations.pollCompleted() : null;
            if (completed != null) {
                completionsLeft--;
                return true;
            }
            handler = backend.dispatchNext();
            if (handler == null) {
                return false;
            }
        }
    }

    /// Runs the callback that [#next()] moved to.
    void run() {
        Request request = completed;
        if (request != null) {
            request.handler.onComplete(request);
            return;
        }
        assert handler != null : "no callback to run";
        handler.runCallback();
    }

    /// Called before the microtasks of several callbacks.
    void batchEnded() {
        completed = null;
    }

    /// Describes whom the running callback is for; empty if unknown. Any thread.
    String describeRunning() {
        Request request = completed;
        return request == null ? "" : request.handler.describe();
    }
}
