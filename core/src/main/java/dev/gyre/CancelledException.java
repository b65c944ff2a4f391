package dev.gyre;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.CancellationException;

/// Why something was cancelled: the message is the reason, and the cause what led to it, if anything was
/// named.
///
/// A [Cancellation] has one of these and shows it to everyone, so its stack trace tells where it was
/// cancelled, not where that was noticed.
public final class CancelledException extends CancellationException {
    private static final long serialVersionUID = 1L;

    /// A reason without a cause.
    public CancelledException(String reason) {
        this(reason, null);
    }

    /// A reason, and what led to it.
    public CancelledException(String reason, @Nullable Throwable cause) {
        super(reason);
        initCause(cause);
    }
}
