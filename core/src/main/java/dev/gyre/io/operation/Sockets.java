package dev.gyre.io.operation;

import dev.gyre.EventLoop;
import dev.gyre.SystemCallException;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.Descriptor;

import java.net.SocketAddress;
import java.util.List;
import java.util.Objects;

/// Creates sockets for [Operations]. They are non-blocking and not inherited by child processes.
/// Each belongs to the kernel of its loop, real or simulated.
///
/// **Threads.** Any. No method waits.
///
/// **Exceptions.** All methods throw a [SystemCallException] if the kernel refuses: for an address
/// that is in use, not permitted or not local, or for a socket that is not connected.
public final class Sockets {
    private Sockets() {}

    /// Creates a listening TCP or Unix domain socket.
    ///
    /// @param address port 0 lets the system choose, see [#localAddress]
    public static Descriptor listen(EventLoop loop, SocketAddress address) {
        return NativeSockets.listen(syscalls(loop), requireAddress(address));
    }

    /// Creates an unconnected stream socket of the address's family.
    public static Descriptor stream(EventLoop loop, SocketAddress like) {
        return NativeSockets.stream(syscalls(loop), requireAddress(like));
    }

    /// Creates a datagram socket bound to the address.
    ///
    /// @param address port 0 lets the system choose, see [#localAddress]
    public static Descriptor datagram(EventLoop loop, SocketAddress address) {
        return NativeSockets.datagram(syscalls(loop), requireAddress(address), socket -> {});
    }

    /// Creates two connected stream sockets.
    public static List<Descriptor> pair(EventLoop loop) {
        return NativeSockets.pair(syscalls(loop));
    }

    /// Returns the local address of a socket.
    public static SocketAddress localAddress(EventLoop loop, Descriptor socket) {
        return NativeSockets.localAddress(syscalls(loop), open(socket));
    }

    /// Returns the address of a socket's peer.
    public static SocketAddress peerAddress(EventLoop loop, Descriptor socket) {
        return NativeSockets.peerAddress(syscalls(loop), open(socket));
    }

    /// Ends the output: the peer reads all that was sent, and then the end. Input continues.
    public static void shutdownOutput(EventLoop loop, Descriptor socket) {
        NativeSockets.shutdownOutput(syscalls(loop), open(socket));
    }

    private static SyscallFactories syscalls(EventLoop loop) {
        return Loop.of(loop).operations().syscalls();
    }

    private static SocketAddress requireAddress(SocketAddress address) {
        return Objects.requireNonNull(address, "address");
    }

    private static OpenDescriptor open(Descriptor socket) {
        return (OpenDescriptor) Objects.requireNonNull(socket, "socket");
    }
}
