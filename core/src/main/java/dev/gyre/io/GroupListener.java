package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.internal.net.LoopGroupListener;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/// Accepts connections for all loops of a [dev.gyre.LoopGroup]: see [Listener#on].
///
/// ```java
/// try (var group = LoopGroup.ofCores()) {
///     Listener.tcp(group, new InetSocketAddress(7777), stream -> stream.onData(stream::write));
///     group.run();
/// }
/// ```
///
/// **Handler.** Each connection belongs to one loop, and its handler is called on that loop's
/// thread: [Stream#loop()] returns the loop. Several loops call the handler at the same time.
///
/// **Limits.** [ListenerConfig#maxConnections()] and [ListenerConfig#maxConnectionsPerPeer()] apply
/// to the group as a whole. They are exact: the group never exceeds them, and no client waits while
/// it is below them.
///
/// **Failure.** If a loop fails, its connections are reset. Clients that wait to be accepted stay
/// in the kernel's backlog, and the loop that replaces the failed one accepts them.
///
/// **Termination.** [dev.gyre.LoopGroup#shutdown] drains the listener.
/// [dev.gyre.LoopGroup#close()] closes it.
///
/// **Threads.** Any. Counts are snapshots.
public sealed interface GroupListener extends AutoCloseable permits LoopGroupListener {
    /// Returns the bound address, with the port that the system chose.
    SocketAddress address();

    /// Returns the number of open connections, including those handed to a loop that has not yet
    /// passed them to the handler.
    int connections();

    /// Returns the number of open connections of one loop.
    ///
    /// @throws IllegalArgumentException if the loop is not a current loop of the group
    int connections(EventLoop loop);

    /// Returns the number of accepted connections, including refused and shed ones. Excludes
    /// connections that the client closed while they were in the backlog.
    long accepted();

    /// Returns the number of connections closed at once because of a limit, or because no loop of
    /// the group could serve them any more.
    long refused();

    /// Returns the number of connections closed at once for lack of descriptors or kernel memory.
    long shed();

    /// Pauses accepting until [#resume()]. Peers wait in the kernel's backlog.
    void pause();

    /// Resumes accepting.
    void resume();

    /// Returns whether the listener is open.
    boolean isOpen();

    /// Stops listening on all loops, lets the open connections finish, and resets the rest at the
    /// deadline: see [Listener#drain]. A later call can shorten the deadline but not extend it.
    ///
    /// @return completes once no connection is open, with the sum over the loops. Connections of a
    ///     loop that fails during the drain count as reset
    /// @throws IllegalArgumentException if the deadline is negative
    CompletionStage<DrainReport> drain(Duration deadline);

    /// Stops listening. Its streams stay open. Accepted connections that were not yet passed to the
    /// handler are reset. Idempotent.
    @Override
    void close();
}
