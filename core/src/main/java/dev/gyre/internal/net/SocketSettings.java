package dev.gyre.internal.net;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.SocketOption;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.NativeBytes;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.io.DatagramConfig;
import dev.gyre.io.KeepAlive;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.PortSharing;
import dev.gyre.io.SocketOptions;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;

/// Creates sockets and sets their options. TCP options are skipped for Unix domain sockets.
///
/// An accepted connection inherits the options of its listener on Linux. They are set once, and
/// accepting needs no further system call.
///
/// Any thread.
///
/// @param options of connections
/// @param sharing whether several sockets may listen on one port
/// @param backlog how many connections may wait to be accepted; the kernel caps it
public record SocketSettings(SocketOptions options, PortSharing sharing, int backlog) {
    public static final SocketSettings DEFAULTS = of(ListenerConfig.DEFAULT);

    static SocketSettings of(ListenerConfig config) {
        return new SocketSettings(
                config.streams().socket(), config.portSharing(), config.backlog());
    }

    static SocketSettings of(SocketOptions options) {
        return new SocketSettings(options, PortSharing.EXCLUSIVE, NativeSockets.BACKLOG);
    }

    /// Opens a listening socket. Removes the file of a Unix domain socket if no process listens on
    /// it. The IPv4 wildcard address also accepts IPv6, as in the JDK, unless the kernel lacks it.
    ///
    /// @throws SystemCallException if the address is in use, not permitted or not local
    public OpenDescriptor listen(SyscallFactories syscalls, SocketAddress address) {
        if (sharing != PortSharing.EXCLUSIVE && address instanceof UnixDomainSocketAddress) {
            throw new IllegalArgumentException(
                    "cannot share " + address + ", which has no port: use PortSharing.EXCLUSIVE");
        }
        try {
            return listenDualStack(syscalls, address);
        } catch (SystemCallException e) {
            if (e.errno() == Errno.EADDRINUSE
                    && address instanceof UnixDomainSocketAddress unix
                    && isStale(syscalls, unix)) {
                removeFile(unix);
                return listenDualStack(syscalls, address);
            }
            throw e;
        }
    }

    private OpenDescriptor listenDualStack(SyscallFactories syscalls, SocketAddress address) {
        if (isIpv4Wildcard(address) && !Boolean.getBoolean("java.net.preferIPv4Stack")) {
            try {
                int port = ((InetSocketAddress) address).getPort();
                return listen(syscalls, ipv6Wildcard(port), address);
            } catch (SystemCallException e) {
                if (e.errno() != Errno.EAFNOSUPPORT && e.errno() != Errno.EADDRNOTAVAIL) {
                    throw e;
                }
            }
        }
        return listen(syscalls, address, address);
    }

    private OpenDescriptor listen(
            SyscallFactories syscalls, SocketAddress address, SocketAddress named) {
        return (OpenDescriptor)
                NativeSockets.listen(
                        syscalls,
                        address,
                        named,
                        backlog,
                        socket -> prepareListener(syscalls, socket, address),
                        socket -> admitOthers(syscalls, socket));
    }

    private static boolean isIpv4Wildcard(SocketAddress address) {
        return SocketAddresses.family(address) == Linux.AF_INET
                && ((InetSocketAddress) address).getAddress().isAnyLocalAddress();
    }

