package dev.gyre.io.operation;

import dev.gyre.internal.io.LoopMessage;

import java.net.SocketAddress;

/// A message with an address, received or sent.
public sealed interface MessageOperation extends Operation permits LoopMessage {
    /// Where a received message came from, or where this one goes.
    ///
    /// @throws IllegalStateException if there is none: a connected socket need not say
    SocketAddress peer();

    /// Sets where the next one goes.
    ///
    /// @return this message
    MessageOperation to(SocketAddress peer);

    /// Whether a received message was longer than the room for it, and so was cut.
    boolean isTruncated();
}
