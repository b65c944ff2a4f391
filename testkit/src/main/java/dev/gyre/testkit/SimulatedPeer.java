package dev.gyre.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.internal.sys.Errno;
import dev.gyre.testkit.internal.PeerConnection;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Objects;
import java.util.function.Consumer;

/// The other end of a connection, outside the loop: a client that came by [SimulatedWorld#connect(int)], or a server's
/// end of a connection that the loop has made to a [SimulatedListener]. A script tells it what to do.
///
/// Whatever it is told takes effect when the world runs next, see [SimulatedWorld#advance]. By itself it only reads what
/// comes; it does not close when the other end does.
///
/// ```java
/// var client = world.connect(80);
/// client.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
/// world.run();
/// assertThat(client.receivedText()).startsWith("HTTP/1.1 200");
/// ```
///
/// **Threads.** That of the world.
public final class SimulatedPeer implements AutoCloseable {
    private final PeerConnection connection;

    SimulatedPeer(PeerConnection connection) {
        this.connection = connection;
    }

    /// Its address, as the other end sees it.
    public InetSocketAddress address() {
        try {
            InetAddress host = InetAddress.getByAddress(connection.host());
            return new InetSocketAddress(host, connection.port());
        } catch (UnknownHostException e) {
            throw new AssertionError("four bytes or sixteen are always an address", e);
        }
    }

    /// Sends bytes, after those sent before. However many: what the other end has no room for waits here.
    ///
    /// @return this peer
    /// @throws IllegalStateException after [#halfClose] or [#close]
    public SimulatedPeer send(byte[] bytes) {
        connection.send(Objects.requireNonNull(bytes, "bytes"));
        return this;
    }

    /// Sends a text in UTF-8.
    ///
    /// @return this peer
    public SimulatedPeer send(String text) {
        return send(Objects.requireNonNull(text, "text").getBytes(UTF_8));
    }

    /// How many of the sent bytes the simulated kernel has not taken yet: the other end does not keep up.
    public int unsentBytes() {
        return connection.unsentBytes();
    }

    /// All bytes that have come, since the beginning or the last [#takeReceived].
    public byte[] received() {
        return connection.received();
    }

    /// The same as text in UTF-8.
    public String receivedText() {
        return new String(received(), UTF_8);
    }

    /// What has come, which is forgotten here.
    public byte[] takeReceived() {
        return connection.takeReceived();
    }

    /// Has a callback run whenever bytes came or the connection ended. It runs while the world does, between two
    /// things that happen, and may do anything that a script may do.
    ///
    /// @return this peer
    public SimulatedPeer onChange(Consumer<? super SimulatedPeer> callback) {
        Objects.requireNonNull(callback, "callback");
        connection.onChange(() -> callback.accept(this));
        return this;
    }

    /// Reads no more, until [#resumeReading]: the other end's writes come to a stop when all buffers are full.
    ///
    /// @return this peer
    public SimulatedPeer pauseReading() {
        connection.reading(false);
        return this;
    }

    /// Reads again.
    ///
    /// @return this peer
    public SimulatedPeer resumeReading() {
        connection.reading(true);
        return this;
    }

    /// Ends the output once everything is sent: the other end reads it, and then the end. This one goes on reading.
    ///
    /// @return this peer
    public SimulatedPeer halfClose() {
        connection.halfClose();
        return this;
    }

    /// Breaks the connection off at once: the other end meets ECONNRESET. What was not sent is lost.
    public void reset() {
        connection.reset();
    }

    /// Closes it once everything is sent. As on a real system, bytes that nobody read here, or that come afterwards, turn
    /// the end into a reset.
    @Override
    public void close() {
        connection.close();
    }

    /// Whether it is connected or about to be, and neither side has ended it.
    public boolean isOpen() {
        return !isClosed();
    }

    /// Whether it is over: the other end has closed its output or broken off, or this one has closed.
    public boolean isClosed() {
        return isEnded() || connection.failure() != 0 || connection.isClosedHere();
    }

    /// Whether the connection has not been made yet.
    public boolean isConnecting() {
        return connection.isConnecting();
    }

    /// Whether the other end has ended its output in an orderly way.
    public boolean isEnded() {
        return connection.isEnded();
    }

    /// Whether the connection was broken off by the other end or by the network.
    public boolean isReset() {
        int failure = connection.failure();
        return failure == Errno.ECONNRESET || failure == Errno.EPIPE;
    }

    /// Whether nobody listened where it wanted to connect to.
    public boolean isRefused() {
        return connection.failure() == Errno.ECONNREFUSED;
    }

    /// Where it is, how it is and how much it has received.
    @Override
    public String toString() {
        String how =
                connection.failure() != 0
                        ? Errno.name(connection.failure())
                        : isEnded() ? "ended" : isClosed() ? "closed" : "open";
        return "SimulatedPeer[" + connection + ", " + how + ", " + received().length + " received]";
    }
}
