package dev.gyre.internal.net;

import dev.gyre.SystemCallException;
import dev.gyre.internal.io.NewSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.SocketOption;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Seam;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.io.Descriptor;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;

/// How stream sockets are set up. What is of TCP is left out for Unix domain sockets.
///
/// A connection has the options of the listener that it was accepted from: Linux hands all of these on. So they are
/// set once, and accepting costs no further call.
///
/// Any thread.
///
/// @param noDelay whether small writes go out at once: who gathers writes has no use for a second gathering
/// @param keepAlive null for none
/// @param reusePort whether several may listen on one address and share what arrives
/// @param dualStack whether who listens on all addresses does so on those of IPv6 and IPv4
/// @param backlog how many connections may wait to be accepted; the system cuts it to what it allows
/// @param sendBufferBytes what the kernel buffers; zero leaves it to the system, which then adapts it
/// @param receiveBufferBytes the same
/// @param userTimeout how long what was sent may go unanswered before the connection is given up; zero for the
///     system's choice
public record SocketOptions(
        boolean noDelay,
        @Nullable KeepAlive keepAlive,
        boolean reusePort,
        boolean dualStack,
        int backlog,
        int sendBufferBytes,
        int receiveBufferBytes,
        Duration userTimeout) {

    public static final SocketOptions DEFAULTS =
            new SocketOptions(true, null, false, true, NewSockets.BACKLOG, 0, 0, Duration.ZERO);

    /// So that doubling it, as Linux does, overflows nothing.
    private static final int MOST_BUFFER_BYTES = 1 << 29;

    public SocketOptions {
        requireWithin("backlog", backlog, 1, Character.MAX_VALUE);
        requireWithin("sendBufferBytes", sendBufferBytes, 0, MOST_BUFFER_BYTES);
        requireWithin("receiveBufferBytes", receiveBufferBytes, 0, MOST_BUFFER_BYTES);
        if (userTimeout.isNegative()
                || userTimeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
            throw new IllegalArgumentException(
                    "userTimeout must be from zero to 24 days, but is " + userTimeout);
        }
    }

    private static void requireWithin(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    what + " must be from " + least + " to " + most + ", but is " + value);
        }
    }

    // ------------------------------------------------------------------ changing one

    public SocketOptions withNoDelay(boolean on) {
        return new SocketOptions(
                on,
                keepAlive,
                reusePort,
                dualStack,
                backlog,
                sendBufferBytes,
                receiveBufferBytes,
                userTimeout);
    }

    public SocketOptions withKeepAlive(@Nullable KeepAlive how) {
        return new SocketOptions(
                noDelay,
                how,
                reusePort,
                dualStack,
                backlog,
                sendBufferBytes,
                receiveBufferBytes,
                userTimeout);
    }

    public SocketOptions withReusePort(boolean on) {
        return new SocketOptions(
                noDelay,
                keepAlive,
                on,
                dualStack,
                backlog,
                sendBufferBytes,
                receiveBufferBytes,
                userTimeout);
    }

    public SocketOptions withDualStack(boolean on) {
        return new SocketOptions(
                noDelay,
                keepAlive,
                reusePort,
                on,
                backlog,
                sendBufferBytes,
                receiveBufferBytes,
                userTimeout);
    }

    public SocketOptions withBacklog(int connections) {
        return new SocketOptions(
                noDelay,
                keepAlive,
                reusePort,
                dualStack,
                connections,
                sendBufferBytes,
                receiveBufferBytes,
                userTimeout);
    }

    public SocketOptions withBuffers(int sendBytes, int receiveBytes) {
        return new SocketOptions(
                noDelay,
                keepAlive,
                reusePort,
                dualStack,
                backlog,
                sendBytes,
                receiveBytes,
                userTimeout);
    }

    public SocketOptions withUserTimeout(Duration timeout) {
        return new SocketOptions(
                noDelay,
                keepAlive,
                reusePort,
                dualStack,
                backlog,
                sendBufferBytes,
                receiveBufferBytes,
                timeout);
    }

    // ------------------------------------------------------------------ sockets of the sort

    /// A socket that listens. On all addresses of IPv4 means on all there are, as the JDK has it too, unless
    /// dual stack is off or the kernel has no IPv6.
    ///
    /// @throws SystemCallException if the address is taken, not allowed or not of this machine
    public Descriptor listen(Seam seam, SocketAddress address) {
        if (reusePort && address instanceof UnixDomainSocketAddress) {
            throw new IllegalArgumentException(
                    "reusePort is for ports: only one can listen on " + address);
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

    private Descriptor listen(Seam seam, SocketAddress address, SocketAddress named) {
        return NewSockets.listen(
                seam, address, named, backlog, socket -> prepareListener(seam, socket, address));
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

    private void prepareListener(Seam seam, OpenDescriptor socket, SocketAddress address) {
        if (SocketAddresses.family(address) == Linux.AF_INET6) {
            // Always said: what holds otherwise is up to the system (net.ipv6.bindv6only).
            SocketOption.IPV6_V6ONLY.set(seam, socket, dualStack ? 0 : 1);
        }
        if (reusePort) {
            SocketOption.SO_REUSEPORT.set(seam, socket, 1);
        }
        apply(seam, socket, address);
    }

    /// A socket that is not connected yet, of the sort that the address is.
    ///
    /// @throws SystemCallException if the kernel refuses
    public OpenDescriptor stream(Seam seam, SocketAddress like) {
        OpenDescriptor socket = NewSockets.stream(seam, like);
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
    public void apply(Seam seam, OpenDescriptor socket, SocketAddress like) {
        if (sendBufferBytes > 0) {
            SocketOption.SO_SNDBUF.set(seam, socket, sendBufferBytes);
        }
        if (receiveBufferBytes > 0) {
            SocketOption.SO_RCVBUF.set(seam, socket, receiveBufferBytes);
        }
        if (SocketAddresses.family(like) == Linux.AF_UNIX) {
            return;
        }
        if (noDelay) {
            SocketOption.TCP_NODELAY.set(seam, socket, 1);
        }
        KeepAlive keep = keepAlive;
        if (keep != null) {
            SocketOption.SO_KEEPALIVE.set(seam, socket, 1);
            SocketOption.TCP_KEEPIDLE.set(seam, socket, (int) keep.idle().toSeconds());
            SocketOption.TCP_KEEPINTVL.set(seam, socket, (int) keep.interval().toSeconds());
            SocketOption.TCP_KEEPCNT.set(seam, socket, keep.count());
        }
        if (!userTimeout.isZero()) {
            // A fraction of a millisecond is not nothing.
            int millis = (int) Math.max(1, userTimeout.toMillis());
            SocketOption.TCP_USER_TIMEOUT.set(seam, socket, millis);
        }
    }

    /// Has closing the socket drop what is not sent yet and tell the peer by a reset.
    public static void resetOnClose(Seam seam, OpenDescriptor socket) {
        SocketOption.resetOnClose(seam, socket);
    }
}
