package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.SocketOption;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.Syscalls;
import dev.gyre.io.Descriptor;
import dev.gyre.io.KeepAlive;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.PortSharing;
import dev.gyre.io.SocketOptions;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;

/// How stream sockets are set up. What is of TCP is left out for Unix domain sockets.
///
/// A connection has the options of the listener that it was accepted from: Linux hands all of these on. So they are
/// set once, and accepting costs no further call.
///
/// Any thread.
///
/// @param options what holds for the streams
/// @param sharing whether several may listen on one address and share what arrives
/// @param dualStack whether who listens on all addresses does so on those of IPv6 and IPv4
/// @param backlog how many connections may wait to be accepted; the system cuts it to what it allows
public record SocketSettings(
        SocketOptions options, PortSharing sharing, boolean dualStack, int backlog) {
    public static final SocketSettings DEFAULTS = of(ListenerConfig.DEFAULT);

    static SocketSettings of(ListenerConfig config) {
        return new SocketSettings(
                config.streams().socket(), config.portSharing(), true, config.backlog());
    }

    static SocketSettings of(SocketOptions options) {
        return new SocketSettings(options, PortSharing.EXCLUSIVE, true, NativeSockets.BACKLOG);
    }

    // ------------------------------------------------------------------ sockets of the sort

    /// A socket that listens. On all addresses of IPv4 means on all there are, as the JDK has it too, unless
    /// dual stack is off or the kernel has no IPv6.
    ///
    /// @throws SystemCallException if the address is taken, not allowed or not of this machine
    public Descriptor listen(Syscalls seam, SocketAddress address) {
        if (sharing != PortSharing.EXCLUSIVE && address instanceof UnixDomainSocketAddress) {
            throw new IllegalArgumentException(
                    "only ports can be shared, and "
                            + address
                            + " is none: take PortSharing.ALONE");
        }
        if (dualStack && isAllOfIpv4(address) && !Boolean.getBoolean("java.net.preferIPv4Stack")) {
            try {
                return listen(seam, allOfIpv6(((InetSocketAddress) address).getPort()), address);
            } catch (SystemCallException e) {
                if (e.errno() != Errno.EAFNOSUPPORT && e.errno() != Errno.EADDRNOTAVAIL) {
                    throw e;
                }
            }
        }
        return listen(seam, address, address);
    }

    private Descriptor listen(Syscalls seam, SocketAddress address, SocketAddress named) {
        return NativeSockets.listen(
                seam,
                address,
                named,
                backlog,
                socket -> prepareListener(seam, socket, address),
                socket -> admitOthers(seam, socket));
    }

    private static boolean isAllOfIpv4(SocketAddress address) {
        return SocketAddresses.family(address) == Linux.AF_INET
                && ((InetSocketAddress) address).getAddress().isAnyLocalAddress();
    }

    private static InetSocketAddress allOfIpv6(int port) {
        try {
            return new InetSocketAddress(InetAddress.getByAddress(new byte[16]), port);
        } catch (UnknownHostException e) {
            throw new AssertionError("sixteen bytes are an address", e);
        }
    }

    private void prepareListener(Syscalls seam, OpenDescriptor socket, SocketAddress address) {
        if (SocketAddresses.family(address) == Linux.AF_INET6) {
            // Always said: what holds otherwise is up to the system (net.ipv6.bindv6only).
            SocketOption.IPV6_V6ONLY.set(seam, socket, dualStack ? 0 : 1);
        }
        if (sharing == PortSharing.SHARED) {
            SocketOption.SO_REUSEPORT.set(seam, socket, 1);
        }
        apply(seam, socket, address);
    }

    /// Who binds without the option is refused if anybody listens there. Set behind that, it lets others in.
    private void admitOthers(Syscalls seam, OpenDescriptor socket) {
        if (sharing == PortSharing.SHARED_FIRST) {
            SocketOption.SO_REUSEPORT.set(seam, socket, 1);
        }
    }

    /// A socket that is not connected yet, of the sort that the address is.
    ///
    /// @throws SystemCallException if the kernel refuses
    OpenDescriptor stream(Syscalls seam, SocketAddress like) {
        OpenDescriptor socket = NativeSockets.stream(seam, like);
        try {
            apply(seam, socket, like);
            return socket;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    /// Sets a stream socket up. Buffers are to be set before it is connected: TCP agrees then on how large its
    /// window can grow.
    ///
    /// @param like an address of its sort
    void apply(Syscalls seam, OpenDescriptor socket, SocketAddress like) {
        if (options.sendBuffer() > 0) {
            SocketOption.SO_SNDBUF.set(seam, socket, options.sendBuffer());
        }
        if (options.receiveBuffer() > 0) {
            SocketOption.SO_RCVBUF.set(seam, socket, options.receiveBuffer());
        }
        if (SocketAddresses.family(like) == Linux.AF_UNIX) {
            return;
        }
        if (options.noDelay()) {
            SocketOption.TCP_NODELAY.set(seam, socket, 1);
        }
        KeepAlive keep = options.keepAlive();
        if (keep != null) {
            SocketOption.SO_KEEPALIVE.set(seam, socket, 1);
            SocketOption.TCP_KEEPIDLE.set(seam, socket, (int) keep.idle().toSeconds());
            SocketOption.TCP_KEEPINTVL.set(seam, socket, (int) keep.interval().toSeconds());
            SocketOption.TCP_KEEPCNT.set(seam, socket, keep.count());
        }
        if (!options.userTimeout().isZero()) {
            // A fraction of a millisecond is not nothing.
            int millis = (int) Math.max(1, options.userTimeout().toMillis());
            SocketOption.TCP_USER_TIMEOUT.set(seam, socket, millis);
        }
    }

    /// Has closing the socket drop what is not sent yet and tell the peer by a reset.
    public static void resetOnClose(Syscalls seam, OpenDescriptor socket) {
        SocketOption.resetOnClose(seam, socket);
    }
}
