package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.Promise;
import dev.gyre.internal.net.LoopGroupListener;
import dev.gyre.internal.net.LoopListener;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;

/// Accepts connections and passes them to a handler as [Stream]s.
///
/// ```java
/// var address = new InetSocketAddress(7777);
/// var listener = Listener.tcp(loop, address, stream -> stream.onData(stream::write));
/// IO.println("listening on " + listener.address());
/// ```
///
/// **Limits.** At [ListenerConfig#maxConnections()] peers wait: one of them accepted but not
/// served, the others in the kernel's backlog. Above [ListenerConfig#maxConnectionsPerPeer()]
/// further connections of the peer are closed at once.
///
/// **Exhaustion.** If descriptors or kernel memory run out, one waiting connection is shed and
/// accepting stops until enough is free. If the loop runs low on buffer memory, accepting only
/// stops. Open connections are still served. A tenth of the open-file limit, at most 512
/// descriptors, is reserved for files and outgoing connections. Exhaustion and recovery are logged
/// once each, with the limit and the remedy.
///
/// **Failure.** A handler that throws loses its own connection only.
///
/// **Threads.** Loop thread, or any thread while no thread runs the loop. [#close()]: any thread.
public sealed interface Listener extends AutoCloseable permits LoopListener {
    /// Listens on a TCP address with the default configuration.
    ///
    /// @param address port 0 lets the system choose, see [#address()]
    /// @throws dev.gyre.SystemCallException if the address is in use, not permitted or not local
    static Listener tcp(
            EventLoop loop, InetSocketAddress address, Consumer<? super Stream> accepted) {
        return on(loop, address, ListenerConfig.DEFAULT, accepted);
    }

    /// Listens on a Unix domain socket with the default configuration. Replaces a socket file
    /// without a listener. Deletes the file when the listener is closed.
    ///
    /// @throws dev.gyre.SystemCallException if the path is in use or not permitted
    static Listener unix(EventLoop loop, Path path, Consumer<? super Stream> accepted) {
        return on(loop, UnixDomainSocketAddress.of(path), ListenerConfig.DEFAULT, accepted);
    }

    /// Listens on a TCP or Unix domain address.
    ///
    /// @param accepted called with each connection; with TLS, after its handshake
    /// @throws dev.gyre.SystemCallException if the address is in use, not permitted or not local
    /// @throws IllegalArgumentException if the configuration has a client's TLS
    static Listener on(
            EventLoop loop,
            SocketAddress address,
            ListenerConfig config,
            Consumer<? super Stream> accepted) {
        return LoopListener.open(loop, address, config, accepted);
    }

    /// Listens on a TCP address for all loops of a group, with the default configuration.
    ///
    /// @param address port 0 lets the system choose, see [#address()]
    /// @throws dev.gyre.SystemCallException if the address is in use, not permitted or not local
    /// @throws IllegalStateException on a loop thread of the group, or if the group has
    ///     terminated
    static GroupListener tcp(
            LoopGroup group, InetSocketAddress address, Consumer<? super Stream> accepted) {
        return on(group, address, ListenerConfig.DEFAULT, accepted);
    }

    /// Listens on a Unix domain socket for all loops of a group, with the default configuration.
    /// One loop accepts: see [Distribution#LEAST_CONNECTIONS]. Treats the file like
    /// [#unix(EventLoop, Path, Consumer)].
    ///
    /// @throws dev.gyre.SystemCallException if the path is in use or not permitted
    /// @throws IllegalStateException on a loop thread of the group, or if the group has
    ///     terminated
    static GroupListener unix(LoopGroup group, Path path, Consumer<? super Stream> accepted) {
        return on(group, UnixDomainSocketAddress.of(path), ListenerConfig.DEFAULT, accepted);
    }

    /// Listens on a TCP or Unix domain address for all loops of a group.
    ///
    /// @param accepted called with each connection, on the thread of its loop; with TLS, after its
    ///     handshake. Several loops call it at the same time
    /// @throws dev.gyre.SystemCallException if the address is in use, not permitted or not local;
    ///     then no loop listens
    /// @throws IllegalArgumentException if the configuration has a client's TLS
    /// @throws IllegalStateException on a loop thread of the group, or if the group has
    ///     terminated
    static GroupListener on(
            LoopGroup group,
            SocketAddress address,
            ListenerConfig config,
            Consumer<? super Stream> accepted) {
        return LoopGroupListener.open(group, address, config, accepted);
    }

    /// Returns the bound address, with the port that the system chose.
    SocketAddress address();

    /// Pauses accepting until [#resume()]. Peers wait in the kernel's backlog.
    void pause();

    /// Resumes accepting.
    void resume();

    /// Returns the number of open connections.
    int connections();

    /// Returns the number of accepted connections, including refused and shed ones. Excludes peers
    /// that left the backlog before.
    long accepted();

    /// Returns the number of connections closed at once because of a limit.
    long refused();

    /// Returns the number of connections closed at once for lack of descriptors or kernel memory.
    long shed();

    /// Returns whether accepting has stopped because of a limit, or for lack of descriptors or
    /// memory.
    boolean isExhausted();

    /// Returns whether the listener is open.
    boolean isOpen();

    /// Stops listening, lets the open connections finish, and resets the rest at the deadline.
    ///
    /// A connection finishes when its stream is closed, for any reason. The listener also waits for
    /// idle connections: close the streams that you know to be idle. One log line contains the
    /// number of reset connections and some of their peers.
    ///
    /// A second call returns the same promise. It can shorten the deadline but not extend it, so
    /// `drain(Duration.ZERO)` resets the remaining connections.
    ///
    /// @return resolves once no connection is open
    Promise<DrainReport> drain(Duration deadline);

    /// Stops listening. Its streams stay open. Accepted connections that were not yet passed to the
    /// handler are reset. Idempotent. Any thread.
    @Override
    void close();
}
