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
/// [ListenerConfig#maxPerPeer] a peer's further connections are closed at once. If the process or the system runs out of
/// descriptors, or the loop of memory for buffers, one waiting peer is shed and accepting stops until enough is free again. Peers
/// that are connected are served on: a tenth of the descriptors that the process may have, at most 512, is kept for files and
/// outgoing connections. Running out of descriptors and the recovery are logged once each, with the limit and the remedy.
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

    /// How many it has accepted so far, including those that it refused or shed. A peer that was gone before is not counted.
    long accepted();

    /// How many it closed at once for one of its limits.
    long refused();

    /// How many it closed at once because descriptors, or the kernel's memory, had run out.
    long shed();

    /// Whether it has stopped for a limit, or for want of descriptors or memory.
    boolean isExhausted();

    boolean isOpen();

    /// Stops listening, lets the open connections finish, and resets those that are still open at the deadline.
    ///
    /// A connection finishes when its stream is closed, whatever the reason. The listener cannot know whether an idle
    /// connection has more to say, so it waits for it; close the streams that you know to be idle. One line of the log
    /// names how many connections were reset, and some of their peers.
    ///
    /// A second call returns the same promise. It can bring the deadline forward but not put it off, so
    /// `drain(Duration.ZERO)` resets what is left.
    ///
    /// @return resolves once no connection is left
    Promise<DrainReport> drain(Duration deadline);

    /// Stops listening. Its streams stay open. Connections that were accepted but not handed out yet are reset. Twice is safe.
    /// Any thread.
    @Override
    void close();
}
