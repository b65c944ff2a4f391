package dev.gyre.io;

/// Why a [Stream] was closed.
public enum CloseReason {
    /// Both sides have ended their output, and all of it has arrived.
    ENDED,

    /// [Stream#close()] here, and all output was sent.
    CLOSED,

    /// [Stream#abort()] here, [Stream#close()] of a pipe's unfinished target, or the deadline of [Listener#drain].
    ABORTED,

    /// The peer reset the connection, or is gone.
    RESET,

    /// The system refused something else: [Stream#failure()] says what.
    FAILED,

    /// Nothing was received or sent for too long.
    IDLE_TIMEOUT,

    /// Nothing was received for too long.
    READ_TIMEOUT,

    /// The peer accepted no output for too long, or less than the protocol's minimum rate.
    WRITE_TIMEOUT,

    /// The peer did not complete the header of a message in time.
    HEADER_TIMEOUT,

    /// The peer did not complete the body of a message in time, or sent below the protocol's
    /// minimum rate.
    BODY_TIMEOUT,

    /// The peer did not accept the last output or close its side in time after [Stream#close()].
    LINGER_TIMEOUT,

    /// The TLS handshake took too long.
    HANDSHAKE_TIMEOUT,

    /// More was written than may wait: [StreamConfig#outputLimit()].
    OUTPUT_LIMIT,

    /// More was left unread than may wait: [StreamConfig#inputLimit()].
    INPUT_LIMIT,

    /// The loop's memory for buffers is used up: [dev.gyre.LoopConfig#bufferMemory()].
    MEMORY_LIMIT,

    /// TLS failed: [Stream#failure()] says how.
    TLS_FAILED,

    /// A callback of the stream threw: [Stream#failure()] is what.
    HANDLER_FAILED,

    /// The loop came to its end.
    LOOP_ENDED;

    /// Whether a timeout closed the stream. Protocols may close a stream for one of these: [Stream#close(CloseReason)].
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

    /// Whether nothing was lost that the stream knows of.
    public boolean isOrderly() {
        return this == ENDED || this == CLOSED;
    }
}
