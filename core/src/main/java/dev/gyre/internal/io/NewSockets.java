package dev.gyre.internal.io;

import static dev.gyre.internal.sys.Linux.SOCK_CLOEXEC;
import static dev.gyre.internal.sys.Linux.SOCK_DGRAM;
import static dev.gyre.internal.sys.Linux.SOCK_NONBLOCK;
import static dev.gyre.internal.sys.Linux.SOCK_STREAM;

import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.PollSyscalls.FdPair;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.internal.sys.Syscalls;
import dev.gyre.io.Descriptor;

import java.net.SocketAddress;
import java.util.List;
import java.util.function.Consumer;

/// Makes sockets. Any thread.
public final class NewSockets {
    /// The system cuts it to what it allows.
    public static final int BACKLOG = 4096;

    private static final int UNIX = Traits.SOCKET | Traits.STREAM;

    private NewSockets() {}

    public static Descriptor listen(Syscalls seam, SocketAddress address) {
        return listen(seam, address, address, BACKLOG, socket -> {}, socket -> {});
    }

    /// Listens with settings.
    ///
    /// @param named the address in the words of whoever asked, for messages
    /// @param prepare sets the socket's options, before it is bound
    /// @param bound sets those that are to be set after it
    public static Descriptor listen(
            Syscalls seam,
            SocketAddress address,
            SocketAddress named,
            int backlog,
            Consumer<? super OpenDescriptor> prepare,
            Consumer<? super OpenDescriptor> bound) {
        OpenDescriptor socket = open(seam, address, SOCK_STREAM, streamTraits(address));
        try {
            if (SocketAddresses.family(address) != Linux.AF_UNIX) {
                // Or a server could not come back while connections of the last one linger.
                SocketOption.SO_REUSEADDR.set(seam, socket, 1);
            }
            prepare.accept(socket);
            bind(seam, socket, address, named);
            bound.accept(socket);
            int result = socket.use(fd -> seam.sockets().get().listen(fd, backlog));
            check("cannot listen on " + named, "listen", named, result);
            return socket;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    public static OpenDescriptor stream(Syscalls seam, SocketAddress like) {
        return open(seam, like, SOCK_STREAM, streamTraits(like));
    }

    public static Descriptor datagram(Syscalls seam, SocketAddress address) {
        return datagram(seam, address, socket -> {});
    }

    /// The same with settings.
    ///
    /// @param prepare sets the socket's options, before it is bound
    public static OpenDescriptor datagram(
            Syscalls seam, SocketAddress address, Consumer<? super OpenDescriptor> prepare) {
        OpenDescriptor socket = open(seam, address, SOCK_DGRAM, Traits.SOCKET);
        try {
            prepare.accept(socket);
            bind(seam, socket, address, address);
            return socket;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    public static List<Descriptor> pair(Syscalls seam) {
        FdReaper.reclaim(); // Numbers may have run out.
        FdPair pair = new FdPair();
        int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
        int result = seam.kernels().get().socketpair(Linux.AF_UNIX, type, 0, pair.address());
        if (result < 0) {
            throw new SystemCallException("socketpair", -result, SystemCallException.NO_FD);
        }
        return List.of(known(seam, pair.first(), UNIX), known(seam, pair.second(), UNIX));
    }

    public static void shutdownOutput(Syscalls seam, OpenDescriptor socket) {
        int result = socket.use(fd -> seam.sockets().get().shutdown(fd, Linux.SHUT_WR));
        if (result < 0) {
            throw new SystemCallException("shutdown", -result, socket.opening().fd);
        }
    }

    private static OpenDescriptor open(Syscalls seam, SocketAddress like, int type, int traits) {
        int family = SocketAddresses.family(like);
        FdReaper.reclaim(); // Numbers may have run out.
        SocketCalls calls = seam.sockets().get();
        int fd = calls.socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            throw new SystemCallException("socket", -fd, SystemCallException.NO_FD);
        }
        return known(seam, fd, traits);
    }

    private static int streamTraits(SocketAddress address) {
        return SocketAddresses.family(address) == Linux.AF_UNIX ? UNIX : Traits.TCP;
    }

    private static OpenDescriptor known(Syscalls seam, int fd, int traits) {
        OpenDescriptor socket = OpenDescriptor.fresh(seam.kernels(), fd, true);
        socket.opening().known(traits);
        return socket;
    }

    private static void bind(
            Syscalls seam, OpenDescriptor socket, SocketAddress address, SocketAddress named) {
        NativeBytes memory = NativeBytes.allocate(Linux.SIZEOF_SOCKADDR_STORAGE);
        int length = SocketAddresses.encode(address, memory);
        int result = socket.use(fd -> seam.sockets().get().bind(fd, memory.address(), length));
        check("cannot bind to " + named, "bind", named, result);
    }

    private static void check(String attempt, String call, SocketAddress address, int result) {
        if (result < 0) {
            throw new SystemCallException(call, -result, attempt, Errno.bindHint(address, -result));
        }
    }
}
