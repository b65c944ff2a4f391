package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.net.LoopDatagram;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// A socket for messages: UDP, or Unix domain datagrams. A message arrives whole or not at all, and nobody says which.
///
/// ```java
/// var echo = Datagram.bind(loop, new InetSocketAddress(7777));
/// echo.onMessage((message, from) -> echo.send(message, from));
/// ```
///
/// **Receiving.** Nothing is read until somebody wants it ([#onMessage]); what the kernel cannot keep meanwhile it drops. A
/// turn of the loop reads a bounded number of messages, so that a flood leaves room for others. While it waits for messages a
/// socket holds no memory for them: one buffer serves all of a loop.
///
/// **Sending** goes to the kernel at once. What that does not take is copied and queued, and sent in order as soon as it does; with the
/// queue full messages are dropped, as anywhere else on their way.
///
/// **Failure.** What the network reports, such as that nobody listens where a message went, reaches [#onError] and does not end
/// anything. A callback that throws costs its message only, and the loop's [dev.gyre.FailurePolicy] hears of it.
///
/// **Life.** While it has somebody to call for messages, or has some to send, it keeps the loop alive. It is closed when the
/// loop ends. The file of a Unix path stays when it is closed: delete it before binding there again.
///
/// **Threads.** Loop thread only, or any one while no thread runs the loop; counters from any.
public sealed interface Datagram extends AutoCloseable permits LoopDatagram {
    /// Binds with the usual settings.
    ///
    /// @param address where; port 0 lets the system choose, see [#address()]
    /// @throws SystemCallException if the address is taken, not allowed or not of this machine
    static Datagram bind(EventLoop loop, SocketAddress address) {
        return bind(loop, address, DatagramConfig.DEFAULT);
    }

    /// Binds to an address. One of all addresses of IPv6 (`::`) also has those of IPv4.
    ///
    /// @throws SystemCallException if the address is taken, not allowed or not of this machine
    static Datagram bind(EventLoop loop, SocketAddress address, DatagramConfig config) {
        return LoopDatagram.bind(loop, address, config);
    }

    /// Chooses a peer: messages of others are not received any more, [#send(Buffer)] goes there, and
    /// [#onError] hears if nobody listens there. Waits for nothing.
    ///
    /// @return this socket
    /// @throws SystemCallException if there is no way there, or no such Unix socket
    Datagram connect(SocketAddress peer);

    // ------------------------------------------------------------------ receiving

    /// Calls back for each message, with where it came from. The buffer is the loop's, and valid until the callback
    /// returns.
    ///
    /// @return this socket
    Datagram onMessage(BiConsumer<? super Buffer, ? super SocketAddress> callback);

    /// Whether the message that is being handled was longer than [DatagramConfig#maxMessageBytes], and so was cut.
    boolean isTruncated();

    /// Stops reading, until [#resume()].
    void pause();

    /// Goes on reading.
    void resume();

    boolean isPaused();

    // ------------------------------------------------------------------ sending

    /// Sends what is readable in the buffer as one message, and empties it.
    ///
    /// @return false if it was dropped: the queue is full, the socket closed, or the kernel refuses it, which
    ///     [#onError] is told. The buffer is as it was then
    /// @throws IllegalArgumentException if a socket of its sort never gets there
    boolean send(Buffer message, SocketAddress to);

    /// Sends to the peer of [#connect].
    ///
    /// @return as [#send(Buffer, SocketAddress)]
    /// @throws IllegalStateException if there is none
    boolean send(Buffer message);

    /// How many messages wait to be sent.
    int pending();

    // ------------------------------------------------------------------ ending

    /// Calls back when the kernel reports an error, after the call it happened in. Nothing ends by it.
    ///
    /// @return this socket
    Datagram onError(Consumer<? super SystemCallException> callback);

    /// Calls back once when it is closed: after the callback that closes it, or, if the loop ends, by whoever ends it.
    ///
    /// @return this socket
    Datagram onClose(Runnable callback);

    boolean isOpen();

    /// Closes it. What waits to be sent is dropped, and no message is handed out any more. Twice is safe.
    @Override
    void close();

    // ------------------------------------------------------------------ looking

    /// Where it is, with the port that the system chose.
    SocketAddress address();

    /// Where it is connected to; null if it is not.
    @Nullable SocketAddress peer();

    /// How many messages were handed out.
    long received();

    /// How many of them were cut.
    long truncated();

    /// How many messages the kernel took.
    long sent();

    /// How many messages were dropped here for want of room. What others drop on the way is not known.
    long dropped();

    /// How many errors the kernel reported.
    long failed();
}
