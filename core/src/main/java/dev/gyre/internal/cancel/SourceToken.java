package dev.gyre.internal.cancel;

import dev.gyre.Cancellation;
import dev.gyre.CancelledException;
import dev.gyre.internal.base.StackReserve;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/// What a source cancels.
public final class SourceToken implements Cancellation, RootToken {
    private final CancellationState fate = new CancellationState(ListenerLifecycle.NONE);

    /// Cancels it and runs its callbacks, unless it is cancelled already.
    ///
    /// @return whether this call did it
    @SuppressWarnings("ReferenceEquality") // two calls may name equal reasons
    public boolean cancel(CancelledException reason) {
        StackReserve.requireLarge(); // No rollback between decision and notification.
        if (fate.decide(reason) != reason) {
            return false;
        }
        fate.tell();
        return true;
    }

    @Override
    public @Nullable CancelledException reason() {
        return fate.reason();
    }

    @Override
    public Registration onCancel(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        return fate.listen(callback);
    }

    @Override
    public CancellationState fate() {
        return fate;
    }

    @Override
    public String toString() {
        return "Cancellation[" + reason() + "]";
    }
}
