package dev.gyre.internal.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.SocketCalls;
import dev.gyre.internal.sys.Syscalls;

import java.net.SocketAddress;

/// Asks a socket where it is, and where its peer is. Any thread.
public final class SocketNames {
    /// For an address, and its length behind it.
    public static final int ROOM_BYTES = Linux.SIZEOF_SOCKADDR_STORAGE + Integer.BYTES;

    private SocketNames() {}

    @FunctionalInterface
    private interface Asking {
        int ask(SocketCalls calls, int fd, long address, long lengthAddress);
    }

    public static SocketAddress local(Syscalls seam, OpenDescriptor socket) {
        return ask(seam, socket, "getsockname", SocketCalls::getsockname);
    }

    public static SocketAddress peer(Syscalls seam, OpenDescriptor socket) {
        return ask(seam, socket, "getpeername", SocketCalls::getpeername);
    }

    /// The same for who asks often: what is allocated outside the heap costs more than the question.
    ///
    /// @param room of [#ROOM_BYTES], and nobody else's meanwhile
    public static SocketAddress peer(Syscalls seam, OpenDescriptor socket, NativeBytes room) {
        return ask(seam, socket, "getpeername", SocketCalls::getpeername, room);
    }

    private static SocketAddress ask(
            Syscalls seam, OpenDescriptor socket, String call, Asking asking) {
        return ask(seam, socket, call, asking, NativeBytes.allocate(ROOM_BYTES));
    }

    private static SocketAddress ask(
            Syscalls seam, OpenDescriptor socket, String call, Asking asking, NativeBytes address) {
        long length = address.address() + Linux.SIZEOF_SOCKADDR_STORAGE;
        Memory.putInt(length, Linux.SIZEOF_SOCKADDR_STORAGE);
        int result =
                socket.use(fd -> asking.ask(seam.sockets().get(), fd, address.address(), length));
        if (result < 0) {
            throw new SystemCallException(call, -result, socket.opening().fd);
        }
        return SocketAddresses.decode(address, Memory.getInt(length));
    }
}
