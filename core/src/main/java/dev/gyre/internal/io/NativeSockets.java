package dev.gyre.internal.io;

import static dev.gyre.internal.sys.Linux.SOCK_CLOEXEC;
import static dev.gyre.internal.sys.Linux.SOCK_DGRAM;
import static dev.gyre.internal.sys.Linux.SOCK_NONBLOCK;
import static dev.gyre.internal.sys.Linux.SOCK_STREAM;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.PollCalls.FdPair;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.Descriptor;

import java.net.SocketAddress;
import java.util.List;
import java.util.function.Consumer;

/// Creates sockets that do not block, and reads their addresses. Any thread.
public final class NativeSockets {
    /// The default backlog. The kernel lowers it to its own limit.
    public static final int BACKLOG = 4096;

    /// The size of an address followed by its length.
    public static final int ADDRESS_BYTES = Linux.SIZEOF_SOCKADDR_STORAGE + Integer.BYTES;

    private static final int UNIX = Traits.SOCKET | Traits.STREAM;

    /// Bounds the discarded input: more than a kernel buffers for one connection by default.
    private static final int MAX_DISCARDS = 256;

    private NativeSockets() {}

    public static Descriptor listen(SyscallFactories syscalls, SocketAddress address) {
        return listen(syscalls, address, address, BACKLOG, socket -> {}, socket -> {});
    }

