package dev.gyre.internal.cancel;

import dev.gyre.CancelledException;
import dev.gyre.internal.base.StackReserve;

/// The token of a [dev.gyre.CancellationSource].
public final class SourceToken extends CancellationToken {
    /// Cancels the token and runs its callbacks, unless it is cancelled already.
    ///
    /// @return whether this call cancelled it
    @SuppressWarnings("ReferenceEquality") // two calls may pass equal reasons
    public boolean cancel(CancelledException reason) {
        StackReserve.requireLarge(); // Nothing is rolled back between reason and notification.
        if (setReason(reason) != reason) {
            return false;
        }
        notifyListeners();
        return true;
    }

    @Override
    public String toString() {
        return "Cancellation[" + reason() + "]";
    }
}
