package dev.gyre.http.testkit;

import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;

import org.jspecify.annotations.Nullable;

import java.util.function.BooleanSupplier;

/// Lets one caller wait until received input meets a condition.
///
/// Loop thread only.
final class Signal {
    private final EventLoop loop;
    private BooleanSupplier condition = () -> true;
    private @Nullable Deferred<Boolean> waiter;

    Signal(EventLoop loop) {
        this.loop = loop;
    }

    /// Returns a promise that is resolved once the condition holds. Replaces an earlier waiter.
    Promise<Boolean> until(BooleanSupplier condition) {
        Deferred<Boolean> deferred = loop.deferred();
        this.condition = condition;
        waiter = deferred;
        changed();
        return deferred.promise();
    }

    /// Checks the condition after input has arrived.
    void changed() {
        Deferred<Boolean> waiting = waiter;
        if (waiting != null && condition.getAsBoolean()) {
            waiter = null;
            waiting.resolve(true);
        }
    }
}
