package dev.gyre.io.operation;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.loop.Loop;
import dev.gyre.io.Descriptor;

import java.net.SocketAddress;
import java.util.List;
import java.util.Objects;

/// Makes sockets for [Operations]: none blocks, and no child process inherits them. Each belongs to the kernel that
/// its loop is on.
///
/// **Threads.** Any. None of these waits.
public final class Sockets {
    private Sockets() {}

    /// A stream socket that listens: TCP, or a Unix domain socket.
    ///
    /// @param address where; port 0 lets the system choose, see [#localAddress]
    /// @throws SystemCallException if the address is taken, not allowed or not of this machine
    public static Descriptor listen(EventLoop loop, SocketAddress address) {
        return NativeSockets.listen(Loop.of(loop).operations().seam(), requireAddress(address));
    }

    /// A stream socket that is not connected yet, of the sort that the address is.
    ///
    /// @throws SystemCallException if the kernel refuses
    public static Descriptor stream(EventLoop loop, SocketAddress like) {
        return NativeSockets.stream(Loop.of(loop).operations().seam(), requireAddress(like));
    }

    /// A datagram socket that is bound to the address.
    ///
    /// @param address where; port 0 lets the system choose, see [#localAddress]
    /// @throws SystemCallException if the address is taken, not allowed or not of this machine
    public static Descriptor datagram(EventLoop loop, SocketAddress address) {
        return NativeSockets.datagram(
                Loop.of(loop).operations().seam(), requireAddress(address), socket -> {});
    }

    /// Two stream sockets that are connected with each other.
    ///
    /// @throws SystemCallException if the kernel refuses
    public static List<Descriptor> pair(EventLoop loop) {
        return NativeSockets.pair(Loop.of(loop).operations().seam());
    }

    /// Where a socket is.
    ///
    /// @throws SystemCallException if the kernel refuses
    public static SocketAddress localAddress(EventLoop loop, Descriptor socket) {
        return NativeSockets.localAddress(Loop.of(loop).operations().seam(), open(socket));
    }

    /// Where a socket's peer is.
    ///
    /// @throws SystemCallException if it is not connected, or no more
    public static SocketAddress peerAddress(EventLoop loop, Descriptor socket) {
        return NativeSockets.peerAddress(Loop.of(loop).operations().seam(), open(socket));
    }

    /// Ends sending: the peer reads what was sent, and then the end. Receiving goes on.
    ///
    /// @throws SystemCallException if it is not connected, or no more
    public static void shutdownOutput(EventLoop loop, Descriptor socket) {
        NativeSockets.shutdownOutput(Loop.of(loop).operations().seam(), open(socket));
    }

    private static SocketAddress requireAddress(SocketAddress address) {
        return Objects.requireNonNull(address, "address");
    }

    private static OpenDescriptor open(Descriptor socket) {
        return (OpenDescriptor) Objects.requireNonNull(socket, "socket");
    }
}
