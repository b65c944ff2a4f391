package dev.gyre.internal.io;

import dev.gyre.Cancellation;
import dev.gyre.Cancellation.Registration;
import dev.gyre.CancelledException;

import org.jspecify.annotations.Nullable;

/// Ends an operation when its cancellation says so. It listens only while the operation is under way.
final class CancelBinding {
    private final LoopOperation operation;
    private final Cancellation cancellation;

    // Loop thread only.
    private @Nullable Registration registration;

    CancelBinding(LoopOperation operation, Cancellation cancellation) {
        this.operation = operation;
        this.cancellation = cancellation;
    }

    @Nullable CancelledException reason() {
        return cancellation.reason();
    }

    void listen() {
        int generation = operation.request.generation();
        registration = cancellation.onCancel(() -> cancelled(generation));
    }

    void stopListening() {
        if (registration != null) {
            registration.close();
            registration = null;
        }
    }

    /// Any thread. By the time the loop hears of it the operation may have been started anew.
    private void cancelled(int generation) {
        operation.operations.onLoop(() -> stop(generation));
    }

    private void stop(int generation) {
        if (operation.request.generation() == generation) {
            boolean _ = operation.cancel();
        }
    }
}
