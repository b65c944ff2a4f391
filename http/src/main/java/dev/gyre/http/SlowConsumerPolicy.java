package dev.gyre.http;

/// The policy for messages to a WebSocket whose peer reads too slowly. It applies while the pending
/// output is above the stream's high-water mark; in a [WebSocketGroup], above its limit.
public enum SlowConsumerPolicy {
    /// Messages wait, and `send` returns false. The sender continues in [WebSocket#onWritable].
    /// Ignoring `false` buffers up to [dev.gyre.io.StreamConfig#outputLimit()], and one message of
    /// [WebSocketConfig#maxMessage()] more; beyond it the socket is closed. A group does not
    /// support it, because it has no single sender to slow down.
    WAIT,

    /// Messages are dropped and counted until the socket is writable again.
    DROP,

    /// The socket is closed with 1013.
    CLOSE
}
