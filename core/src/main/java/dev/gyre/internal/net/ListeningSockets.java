package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.Syscalls;
import dev.gyre.io.ListenerConfig;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/// Makes the sockets of listeners, and cleans up the files that those of Unix domain sockets leave behind.
final class ListeningSockets {
    private ListeningSockets() {}

    static OpenDescriptor open(Syscalls seam, SocketAddress address, ListenerConfig config) {
        SocketSettings settings = SocketSettings.of(config);
        try {
            return (OpenDescriptor) settings.listen(seam, address);
        } catch (SystemCallException e) {
            if (e.errno() == Errno.EADDRINUSE
                    && address instanceof UnixDomainSocketAddress unix
                    && isForsaken(seam, unix)) {
                remove(unix);
                return (OpenDescriptor) settings.listen(seam, address);
            }
            throw e;
        }
    }

    /// Whether the file is there, and nobody listens on it: its server did not come to removing it.
    private static boolean isForsaken(Syscalls seam, UnixDomainSocketAddress address) {
        try (OpenDescriptor probe = NativeSockets.stream(seam, address)) {
            NativeBytes memory = NativeBytes.allocate(Linux.SIZEOF_SOCKADDR_STORAGE);
            int length = SocketAddresses.encode(address, memory);
            int result =
                    probe.use(fd -> seam.sockets().get().connect(fd, memory.address(), length));
            return result == -Errno.ECONNREFUSED;
        }
    }

    /// Removes the file of a Unix domain socket, if that is what it is.
    static void remove(SocketAddress address) {
        if (address instanceof UnixDomainSocketAddress unix && isSocket(unix.getPath())) {
            try {
                Files.deleteIfExists(unix.getPath());
            } catch (IOException e) {
                System.getLogger("dev.gyre")
                        .log(
                                System.Logger.Level.WARNING,
                                "cannot remove the socket file " + unix + ": remove it by hand",
                                e);
            }
        }
    }

    private static boolean isSocket(Path path) {
        if (path.toString().isEmpty()) {
            return false;
        }
        try {
            return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                    .isOther();
        } catch (IOException e) {
            return false;
        }
    }
}
