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
import dev.gyre.internal.sys.Pair;
import dev.gyre.internal.sys.Seam;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.io.Descriptor;

import java.net.SocketAddress;
import java.util.List;

/// Makes sockets. Any thread.
public final class NewSockets {
    /// The system cuts it to what it allows.
    private static final int BACKLOG = 4096;

    private static final int UNIX = Traits.SOCKET | Traits.STREAM;

    private NewSockets() {}

    public static Descriptor listen(Seam seam, SocketAddress address) {
        OpenDescriptor socket = open(seam, address, SOCK_STREAM, streamTraits(address));
        try {
            if (SocketAddresses.family(address) != Linux.AF_UNIX) {
                // Or a server could not come back while connections of the last one linger.
                set(seam, socket, Linux.SOL_SOCKET, Linux.SO_REUSEADDR);
            }
            bind(seam, socket, address);
            check(
                    "cannot listen on " + address,
                    "listen",
                    socket.use(fd -> seam.sockets().get().listen(fd, BACKLOG)));
            return socket;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    public static Descriptor stream(Seam seam, SocketAddress like) {
        return open(seam, like, SOCK_STREAM, streamTraits(like));
    }

    public static Descriptor datagram(Seam seam, SocketAddress address) {
        OpenDescriptor socket = open(seam, address, SOCK_DGRAM, Traits.SOCKET);
        try {
            bind(seam, socket, address);
            return socket;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    public static List<Descriptor> pair(Seam seam) {
        Reclaimer.reclaim(); // Numbers may have run out.
        Pair pair = new Pair();
        int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
        int result = seam.kernels().get().socketpair(Linux.AF_UNIX, type, 0, pair.address());
        if (result < 0) {
            throw new SystemCallException("socketpair", -result, SystemCallException.NO_FD);
        }
        return List.of(known(seam, pair.first(), UNIX), known(seam, pair.second(), UNIX));
    }

    public static void endOutput(Seam seam, OpenDescriptor socket) {
        int result = socket.use(fd -> seam.sockets().get().shutdown(fd, Linux.SHUT_WR));
        if (result < 0) {
            throw new SystemCallException("shutdown", -result, socket.opening().fd);
        }
    }

    private static OpenDescriptor open(Seam seam, SocketAddress like, int type, int traits) {
        int family = SocketAddresses.family(like);
        Reclaimer.reclaim(); // Numbers may have run out.
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

    private static OpenDescriptor known(Seam seam, int fd, int traits) {
        OpenDescriptor socket = OpenDescriptor.fresh(seam.kernels(), fd, true);
        socket.opening().known(traits);
        return socket;
    }

    private static void bind(Seam seam, OpenDescriptor socket, SocketAddress address) {
        NativeBytes memory = NativeBytes.allocate(Linux.SIZEOF_SOCKADDR_STORAGE);
        int length = SocketAddresses.encode(address, memory);
        int result = socket.use(fd -> seam.sockets().get().bind(fd, memory.address(), length));
        check("cannot bind to " + address, "bind", result);
    }

    private static void set(Seam seam, OpenDescriptor socket, int level, int option) {
        NativeBytes one = NativeBytes.allocate(Integer.BYTES);
        Memory.putInt(one.address(), 1);
        int result =
                socket.use(
                        fd ->
                                seam.sockets()
                                        .get()
                                        .setsockopt(
                                                fd, level, option, one.address(), Integer.BYTES));
        check("cannot set a socket option", "setsockopt", result);
    }

    private static void check(String attempt, String call, int result) {
        if (result < 0) {
            throw new SystemCallException(call, -result, attempt, Errno.hint(call, -result));
        }
    }
}
