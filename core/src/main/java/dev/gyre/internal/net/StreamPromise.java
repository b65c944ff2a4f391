package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.internal.io.LoopOperations;

import org.jspecify.annotations.Nullable;

/// A promise of a stream. It belongs to the loop on which it was requested, and is settled there
/// even if the stream has moved since.
///
/// Loop thread of the stream only.
final class StreamPromise<T extends @Nullable Object> {
    private final Deferred<T> deferred;

    /// The loop of the promise; null while the stream has not moved.
    private @Nullable LoopOperations home;

    StreamPromise(Deferred<T> deferred) {
        this.deferred = deferred;
    }

    Promise<T> promise() {
        return deferred.promise();
    }

    /// Called when the stream leaves a loop. The promise belongs to the first loop that it leaves.
    void leave(LoopOperations from) {
        if (home == null) {
            home = from;
        }
    }

    void resolve(T value) {
        if (home == null) {
            deferred.resolve(value);
        } else {
            home.onLoop(() -> deferred.resolve(value));
        }
    }

    /// Does nothing if the promise's loop has terminated: it has rejected all its promises.
    void reject(Throwable reason) {
        if (home == null) {
            deferred.reject(reason);
        } else {
            home.onLoop(() -> deferred.reject(reason));
        }
    }
}
