package dev.gyre.io.operation;

import dev.gyre.internal.io.LoopAcceptOperation;
import dev.gyre.io.Descriptor;

import java.net.SocketAddress;

/// Accepts one connection, or one after the other.
public sealed interface AcceptOperation extends Operation permits LoopAcceptOperation {
    /// Returns the accepted connection. It is non-blocking and not inherited by child processes.
    /// The caller must close it. An operation closes a connection that the callback does not fetch.
    ///
    /// @throws IllegalStateException if the last completion has no connection, or it was returned
    ///     before
    Descriptor accepted();

    /// Returns the peer's address. An unnamed Unix socket has an empty path.
    ///
    /// @throws IllegalStateException if the last completion has no connection
    SocketAddress peer();

    /// Returns whether more completions follow. If not, the operation can be started again.
    boolean hasMore();
}
