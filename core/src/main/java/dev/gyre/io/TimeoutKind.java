package dev.gyre.io;

/// Names the timeout of a stream that expired.
public enum TimeoutKind {
    /// No byte was received or sent.
    IDLE(CloseReason.IDLE_TIMEOUT),

    /// No byte was received while the stream reads.
    READ(CloseReason.READ_TIMEOUT),

    /// The peer accepted none of the pending output.
    WRITE(CloseReason.WRITE_TIMEOUT);

    private final CloseReason reason;

    TimeoutKind(CloseReason reason) {
        this.reason = reason;
    }

    /// Returns the reason of a stream that this timeout closes.
    public CloseReason reason() {
        return reason;
    }
}
