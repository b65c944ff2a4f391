package dev.gyre.io;

/// Which of a stream's times has run out.
public enum TimeoutKind {
    /// Nothing was received or sent for too long.
    IDLE(CloseReason.IDLE_TIMEOUT),

    /// Nothing was received for too long while somebody wanted to read.
    READ(CloseReason.READ_TIMEOUT),

    /// The peer has taken nothing for too long.
    WRITE(CloseReason.WRITE_TIMEOUT);

    private final CloseReason reason;

    TimeoutKind(CloseReason reason) {
        this.reason = reason;
    }

    /// Why a stream is closed that this ends.
    public CloseReason reason() {
        return reason;
    }
}
