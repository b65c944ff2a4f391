package dev.gyre.internal.net;

import dev.gyre.internal.io.MessageExchange;
import dev.gyre.internal.io.NativeSockets;
import dev.gyre.internal.io.OpenDescriptor;
import dev.gyre.internal.io.SocketOption;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.SocketAddresses;
import dev.gyre.internal.sys.Syscalls;
import dev.gyre.io.DatagramConfig;

import java.net.SocketAddress;

/// Makes datagram sockets as their configuration says, and what they share.
final class DatagramSetup {
    private DatagramSetup() {}

    static OpenDescriptor open(Syscalls seam, SocketAddress address, DatagramConfig config) {
        int family = SocketAddresses.family(address);
        if (config.reusePort() && family == Linux.AF_UNIX) {
            throw new IllegalArgumentException(
                    "reusePort is for ports: only one can be bound to " + address);
        }
        return NativeSockets.datagram(
                seam, address, socket -> prepare(seam, socket, family, config));
    }

    private static void prepare(
            Syscalls seam, OpenDescriptor socket, int family, DatagramConfig config) {
        if (family == Linux.AF_INET6) {
            // Always said: what holds otherwise is up to the system (net.ipv6.bindv6only).
            SocketOption.IPV6_V6ONLY.set(seam, socket, 0);
        }
        if (config.reusePort()) {
            SocketOption.SO_REUSEPORT.set(seam, socket, 1);
        }
        if (config.broadcast()) {
            SocketOption.SO_BROADCAST.set(seam, socket, 1);
        }
        if (config.receiveBufferBytes() > 0) {
            SocketOption.SO_RCVBUF.set(seam, socket, config.receiveBufferBytes());
        }
        if (config.sendBufferBytes() > 0) {
            SocketOption.SO_SNDBUF.set(seam, socket, config.sendBufferBytes());
        }
    }

    /// The exchange of a loop. There is one as soon as it is asked for.
    static MessageExchange exchangeOf(Loop loop) {
        MessageExchange known = loop.owned(MessageExchange.class);
        if (known != null) {
            return known;
        }
        MessageExchange fresh = new MessageExchange(loop.operations().seam());
        loop.own(fresh);
        return fresh;
    }
}
