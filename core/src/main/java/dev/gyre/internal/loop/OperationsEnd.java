package dev.gyre.internal.loop;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.IoHandler;
import dev.gyre.internal.backend.Request;
import dev.gyre.internal.backend.Requests;
import dev.gyre.internal.io.LoopOperations;

/// How operations come to their end when the loop does: they are cancelled, and what comes of that is handed out.
/// The kernel may have some in hand for a while yet; of what else it tells nothing concerns us any more.
///
/// Loop thread only.
final class OperationsEnd {
    private final Backend backend;
    private final Requests requests;
    private final LoopOperations operations;
    private final Callbacks callbacks;
    private final Microtasks microtasks;

    OperationsEnd(Parts parts) {
        backend = parts.backend;
        requests = parts.requests;
        operations = parts.operations;
        callbacks = parts.callbacks;
        microtasks = parts.microtasks;
    }

    /// Cancels what is under way and hands out what is through.
    ///
    /// @return false if nothing was
    boolean step() {
        operations.cancelAll();
        requests.flush();
        boolean found = handOutPosted();
        found |= handOutCollected();
        if (!found) {
            backend.pollNow();
            found = handOutCollected();
        }
        return found;
    }

    private boolean handOutPosted() {
        boolean found = false;
        for (Request done = requests.takeCompleted();
                done != null;
                done = requests.takeCompleted()) {
            found = true;
            handOut(done.owner);
        }
        return found;
    }

    private boolean handOutCollected() {
        boolean found = false;
        for (IoHandler ready = backend.takeReady(); ready != null; ready = backend.takeReady()) {
            if (ready.isCompletion()) {
                found = true;
                handOut(ready);
            }
        }
        return found;
    }

    private void handOut(IoHandler operation) {
        callbacks.complete(operation);
        microtasks.barrier();
    }
}
