package dev.gyre.internal.cancel;

import dev.gyre.Cancellation;
import dev.gyre.CancelledException;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/// The cancellation that is never cancelled.
public final class NeverCancelled implements Cancellation {
    public static final NeverCancelled INSTANCE = new NeverCancelled();

    /// The registration of a callback that never runs or has run already.
    static final Registration NO_REGISTRATION = () -> {};

    private NeverCancelled() {}

    @Override
    public @Nullable CancelledException reason() {
        return null;
    }

    @Override
    public Registration onCancel(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        return NO_REGISTRATION;
    }

    @Override
    public String toString() {
        return "Cancellation[never]";
    }
}