    private static InetSocketAddress ipv6Wildcard(int port) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(new byte[16]), port);
        } catch (UnknownHostException e) {
            throw new AssertionError("sixteen bytes are an address", e);
        }
    }

    private void prepareListener(
            SyscallFactories syscalls, OpenDescriptor socket, SocketAddress address) {
        acceptIpv4(syscalls, socket, address);
        if (sharing == PortSharing.SHARED) {
            SocketOption.SO_REUSEPORT.set(syscalls, socket, 1);
        }
        apply(syscalls, socket, address);
    }

    /// Set on every IPv6 socket, as the default depends on the system (`net.ipv6.bindv6only`).
    private static void acceptIpv4(
            SyscallFactories syscalls, OpenDescriptor socket, SocketAddress address) {
        if (SocketAddresses.family(address) == Linux.AF_INET6) {
            SocketOption.IPV6_V6ONLY.set(syscalls, socket, 0);
        }
    }

    /// Binding without SO_REUSEPORT fails if the port is in use. Setting it afterwards lets other
    /// sockets join.
    private void admitOthers(SyscallFactories syscalls, OpenDescriptor socket) {
        if (sharing == PortSharing.SHARED_FIRST) {
            SocketOption.SO_REUSEPORT.set(syscalls, socket, 1);
        }
    }

    /// Whether the file exists and no process listens on it: its server did not remove it.
    private static boolean isStale(SyscallFactories syscalls, UnixDomainSocketAddress address) {
        try (OpenDescriptor probe = NativeSockets.stream(syscalls, address)) {
            NativeBytes memory = NativeBytes.allocate(Linux.SIZEOF_SOCKADDR_STORAGE);
            int length = SocketAddresses.encode(address, memory);
            int result =
                    probe.use(fd -> syscalls.sockets().get().connect(fd, memory.address(), length));
            return result == -Errno.ECONNREFUSED;
        }
    }

    /// Removes the file of a Unix domain socket. Does nothing for other addresses and files.
    static void removeFile(SocketAddress address) {
        if (address instanceof UnixDomainSocketAddress unix && isSocket(unix.getPath())) {
            try {
                Files.deleteIfExists(unix.getPath());
            } catch (IOException e) {
                LOG.log(
                        Level.WARNING,
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

    /// @param like an address of the same family
    OpenDescriptor stream(SyscallFactories syscalls, SocketAddress like) {
        OpenDescriptor socket = NativeSockets.stream(syscalls, like);
        try {
            apply(syscalls, socket, like);
            return socket;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    /// Sets the options of a stream socket. Buffer sizes must be set before it connects: TCP
    /// negotiates its maximum window then.
    private void apply(SyscallFactories syscalls, OpenDescriptor socket, SocketAddress like) {
        if (options.sendBufferBytes() > 0) {
            SocketOption.SO_SNDBUF.set(syscalls, socket, options.sendBufferBytes());
        }
        if (options.receiveBufferBytes() > 0) {
            SocketOption.SO_RCVBUF.set(syscalls, socket, options.receiveBufferBytes());
        }
        if (SocketAddresses.family(like) == Linux.AF_UNIX) {
            return;
        }
        if (options.noDelay()) {
            SocketOption.TCP_NODELAY.set(syscalls, socket, 1);
        }
        KeepAlive keep = options.keepAlive();
        if (keep != null) {
            SocketOption.SO_KEEPALIVE.set(syscalls, socket, 1);
            SocketOption.TCP_KEEPIDLE.set(syscalls, socket, (int) keep.idle().toSeconds());
            SocketOption.TCP_KEEPINTVL.set(syscalls, socket, (int) keep.interval().toSeconds());
            SocketOption.TCP_KEEPCNT.set(syscalls, socket, keep.count());
        }
        if (!options.userTimeout().isZero()) {
            // Zero would turn the timeout off.
            int millis = (int) Math.max(1, options.userTimeout().toMillis());
            SocketOption.TCP_USER_TIMEOUT.set(syscalls, socket, millis);
        }
    }

    static OpenDescriptor datagram(
            SyscallFactories syscalls, SocketAddress address, DatagramConfig config) {
        if (config.reusePort() && address instanceof UnixDomainSocketAddress) {
            throw new IllegalArgumentException(
                    "cannot share " + address + ", which has no port: turn reusePort off");
        }
        return NativeSockets.datagram(
                syscalls, address, socket -> prepareDatagram(syscalls, socket, address, config));
    }

    private static void prepareDatagram(
            SyscallFactories syscalls,
            OpenDescriptor socket,
            SocketAddress address,
            DatagramConfig config) {
        acceptIpv4(syscalls, socket, address);
        if (config.reusePort()) {
            SocketOption.SO_REUSEPORT.set(syscalls, socket, 1);
        }
        if (config.broadcast()) {
            SocketOption.SO_BROADCAST.set(syscalls, socket, 1);
        }
        if (config.receiveBufferBytes() > 0) {
            SocketOption.SO_RCVBUF.set(syscalls, socket, config.receiveBufferBytes());
        }
        if (config.sendBufferBytes() > 0) {
            SocketOption.SO_SNDBUF.set(syscalls, socket, config.sendBufferBytes());
        }
    }
}
