package dev.gyre.internal.sys;

import static dev.gyre.internal.sys.Linux.AF_INET;
import static dev.gyre.internal.sys.Linux.AF_INET6;
import static dev.gyre.internal.sys.Linux.AF_UNIX;
import static dev.gyre.internal.sys.Linux.OFFSETOF_SOCKADDR_IN6_ADDRESS;
import static dev.gyre.internal.sys.Linux.OFFSETOF_SOCKADDR_IN6_SCOPE;
import static dev.gyre.internal.sys.Linux.OFFSETOF_SOCKADDR_IN_ADDRESS;
import static dev.gyre.internal.sys.Linux.OFFSETOF_SOCKADDR_PORT;
import static dev.gyre.internal.sys.Linux.OFFSETOF_SOCKADDR_UN_PATH;
import static dev.gyre.internal.sys.Linux.SIZEOF_SOCKADDR_IN;
import static dev.gyre.internal.sys.Linux.SIZEOF_SOCKADDR_IN6;
import static dev.gyre.internal.sys.Linux.SIZEOF_SOCKADDR_UN_PATH;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Encodes and decodes socket addresses in the layout of Linux.
public final class SocketAddresses {
    /// The prefix of IPv4-mapped IPv6 addresses.
    private static final byte[] MAPPED = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1};

    private SocketAddresses() {}

    /// Returns the `AF_` constant of an address.
    ///
    /// @throws IllegalArgumentException if the address is unresolved or of an unsupported kind
    public static int family(SocketAddress address) {
        if (address instanceof UnixDomainSocketAddress) {
            return AF_UNIX;
        }
        if (!(address instanceof InetSocketAddress internet)) {
            throw new IllegalArgumentException(
                    "neither an internet nor a Unix domain address: " + address);
        }
        if (internet.getAddress() == null) {
            throw new IllegalArgumentException(
                    internet + " is not resolved: resolve the name first");
        }
        return internet.getAddress() instanceof Inet6Address ? AF_INET6 : AF_INET;
    }

    /// Writes a `sockaddr` and returns its length.
    ///
    /// @param memory at least `SIZEOF_SOCKADDR_STORAGE` bytes
    /// @return the length of the address
    public static int encode(SocketAddress address, NativeBytes memory) {
        int family = family(address);
        Memory.putInt(memory.address(), family); // Also clears the port, which follows.
        if (address instanceof InetSocketAddress internet) {
            return encode(internet, memory);
        }
        byte[] path = path((UnixDomainSocketAddress) address);
        memory.put(OFFSETOF_SOCKADDR_UN_PATH, path, 0, path.length);
        memory.put(OFFSETOF_SOCKADDR_UN_PATH + path.length, (byte) 0);
        return OFFSETOF_SOCKADDR_UN_PATH + path.length + 1;
    }

    /// Checks that [#encode] accepts an address.
    ///
    /// @throws IllegalArgumentException if the address is unresolved, of an unsupported kind, or
    ///     too long
    public static void requireEncodable(SocketAddress address) {
        if (family(address) == AF_UNIX) {
            int _ = path((UnixDomainSocketAddress) address).length;
        }
    }

    private static byte[] path(UnixDomainSocketAddress address) {
        byte[] path = address.getPath().toString().getBytes(StandardCharsets.UTF_8);
        if (path.length >= SIZEOF_SOCKADDR_UN_PATH) {
            throw new IllegalArgumentException(
                    "a Unix domain path has at most "
                            + (SIZEOF_SOCKADDR_UN_PATH - 1)
                            + " bytes, but "
                            + address
                            + " has "
                            + path.length
                            + ": choose a shorter one");
        }
        return path;
    }

    private static int encode(InetSocketAddress address, NativeBytes memory) {
        memory.putShort(OFFSETOF_SOCKADDR_PORT, (short) address.getPort());
        byte[] bytes = address.getAddress().getAddress();
        if (address.getAddress() instanceof Inet6Address six) {
            Memory.putInt(memory.address() + Integer.BYTES, 0); // No flow label.
            memory.put(OFFSETOF_SOCKADDR_IN6_ADDRESS, bytes, 0, bytes.length);
            Memory.putInt(memory.address() + OFFSETOF_SOCKADDR_IN6_SCOPE, six.getScopeId());
            return SIZEOF_SOCKADDR_IN6;
        }
        memory.put(OFFSETOF_SOCKADDR_IN_ADDRESS, bytes, 0, bytes.length);
        return SIZEOF_SOCKADDR_IN;
    }

    /// Writes an address for a socket of that family: for IPv6 an IPv4 address is mapped.
    ///
    /// @return the length of the address
    /// @throws IllegalArgumentException if a socket of that family cannot reach the address
    public static int encodeFor(int socketFamily, SocketAddress address, NativeBytes memory) {
        int family = family(address);
        if (socketFamily == AF_INET6 && family == AF_INET) {
            InetSocketAddress internet = (InetSocketAddress) address;
            encode(internet, memory); // For the port.
            Memory.putInt(memory.address() + Integer.BYTES, 0);
            memory.put(0, (byte) AF_INET6);
            memory.put(OFFSETOF_SOCKADDR_IN6_ADDRESS, MAPPED, 0, MAPPED.length);
            byte[] bytes = internet.getAddress().getAddress();
            memory.put(OFFSETOF_SOCKADDR_IN6_ADDRESS + MAPPED.length, bytes, 0, bytes.length);
            Memory.putInt(memory.address() + OFFSETOF_SOCKADDR_IN6_SCOPE, 0);
            return SIZEOF_SOCKADDR_IN6;
        }
        if (family != socketFamily) {
            throw new IllegalArgumentException(
                    "a socket of "
                            + name(socketFamily)
                            + " cannot reach "
                            + address
                            + ", which is of "
                            + name(family));
        }
        return encode(address, memory);
    }

    private static String name(int family) {
        return switch (family) {
            case AF_INET -> "IPv4";
            case AF_INET6 -> "IPv6";
            default -> "the Unix domain";
        };
    }

    /// Reads an address. An unnamed Unix socket has an empty path.
    ///
    /// @throws IllegalArgumentException if the family is unsupported
    public static SocketAddress decode(NativeBytes memory, int length) {
        int family = length < 2 ? AF_UNIX : Memory.getInt(memory.address()) & 0xffff;
        return switch (family) {
            case AF_INET -> internet(memory, OFFSETOF_SOCKADDR_IN_ADDRESS, 4);
            case AF_INET6 -> internet(memory, OFFSETOF_SOCKADDR_IN6_ADDRESS, 16);
            case AF_UNIX -> unix(memory, length);
            default -> throw new IllegalArgumentException("unknown address family " + family);
        };
    }

    private static InetSocketAddress internet(NativeBytes memory, int at, int length) {
        byte[] bytes = new byte[length];
        memory.get(at, bytes, 0, length);
        int port = memory.getShort(OFFSETOF_SOCKADDR_PORT) & 0xffff;
        return new InetSocketAddress(address(memory, bytes), port);
    }

    private static InetAddress address(NativeBytes memory, byte[] bytes) {
        try {
            if (bytes.length == 4) {
                return Inet4Address.getByAddress(bytes);
            }
            int scope = Memory.getInt(memory.address() + OFFSETOF_SOCKADDR_IN6_SCOPE);
            return scope == 0
                    ? InetAddress.getByAddress(bytes)
                    : Inet6Address.getByAddress(null, bytes, scope);
        } catch (UnknownHostException e) {
            throw new AssertionError("four or sixteen bytes are an address", e);
        }
    }

    private static UnixDomainSocketAddress unix(NativeBytes memory, int length) {
        byte[] path = new byte[Math.max(0, length - OFFSETOF_SOCKADDR_UN_PATH)];
        memory.get(OFFSETOF_SOCKADDR_UN_PATH, path, 0, path.length);
        int end = 0;
        while (end < path.length && path[end] != 0) {
            end++;
        }
        return UnixDomainSocketAddress.of(
                new String(Arrays.copyOf(path, end), StandardCharsets.UTF_8));
    }

    /// Formats an address for operators: `127.0.0.1:80`, `[::1]:80`, or the path of a Unix domain
    /// socket. Performs no name lookup.
    public static String format(SocketAddress address) {
        if (!(address instanceof InetSocketAddress internet)) {
            String path = address.toString();
            return path.isEmpty() ? "a Unix domain socket" : path;
        }
        InetAddress ip = internet.getAddress();
        String host = ip == null ? internet.getHostString() : ip.getHostAddress();
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + internet.getPort();
    }
}
