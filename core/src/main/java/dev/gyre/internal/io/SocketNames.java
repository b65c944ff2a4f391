package dev.gyre.internal.io;

import dev.gyre.SystemCallException;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.Seam;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.SocketCalls;

import java.net.SocketAddress;

/// Asks a socket where it is, and where its peer is. Any thread.
public final class SocketNames {
    private SocketNames() {}

    @FunctionalInterface
    private interface Asking {
        int ask(SocketCalls calls, int fd, long address, long lengthAddress);
    }

    public static SocketAddress local(Seam seam, OpenDescriptor socket) {
        return ask(seam, socket, "getsockname", SocketCalls::getsockname);
    }

    public static SocketAddress peer(Seam seam, OpenDescriptor socket) {
        return ask(seam, socket, "getpeername", SocketCalls::getpeername);
    }

    private static SocketAddress ask(Seam seam, OpenDescriptor socket, String call, Asking asking) {
        NativeBytes address = NativeBytes.allocate(Linux.SIZEOF_SOCKADDR_STORAGE);
        NativeBytes length = NativeBytes.allocate(Integer.BYTES);
        Memory.putInt(length.address(), Linux.SIZEOF_SOCKADDR_STORAGE);
        int result =
                socket.use(
                        fd ->
                                asking.ask(
                                        seam.sockets().get(),
                                        fd,
                                        address.address(),
                                        length.address()));
        if (result < 0) {
            throw new SystemCallException(call, -result, socket.opening().fd);
        }
        return SocketAddresses.decode(address, Memory.getInt(length.address()));
    }
}
