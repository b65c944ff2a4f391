package dev.gyre;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.CancellationException;

/// The reason of a cancellation. The message states the reason. The cause is the exception that
/// led to it, if one was given.
///
/// A [Cancellation] has one instance and returns it to every caller. Its stack trace shows where it
/// was cancelled, not where the cancellation was detected.
public final class CancelledException extends CancellationException {
    private static final long serialVersionUID = 1L;

    /// Creates a reason without a cause.
    public CancelledException(String reason) {
        this(reason, null);
    }

    /// Creates a reason with a cause.
    public CancelledException(String reason, @Nullable Throwable cause) {
        super(reason);
        initCause(cause);
    }
}
