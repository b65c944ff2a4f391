package dev.gyre.internal.cancel;

import dev.gyre.Cancellation;
import dev.gyre.CancelledException;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/// What is always wanted.
public final class NeverCancelled implements Cancellation {
    public static final NeverCancelled INSTANCE = new NeverCancelled();

    /// Of a callback that will not run, or has run already: there is nothing to take back.
    static final Registration NOTHING_REGISTERED = () -> {};

    private NeverCancelled() {}

    @Override
    public @Nullable CancelledException reason() {
        return null;
    }

    @Override
    public Registration onCancel(Runnable callback) {
        Objects.requireNonNull(callback, "callback");
        return NOTHING_REGISTERED;
    }

    @Override
    public String toString() {
        return "Cancellation[never]";
    }
}
