package dev.gyre.io.operation;

import dev.gyre.internal.io.LoopMessageOperation;

import java.net.SocketAddress;

/// Sends or receives one message with an address.
public sealed interface MessageOperation extends Operation permits LoopMessageOperation {
    /// Returns the sender of a received message, or the destination of a message to send.
    ///
    /// @throws IllegalStateException if absent: connected sockets may report no sender
    SocketAddress peer();

    /// Sets the destination of the next message.
    ///
    /// @return this operation
    /// @throws IllegalStateException if the operation receives, or is pending
    MessageOperation to(SocketAddress peer);

    /// Returns whether the received message was longer than its buffer and was truncated.
    boolean isTruncated();
}
