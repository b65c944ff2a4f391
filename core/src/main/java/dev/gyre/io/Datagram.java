package dev.gyre.io;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.net.LoopDatagram;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// Sends and receives messages over UDP or a Unix domain datagram socket. A message is delivered
/// whole or not at all, without notice of its loss.
///
/// ```java
/// var echo = Datagram.bind(loop, new InetSocketAddress(7777));
/// echo.onMessage((message, from) -> echo.send(message, from));
/// ```
///
/// **Receiving** starts with [#onMessage]. Until then the kernel queues messages, and drops those
/// that do not fit. A tick reads a bounded number of messages, so that a flood does not starve
/// other sockets. All sockets of a loop share one receive buffer.
///
/// **Sending** calls the kernel at once. Messages that the kernel does not accept are copied,
/// queued and sent in order later. With the queue full, messages are dropped.
///
/// **Failure.** Errors that the network reports, such as an unreachable port, are passed to
/// [#onError]. The socket stays open. A callback that throws loses its message only;
/// the loop's [dev.gyre.FailurePolicy] handles the throwable.
///
/// **Lifetime.** A socket with a message callback or queued output keeps the loop alive. It is
/// closed when the loop terminates. The file of a Unix socket remains: delete it before the next
/// bind.
///
/// **Threads.** Loop thread, or any thread while no thread runs the loop. Counters: any thread.
///
/// Instance methods that return a `Datagram` return this one.
public sealed interface Datagram extends AutoCloseable permits LoopDatagram {
    /// Binds a socket with the default configuration.
    ///
    /// @param address port 0 lets the system choose, see [#address()]
    /// @throws SystemCallException if the address is in use, not permitted or not local
    static Datagram bind(EventLoop loop, SocketAddress address) {
        return bind(loop, address, DatagramConfig.DEFAULT);
    }

    /// Binds a socket to an address. The IPv6 wildcard address (`::`) includes IPv4.
    ///
    /// @throws SystemCallException if the address is in use, not permitted or not local
    static Datagram bind(EventLoop loop, SocketAddress address, DatagramConfig config) {
        return LoopDatagram.bind(loop, address, config);
    }

    /// Sets the peer. Messages from other addresses are no longer received, [#send(Buffer)] sends
    /// to the peer, and [#onError] reports an unreachable peer. Does not wait.
    ///
    /// @throws SystemCallException if no route or no such Unix socket exists
    Datagram connect(SocketAddress peer);

    /// Sets the callback for messages, called with each message and its sender. The buffer belongs
    /// to the loop and is valid until the callback returns.
    Datagram onMessage(BiConsumer<? super Buffer, ? super SocketAddress> callback);

    /// Returns whether the message of the current callback exceeded
    /// [DatagramConfig#maxMessageBytes()] and was truncated.
    boolean isTruncated();

    /// Pauses receiving until [#resume()].
    void pause();

    /// Resumes receiving.
    void resume();

    /// Returns whether receiving is paused.
    boolean isPaused();

    /// Sends the readable bytes of a buffer as one message, and consumes them.
    ///
    /// @return false if the message was dropped: the queue is full, the socket is closed, or the
    ///     kernel refused it, which [#onError] reports. The buffer is unchanged then
    /// @throws IllegalArgumentException if the address family does not match the socket
    boolean send(Buffer message, SocketAddress to);

    /// Sends a message to the peer of [#connect].
    ///
    /// @return as [#send(Buffer, SocketAddress)]
    /// @throws IllegalStateException if the socket is not connected
    boolean send(Buffer message);

    /// Returns the number of messages queued to be sent.
    int pending();

    /// Sets the callback for errors that the kernel reports. It runs after the call that failed.
    /// The socket stays open.
    Datagram onError(Consumer<? super SystemCallException> callback);

    /// Sets the callback for the close. It runs once: after the callback that closes the socket, or
    /// on the thread that terminates the loop.
    Datagram onClose(Runnable callback);

    /// Returns whether the socket is open.
    boolean isOpen();

    /// Closes the socket. Drops queued messages, and delivers no more. Idempotent.
    @Override
    void close();

    /// Returns the bound address, with the port that the system chose.
    SocketAddress address();

    /// Returns the peer of [#connect]; null if absent.
    @Nullable SocketAddress peer();

    /// Returns the number of delivered messages.
    long received();

    /// Returns the number of delivered messages that were truncated.
    long truncated();

    /// Returns the number of messages that the kernel accepted.
    long sent();

    /// Returns the number of messages dropped by this socket for lack of queue space. Excludes
    /// losses in the kernel and the network.
    long dropped();

    /// Returns the number of errors that the kernel reported.
    long failed();
}
