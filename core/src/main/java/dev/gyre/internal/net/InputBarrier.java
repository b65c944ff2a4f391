package dev.gyre.internal.net;

import dev.gyre.Deferred;
import dev.gyre.Promise;

import org.jspecify.annotations.Nullable;

/// Who waits to hear that all that has arrived was handed on.
///
/// Loop thread only.
final class InputBarrier {
    private final Connection connection;
    private @Nullable Deferred<@Nullable Void> waiting;

    InputBarrier(Connection connection) {
        this.connection = connection;
    }

    /// Looks at what has arrived by now. One look is for all who ask until it is through.
    Promise<@Nullable Void> begin() {
        Deferred<@Nullable Void> outcome = waiting;
        if (outcome != null) {
            return outcome.promise(); // The kernel is asked later than now.
        }
        outcome = connection.loop().deferred();
        if (!connection.isOpen()) {
            outcome.reject(connection.closedException());
        } else if (connection.input.hasEnded()) {
            outcome.resolve(null);
        } else {
            waiting = outcome;
            connection.wire().catchUp();
        }
        return outcome.promise();
    }

    /// Nothing is left, or nothing more can come.
    void done() {
        Deferred<@Nullable Void> outcome = waiting;
        waiting = null;
        if (outcome != null) {
            outcome.resolve(null);
        }
    }

    /// The stream is closed.
    void closed() {
        Deferred<@Nullable Void> outcome = waiting;
        waiting = null;
        if (outcome != null) {
            outcome.reject(connection.closedException());
        }
    }
}
