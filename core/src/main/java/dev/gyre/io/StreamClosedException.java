package dev.gyre.io;

import org.jspecify.annotations.Nullable;

import java.io.IOException;

/// Rejects a promise of a [Stream] that was closed before. It has no stack trace: [#reason()], the
/// message and the cause describe the close.
public final class StreamClosedException extends IOException {
    private static final long serialVersionUID = 1;

    private final CloseReason reason;

    /// Creates the exception.
    ///
    /// @param cause the failure behind the reason; null if absent
    public StreamClosedException(String message, CloseReason reason, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /// Does nothing: a server with many peers creates many of these.
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }

    /// Returns why the stream was closed.
    public CloseReason reason() {
        return reason;
    }
}
