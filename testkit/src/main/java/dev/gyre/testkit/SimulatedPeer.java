package dev.gyre.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.internal.sys.Errno;
import dev.gyre.testkit.internal.PeerConnection;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.Objects;
import java.util.function.Consumer;

/// The remote end of a connection, controlled by the test: a client created by
/// [SimulatedWorld#connect(int)], or the server's end of a connection to a [SimulatedListener].
///
/// Each action takes effect when the world runs next, see [SimulatedWorld#advance]. The peer reads
/// all input by default. It does not close when the other end does.
///
/// ```java
/// var client = world.connect(80);
/// client.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n");
/// world.run();
/// assertThat(client.receivedText()).startsWith("HTTP/1.1 200");
/// ```
///
/// **Threads.** The world's thread.
public final class SimulatedPeer implements AutoCloseable {
    private final PeerConnection connection;

    SimulatedPeer(PeerConnection connection) {
        this.connection = connection;
    }

    /// Returns the address of the peer as the other end sees it.
    public InetSocketAddress address() {
        try {
            InetAddress host = InetAddress.getByAddress(connection.host());
            return new InetSocketAddress(host, connection.port());
        } catch (UnknownHostException e) {
            throw new AssertionError("an address has 4 or 16 bytes", e);
        }
    }

    /// Sends bytes after those sent before. The number is not limited: the peer keeps bytes that
    /// the other end has no space for.
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

    /// Returns the number of sent bytes that the simulated kernel has not accepted yet, because the
    /// other end does not read.
    public int unsentBytes() {
        return connection.unsentBytes();
    }

    /// Returns all bytes received since the start or the last [#takeReceived].
    public byte[] received() {
        return connection.received();
    }

    /// Returns [#received()] as UTF-8 text.
    public String receivedText() {
        return new String(received(), UTF_8);
    }

    /// Returns and forgets the received bytes.
    public byte[] takeReceived() {
        return connection.takeReceived();
    }

    /// Sets a callback for input and for the end of the connection. It runs between two events of
    /// the world and may use the whole API of the world.
    ///
    /// @return this peer
    public SimulatedPeer onChange(Consumer<? super SimulatedPeer> callback) {
        Objects.requireNonNull(callback, "callback");
        connection.onChange(() -> callback.accept(this));
        return this;
    }

    /// Stops reading until [#resumeReading]. The other end's writes stall once all buffers are
    /// full.
    ///
    /// @return this peer
    public SimulatedPeer pauseReading() {
        connection.reading(false);
        return this;
    }

    /// Reads again after [#pauseReading].
    ///
    /// @return this peer
    public SimulatedPeer resumeReading() {
        connection.reading(true);
        return this;
    }

    /// Ends the output after all bytes are sent. The other end reads them and then the end of
    /// input. This end can still read.
    ///
    /// @return this peer
    public SimulatedPeer halfClose() {
        connection.halfClose();
        return this;
    }

    /// Resets the connection at once: the other end gets ECONNRESET. Unsent bytes are lost.
    public void reset() {
        connection.reset();
    }

    /// Closes the connection after all bytes are sent. As on a real system, bytes that are unread,
    /// or arrive later, turn the close into a reset.
    @Override
    public void close() {
        connection.close();
    }

    /// Returns whether the peer is connected or connecting, and neither end has ended the
    /// connection.
    public boolean isOpen() {
        return !isClosed();
    }

    /// Returns whether the other end has ended its output or reset the connection, or this end has
    /// closed it.
    public boolean isClosed() {
        return isEnded() || connection.failure() != 0 || connection.isClosedHere();
    }

    /// Returns whether the connection is not yet established.
    public boolean isConnecting() {
        return connection.isConnecting();
    }

    /// Returns whether the other end has ended its output in an orderly way.
    public boolean isEnded() {
        return connection.isEnded();
    }

    /// Returns whether the other end or the network has reset the connection.
    public boolean isReset() {
        int failure = connection.failure();
        return failure == Errno.ECONNRESET || failure == Errno.EPIPE;
    }

    /// Returns whether the connection was refused because no listener had the address.
    public boolean isRefused() {
        return connection.failure() == Errno.ECONNREFUSED;
    }

    /// Returns address, state and number of received bytes.
    @Override
    public String toString() {
        String state =
                connection.failure() != 0
                        ? Errno.name(connection.failure())
                        : isEnded() ? "ended" : isClosed() ? "closed" : "open";
        return "SimulatedPeer["
                + connection
                + ", "
                + state
                + ", "
                + received().length
                + " received]";
    }
}
