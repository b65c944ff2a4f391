package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.internal.net.LoopListener;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;

/// Accepts connections and hands them out as [Stream]s.
///
/// ```java
/// var listener = Listener.tcp(loop, new InetSocketAddress(7777), stream -> stream.onData(stream::write));
/// IO.println("listening on " + listener.address());
/// ```
///
/// **Limits.** Above [ListenerConfig#maxConnections] no more are accepted, and peers wait in the system's queue; above
/// [ListenerConfig#maxConnectionsPerPeer] a peer's further connections are closed at once. If the process or the system runs out of
/// descriptors, or the loop of memory for buffers, one waiting peer is shed and accepting stops until enough is free again. Peers
/// that are connected are still served. A tenth of the open-file limit, at most 512 descriptors, is
/// reserved for files and outgoing connections. Exhaustion and recovery are logged once each, with
/// the limit and the remedy.
///
/// **Failure.** A handler that throws costs its own connection only.
///
/// **Threads.** Loop thread only, or any one while no thread runs the loop; [#close()] from any.
public sealed interface Listener extends AutoCloseable permits LoopListener {
    /// Listens on a TCP address.
    ///
    /// @param address port 0 lets the system choose: see [#address()]
    /// @throws dev.gyre.SystemCallException if the address is taken, not allowed or not of this machine
    static Listener tcp(
            EventLoop loop, InetSocketAddress address, Consumer<? super Stream> accepted) {
        return on(loop, address, ListenerConfig.DEFAULT, accepted);
    }

    /// Listens on a Unix domain socket. A socket file that nobody listens on any more is replaced, and removed
    /// again when the listener is closed.
    ///
    /// @throws dev.gyre.SystemCallException if the path is taken or not allowed
    static Listener unix(EventLoop loop, Path path, Consumer<? super Stream> accepted) {
        return on(loop, UnixDomainSocketAddress.of(path), ListenerConfig.DEFAULT, accepted);
    }

    /// Listens on an address of either sort.
    ///
    /// @param accepted called with each connection; with TLS, when its handshake is over
    /// @throws dev.gyre.SystemCallException if the address is taken, not allowed or not of this machine
    /// @throws IllegalArgumentException if the settings name a client's TLS
    static Listener on(
            EventLoop loop,
            SocketAddress address,
            ListenerConfig config,
            Consumer<? super Stream> accepted) {
        return LoopListener.open(loop, address, config, accepted);
    }

    /// Where it listens, with the port that the system chose.
    SocketAddress address();

    /// Stops accepting, until [#resume()]: peers wait in the system's queue.
    void pause();

    /// Goes on accepting.
    void resume();

    /// How many of its connections are open.
    int connections();

    /// Returns how many connections it has accepted, including refused and shed ones. Peers that
    /// left before are not counted.
    long accepted();

    /// Returns how many connections it closed at once because of its limits.
    long refused();

    /// Returns how many connections it closed at once for lack of descriptors or kernel memory.
    long shed();

    /// Whether it has stopped for a limit, or for want of descriptors or memory.
    boolean isExhausted();

    boolean isOpen();

    /// Stops listening, lets the open connections finish, and resets those that are still open at the deadline.
    ///
    /// A connection finishes when its stream is closed, for any reason. The listener also waits for
    /// idle connections: close the streams that you know to be idle. One log line contains the
    /// number of reset connections and some of their peers.
    ///
    /// A second call returns the same promise. It can shorten the deadline but not extend it, so
    /// `drain(Duration.ZERO)` resets the remaining connections.
    ///
    /// @return resolves once no connection is left
    Promise<DrainReport> drain(Duration deadline);

    /// Stops listening. Its streams stay open. Connections that were accepted but not handed out yet are reset. Twice is safe.
    /// Any thread.
    @Override
    void close();
}
