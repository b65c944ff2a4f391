package dev.gyre.io;

import org.jspecify.annotations.Nullable;

import java.io.IOException;

/// What a promise is rejected with whose [Stream] was closed before. It has no stack trace, which would only show
/// that a loop ran: [#reason()], the message and the cause say what happened.
public final class StreamClosedException extends IOException {
    private static final long serialVersionUID = 1;

    private final CloseReason reason;

    /// @param cause what there is to tell beside the reason
    public StreamClosedException(String message, CloseReason reason, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /// Does nothing: whoever has many peers sees many of these.
    @Override
    public synchronized Throwable fillInStackTrace() {
        return this;
    }

    /// Why the stream was closed.
    public CloseReason reason() {
        return reason;
    }
}