    /// Opens a listening socket.
    ///
    /// @param named the address as the caller wrote it, for messages
    /// @param beforeBind sets socket options before the bind
    /// @param afterBind sets socket options between the bind and the listen
    public static Descriptor listen(
            SyscallFactories syscalls,
            SocketAddress address,
            SocketAddress named,
            int backlog,
            Consumer<? super OpenDescriptor> beforeBind,
            Consumer<? super OpenDescriptor> afterBind) {
        OpenDescriptor socket = stream(syscalls, address);
        try {
            if (SocketAddresses.family(address) != Linux.AF_UNIX) {
                // A restarted server must bind while old connections are in TIME_WAIT.
                SocketOption.SO_REUSEADDR.set(syscalls, socket, 1);
            }
            beforeBind.accept(socket);
            bind(syscalls, socket, address, named);
            afterBind.accept(socket);
            int result = socket.use(fd -> syscalls.sockets().get().listen(fd, backlog));
            check("cannot listen on " + named, "listen", named, result);
            return socket;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    public static OpenDescriptor stream(SyscallFactories syscalls, SocketAddress like) {
        boolean unix = SocketAddresses.family(like) == Linux.AF_UNIX;
        return open(syscalls, like, SOCK_STREAM, unix ? UNIX : Traits.TCP);
    }

    /// Opens a bound datagram socket.
    ///
    /// @param beforeBind sets socket options before the bind
    public static OpenDescriptor datagram(
            SyscallFactories syscalls,
            SocketAddress address,
            Consumer<? super OpenDescriptor> beforeBind) {
        OpenDescriptor socket = open(syscalls, address, SOCK_DGRAM, Traits.SOCKET);
        try {
            beforeBind.accept(socket);
            bind(syscalls, socket, address, address);
            return socket;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    public static List<Descriptor> pair(SyscallFactories syscalls) {
        FdReaper.reclaim(); // Descriptors may be exhausted.
        FdPair pair = new FdPair();
        int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
        int result = syscalls.kernels().get().socketpair(Linux.AF_UNIX, type, 0, pair.address());
        if (result < 0) {
            throw new SystemCallException("socketpair", -result, SystemCallException.NO_FD);
        }
        return List.of(wrap(syscalls, pair.first(), UNIX), wrap(syscalls, pair.second(), UNIX));
    }

    private static OpenDescriptor open(
            SyscallFactories syscalls, SocketAddress like, int type, int traits) {
        int family = SocketAddresses.family(like);
        FdReaper.reclaim(); // Descriptors may be exhausted.
        SocketCalls calls = syscalls.sockets().get();
        int fd = calls.socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            throw new SystemCallException("socket", -fd, SystemCallException.NO_FD);
        }
        return wrap(syscalls, fd, traits);
    }

    private static OpenDescriptor wrap(SyscallFactories syscalls, int fd, int traits) {
        OpenDescriptor socket = OpenDescriptor.fresh(syscalls.kernels(), fd, true);
        socket.lifetime().setTraits(traits);
        return socket;
    }

    private static void bind(
            SyscallFactories syscalls,
            OpenDescriptor socket,
            SocketAddress address,
            SocketAddress named) {
        NativeBytes memory = NativeBytes.allocate(Linux.SIZEOF_SOCKADDR_STORAGE);
        int length = SocketAddresses.encode(address, memory);
        int result = socket.use(fd -> syscalls.sockets().get().bind(fd, memory.address(), length));
        check("cannot bind to " + named, "bind", named, result);
    }

    private static void check(String attempt, String call, SocketAddress address, int result) {
        if (result < 0) {
            throw new SystemCallException(call, -result, attempt, Errno.bindHint(address, -result));
        }
    }

    /// Opens a second descriptor of the same socket. The socket lives until both are closed.
    public static OpenDescriptor duplicate(SyscallFactories syscalls, OpenDescriptor socket) {
        FdReaper.reclaim(); // Descriptors may be exhausted.
        int fd = socket.use(of -> syscalls.kernels().get().fcntl(of, Linux.F_DUPFD_CLOEXEC, 0));
        Errno.require("fcntl(F_DUPFD_CLOEXEC)", fd, socket.lifetime().fd);
        return wrap(syscalls, fd, socket.lifetime().traits());
    }

    /// Sends a FIN after the pending output. Input stays open.
    public static void shutdownOutput(SyscallFactories syscalls, OpenDescriptor socket) {
        int result = socket.use(fd -> syscalls.sockets().get().shutdown(fd, Linux.SHUT_WR));
        if (result < 0) {
            throw new SystemCallException("shutdown", -result, socket.lifetime().fd);
        }
    }

    public static SocketAddress localAddress(SyscallFactories syscalls, OpenDescriptor socket) {
        return address(syscalls, socket, false, NativeBytes.allocate(ADDRESS_BYTES));
    }

    public static SocketAddress peerAddress(SyscallFactories syscalls, OpenDescriptor socket) {
        return peerAddress(syscalls, socket, NativeBytes.allocate(ADDRESS_BYTES));
    }

    /// Returns the peer's address without allocating native memory, which costs more than the call.
    ///
    /// @param scratch [#ADDRESS_BYTES] that no other thread uses during the call
    public static SocketAddress peerAddress(
            SyscallFactories syscalls, OpenDescriptor socket, NativeBytes scratch) {
        return address(syscalls, socket, true, scratch);
    }

    private static SocketAddress address(
            SyscallFactories syscalls, OpenDescriptor socket, boolean peer, NativeBytes scratch) {
        long address = scratch.address();
        long length = address + Linux.SIZEOF_SOCKADDR_STORAGE;
        Memory.putInt(length, Linux.SIZEOF_SOCKADDR_STORAGE);
        SocketCalls calls = syscalls.sockets().get();
        int result =
                socket.use(
                        fd ->
                                peer
                                        ? calls.getpeername(fd, address, length)
                                        : calls.getsockname(fd, address, length));
        if (result < 0) {
            throw new SystemCallException(
                    peer ? "getpeername" : "getsockname", -result, socket.lifetime().fd);
        }
        return SocketAddresses.decode(scratch, Memory.getInt(length));
    }

    /// Discards unread input. If the socket closed with unread input, the kernel would send a reset
    /// and destroy output that the peer has not read. Input after this call still has that effect.
    ///
    /// @param room memory to read into
    public static void discardInput(
            SyscallFactories syscalls, OpenDescriptor socket, NativeBuffer room) {
        SocketCalls calls = syscalls.sockets().get();
        long into = room.writeAddress();
        int bytes = room.writableBytes();
        for (int left = MAX_DISCARDS; left > 0; left--) {
            int dropped = socket.use(fd -> (int) calls.recv(fd, into, bytes, 0));
            if (dropped <= 0 && dropped != -Errno.EINTR) {
                break;
            }
        }
    }
}
