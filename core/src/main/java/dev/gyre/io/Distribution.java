package dev.gyre.io;

/// Selects how a [GroupListener] distributes connections over the loops of its group.
public enum Distribution {
    /// Each loop has its own listening socket on the same address (`SO_REUSEPORT`). The kernel
    /// selects the socket by a hash of the client's and the server's address. The loops share
    /// nothing, and accepting scales with their number. The numbers of connections per loop differ
    /// by chance. Unix domain sockets use [#LEAST_CONNECTIONS] instead.
    REUSE_PORT,

    /// Like [#REUSE_PORT], but the kernel selects the socket by the processor that received the
    /// connection: its number modulo the number of loops. Together with
    /// [dev.gyre.LoopGroupConfig#withCpuAffinity] a connection stays on one processor, if the
    /// network card distributes connections over all of them. Requires Linux 4.5; opening the
    /// listener fails if the kernel refuses. Not for Unix domain sockets.
    REUSE_PORT_BY_CPU,

    /// One loop accepts all connections and hands each one to the loop with the fewest. The numbers
    /// of connections per loop stay equal. Suits long-lived connections. A callback that blocks the
    /// accepting loop delays all new connections.
    LEAST_CONNECTIONS
}
