package dev.gyre.io;

/// Selects whether a [Listener] shares its address with others (`SO_REUSEPORT`). The kernel
/// distributes the connections over listeners that share. Only listeners of one user can share.
public enum PortSharing {
    /// No other listener has the address, before or after.
    EXCLUSIVE,

    /// Fails if another listener has the address; others may join later with [#SHARED].
    ///
    /// Use it for the first of several loops. [#SHARED] would also join a server of another process
    /// and receive half of its connections.
    SHARED_FIRST,

    /// Joins listeners that share the address, or is the first.
    SHARED
}
