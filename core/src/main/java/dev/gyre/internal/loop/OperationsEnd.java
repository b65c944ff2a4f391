package dev.gyre.internal.loop;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.io.LoopOperations;

/// How operations come to their end when the loop does: what waits for others is cancelled, writes and files may
/// finish, and what comes of that is handed out. Of what else the kernel tells nothing concerns us any more.
///
/// Loop thread only.
final class OperationsEnd {
    private final Backend backend;
    private final OperationEngine requests;
    private final LoopOperations operations;
    private final Callbacks callbacks;
    private final Microtasks microtasks;
    private boolean acceptCancelled;

    OperationsEnd(LoopComponents components) {
        backend = components.backend;
        requests = components.requests;
        operations = components.operations;
        callbacks = components.callbacks;
        microtasks = components.microtasks;
    }

    /// Hands out what is through by now. What callbacks start is for the next step, so that
    /// one that always starts again meets the deadline.
    ///
    /// @param cancels whether to cancel what waits for others: nothing else is left to do
    /// @return false if nothing was
    boolean step(boolean cancels) {
        operations.endTurn();
        if (!acceptCancelled) {
            acceptCancelled = true; // A listener starts no accept while the loop terminates.
            operations.cancelWaiting(LoopOperations.ACCEPTING);
        }
        if (cancels) {
            operations.cancelWaiting(null);
        }
        requests.flush();
        boolean found = handOutPosted();
        dispatchCollected();
        if (!found) {
            backend.pollNow();
            dispatchCollected();
            found = handOutPosted(); // By readiness that was collected.
        }
        return found;
    }

    private boolean handOutPosted() {
        int most = requests.outstanding();
        int handedOut = 0;
        for (Request done = requests.pollCompleted();
                done != null;
                done = handedOut < most ? requests.pollCompleted() : null) {
            handedOut++;
            handOut(done);
        }
        return handedOut > 0;
    }

    /// Operations complete by readiness. Callbacks of watchers no longer run.
    private void dispatchCollected() {
        while (backend.dispatchNext() != null) {
            // The handler has received its event.
        }
    }

    private void handOut(Request completed) {
        callbacks.complete(completed);
        microtasks.barrier();
    }
}
