package dev.gyre.internal.cancel;

import dev.gyre.Cancellation;

import org.jspecify.annotations.Nullable;

/// A callback and its own place in the list of those that wait, so that it is taken out in constant time.
final class Listener implements Cancellation.Registration {
    private final CancellationState fate;

    // Shared: guarded by the lock of its fate.
    @Nullable Listener previous;
    @Nullable Listener next;

    /// Null from the moment it is taken to be run or is closed. It is let go of then, for a registration
    /// may be kept for long.
    @Nullable Runnable callback;

    Listener(CancellationState fate, Runnable callback) {
        this.fate = fate;
        this.callback = callback;
    }

    @Override
    public void close() {
        fate.remove(this);
    }
}
