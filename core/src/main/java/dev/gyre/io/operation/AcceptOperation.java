package dev.gyre.io.operation;

import dev.gyre.internal.io.LoopAccept;
import dev.gyre.io.Descriptor;

import java.net.SocketAddress;

/// Accepts connections: one, or one after the other.
public sealed interface AcceptOperation extends Operation permits LoopAccept {
    /// The connection, which does not block and no child process inherits. It is the caller's to close.
    ///
    /// @throws IllegalStateException if the last completion brought none, or it was taken already
    Descriptor accepted();

    /// Where it comes from. A Unix domain socket without a name has an empty path.
    ///
    /// @throws IllegalStateException if the last completion brought none
    SocketAddress peer();

    /// Whether it goes on after this completion. After one that says no it can be started again.
    boolean hasMore();
}
