package dev.gyre.http;

/// What becomes of messages to a WebSocket whose peer does not keep up, when more than the stream's high-water mark waits
/// to be sent; in a [Room], when more than its limit does.
public enum WhenSlow {
    /// They wait; `send` says no, and the sender is to heed that. At the stream's limit the socket is closed. Not in a
    /// room, which has no one sender to heed it.
    WAIT,

    /// They are dropped and counted, until there is room again.
    DROP,

    /// The socket is closed with 1013.
    CLOSE
}
