package dev.gyre.internal.loop;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.IoHandler;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.Request;

import org.jspecify.annotations.Nullable;

/// Runs the callbacks of collected events one by one: those of an event in the order error, read,
/// write (W-5), then those of the next event. A completed operation is an event too, and precedes
/// readiness that was not dispatched yet.
///
/// Between two callbacks a run may end and another one begin. So a handler is asked just before each
/// callback whether it still wants it.
///
/// Loop thread only.
final class IoDispatcher {
    private final Backend backend;
    private final OperationEngine requests;

    /// How many completions this tick may still dispatch.
    private int completionsLeft;

    /// The handler of the current event.
    private @Nullable IoHandler handler;

    /// The callbacks of that event that have not run yet.
    private int left;

    private int callback;

    IoDispatcher(Backend backend, OperationEngine requests) {
        this.backend = backend;
        this.requests = requests;
    }

    /// Resets the budget of completions.
    void beginTick(int completions) {
        completionsLeft = completions;
    }

    /// Moves to the next callback that is wanted.
    ///
    /// @return false once all collected events are dispatched
    boolean next() {
        while (true) {
            IoHandler current = handler;
            while (left != 0 && current != null) {
                callback = Integer.lowestOneBit(left);
                left -= callback;
                if (current.wants(callback)) {
                    return true;
                }
            }
            finish();
            Request completed = completionsLeft > 0 ? requests.takeCompleted() : null;
            if (completed != null) {
                completionsLeft--;
                current = completed.owner;
                left = current.take(0);
            } else {
                current = backend.takeReady();
                if (current == null) {
                    return false;
                }
                left = current.take(backend.taken());
            }
            handler = left == 0 ? null : current;
        }
    }

    /// Runs the callback that [#next()] moved to.
    void run() {
        IoHandler current = handler;
        assert current != null : "no callback to run";
        try {
            current.run(callback);
        } finally {
            if (left == 0) {
                finish();
            }
        }
    }

    private void finish() {
        IoHandler finished = handler;
        if (finished != null) {
            handler = null;
            finished.finish();
        }
    }
}
