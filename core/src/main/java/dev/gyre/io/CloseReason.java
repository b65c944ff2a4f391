package dev.gyre.io;

/// Names why a [Stream] was closed.
public enum CloseReason {
    /// Both sides ended their output, and all of it was delivered.
    ENDED,

    /// The program called [Stream#close()], and all output was sent.
    CLOSED,

    /// The program called [Stream#abort()], or [Stream#close()] on the target of an unfinished
    /// pipe; or the deadline of [Listener#drain] expired.
    ABORTED,

    /// The peer reset the connection or became unreachable.
    RESET,

    /// A system call failed for another reason: see [Stream#failure()].
    FAILED,

    /// No byte was received or sent within [StreamConfig#idleTimeout()].
    IDLE_TIMEOUT,

    /// No byte was received within [StreamConfig#readTimeout()].
    READ_TIMEOUT,

    /// The peer accepted no output within [StreamConfig#writeTimeout()], or accepted it below the
    /// protocol's minimum rate.
    WRITE_TIMEOUT,

    /// The peer did not complete the header of a message in time.
    HEADER_TIMEOUT,

    /// The peer did not complete the body of a message in time, or sent below the protocol's
    /// minimum rate.
    BODY_TIMEOUT,

    /// The peer did not accept the last output or close its side in time after [Stream#close()].
    LINGER_TIMEOUT,

    /// The TLS handshake exceeded [Tls#handshakeTimeout()].
    HANDSHAKE_TIMEOUT,

    /// Pending output exceeded [StreamConfig#outputLimit()].
    OUTPUT_LIMIT,

    /// Unread input exceeded [StreamConfig#inputLimit()].
    INPUT_LIMIT,

    /// The loop's buffer memory is used up: [dev.gyre.LoopConfig#bufferMemory()].
    MEMORY_LIMIT,

    /// The TLS handshake failed: see [Stream#failure()].
    TLS_HANDSHAKE_FAILED,

    /// The peer ended the connection without a TLS `close_notify`: data may be missing.
    TLS_TRUNCATED,

    /// TLS failed after the handshake: see [Stream#failure()].
    TLS_FAILED,

    /// A callback of the stream threw [Stream#failure()].
    HANDLER_FAILED,

    /// The loop terminated.
    LOOP_ENDED;

    /// Returns whether a timeout closed the stream. Protocols may pass these reasons to
    /// [Stream#close(CloseReason)].
    public boolean isTimeout() {
        return switch (this) {
            case IDLE_TIMEOUT,
                    READ_TIMEOUT,
                    WRITE_TIMEOUT,
                    HEADER_TIMEOUT,
                    BODY_TIMEOUT,
                    LINGER_TIMEOUT,
                    HANDSHAKE_TIMEOUT ->
                    true;
            default -> false;
        };
    }

    /// Returns whether the stream was closed without a known loss of data.
    public boolean isOrderly() {
        return this == ENDED || this == CLOSED;
    }
}
