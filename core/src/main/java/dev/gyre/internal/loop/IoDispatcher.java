package dev.gyre.internal.loop;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.Request;

import org.jspecify.annotations.Nullable;

/// The callbacks of the events that the backend has collected, one by one: those of an event in the order error,
/// read, write (W-5), then those of the next event. An operation that is through is an event too, and comes
/// before those that have not been looked at.
///
/// Between two callbacks anything may happen: microtasks, the end of a run, another run. So whether a
/// callback is still wanted is asked just before it runs, however long ago its event came.
///
/// Loop thread only.
final class IoDispatcher {
    private final Backend backend;
    private final OperationEngine requests;

    /// How many completions may still be handed out in this tick.
    private int completionsLeft;

    /// Of the event under way.
    private @Nullable ReadinessHandler handler;

    /// The callbacks of that event that have not run yet.
    private int left;

    private int callback;

    IoDispatcher(Backend backend, OperationEngine requests) {
        this.backend = backend;
        this.requests = requests;
    }

    /// A tick begins, in which so many completions may be handed out.
    void beginTick(int completions) {
        completionsLeft = completions;
    }

    /// Moves to the next callback that is wanted.
    ///
    /// @return false when all collected events are through
    boolean next() {
        while (true) {
            ReadinessHandler current = handler;
            while (left != 0 && current != null) {
                callback = Integer.lowestOneBit(left);
                left -= callback;
                if (current.wants(callback)) {
                    return true;
                }
            }
            finish();
            Request completed = completionsLeft > 0 ? requests.pollCompleted() : null;
            if (completed != null) {
                completionsLeft--;
                current = completed.handler;
                left = current.take(0);
            } else {
                current = backend.dispatchNext();
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
        ReadinessHandler current = handler;
        assert current != null : "nothing to run";
        try {
            current.run(callback);
        } finally {
            if (left == 0) {
                finish();
            }
        }
    }

    private void finish() {
        ReadinessHandler finished = handler;
        if (finished != null) {
            handler = null;
            finished.finish();
        }
    }
}
