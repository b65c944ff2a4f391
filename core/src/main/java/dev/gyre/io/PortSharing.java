package dev.gyre.io;

/// Whether a [Listener] shares its address with others, over which the kernel then spreads connections
/// (`SO_REUSEPORT`). Only listeners of one user can share.
public enum PortSharing {
    /// Nobody else listens there, neither before nor after.
    EXCLUSIVE,

    /// Nobody listens there yet, or listening is refused; others may join. The first of several loops is to have
    /// this: with [#SHARED] it would also join a server of another process, and take half of its connections.
    SHARED_FIRST,

    /// Joins those who listen there and share, or is the first.
    SHARED
}
