package dev.gyre.testkit.internal;

import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.Memory;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/// A socket address and its layout in memory.
sealed interface Address {
    /// An Internet address.
    ///
    /// @param host the bytes in hexadecimal: 8 digits for IPv4, 32 for IPv6
    record Inet(String host, int port) implements Address {
        private static final String MAPPED = "00000000000000000000ffff";

        static final String LOOPBACK = "7f000001";
        static final String ANY = "00000000";
        static final String ANY6 = "0".repeat(32);
        static final String LOOPBACK6 = "0".repeat(31) + "1";

        boolean isV6() {
            return host.length() == 32;
        }

        boolean isAny() {
            return host.equals(ANY) || host.equals(ANY6);
        }

        /// Returns whether the address is local.
        boolean isLocal() {
            String plain = unmapped().host;
            return isAny()
                    || plain.equals(ANY)
                    || plain.equals(LOOPBACK6)
                    || (plain.length() == 8 && plain.startsWith("7f"));
        }

        /// Returns the IPv4 address of an IPv4-mapped IPv6 address; otherwise this.
        Inet unmapped() {
            return host.startsWith(MAPPED) && isV6() ? new Inet(host.substring(24), port) : this;
        }

        /// Returns the address as a socket of that family reports it.
        Inet shownTo(int domain) {
            return domain == Linux.AF_INET6 && !isV6() ? new Inet(MAPPED + host, port) : unmapped();
        }

        Inet withPort(int other) {
            return new Inet(host, other);
        }

        Inet withHost(String other) {
            return new Inet(other, port);
        }

        @Override
        public byte[] encoded() {
            byte[] bytes = HexFormat.of().parseHex(host);
            boolean v6 = isV6();
            byte[] encoded = new byte[v6 ? Linux.SIZEOF_SOCKADDR_IN6 : Linux.SIZEOF_SOCKADDR_IN];
            encoded[0] = (byte) (v6 ? Linux.AF_INET6 : Linux.AF_INET);
            encoded[Linux.OFFSETOF_SOCKADDR_PORT] = (byte) (port >>> 8);
            encoded[Linux.OFFSETOF_SOCKADDR_PORT + 1] = (byte) port;
            int at = v6 ? Linux.OFFSETOF_SOCKADDR_IN6_ADDRESS : Linux.OFFSETOF_SOCKADDR_IN_ADDRESS;
            System.arraycopy(bytes, 0, encoded, at, bytes.length);
            return encoded;
        }

        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    /// A Unix socket address; empty if unnamed.
    record Local(String path) implements Address {
        @Override
        public byte[] encoded() {
            byte[] name = path.getBytes(StandardCharsets.ISO_8859_1);
            boolean terminated = name.length > 0 && name[0] != 0;
            int at = Linux.OFFSETOF_SOCKADDR_UN_PATH;
            byte[] encoded = new byte[at + name.length + (terminated ? 1 : 0)];
            encoded[0] = (byte) Linux.AF_UNIX;
            System.arraycopy(name, 0, encoded, at, name.length);
            return encoded;
        }

        @Override
        public String toString() {
            return "unix:" + path.replace('\0', '@');
        }
    }

    byte[] encoded();

    /// Stores the address, truncated to the caller's buffer. The stored length is the full one.
    default int store(long address, long lengthAddress) {
        if (address == 0 || lengthAddress == 0) {
            return 0;
        }
        byte[] bytes = encoded();
        int room = Memory.getInt(lengthAddress);
        if (room < 0) {
            return -Errno.EINVAL;
        }
        Memory.putBytes(address, bytes, 0, Math.min(room, bytes.length));
        Memory.putInt(lengthAddress, bytes.length);
        return 0;
    }

    /// Reads an address from memory; `null` if the family is unknown.
    static @Nullable Address load(long address, int length) {
        if (length < 2) {
            return null;
        }
        byte[] bytes = new byte[length];
        Memory.getBytes(address, bytes, 0, length);
        int port = length < 4 ? 0 : (bytes[2] & 0xff) << 8 | (bytes[3] & 0xff);
        return switch (bytes[0]) {
            case Linux.AF_INET ->
                    length < Linux.SIZEOF_SOCKADDR_IN ? null : new Inet(hex(bytes, 4, 4), port);
            case Linux.AF_INET6 ->
                    length < Linux.SIZEOF_SOCKADDR_IN6 ? null : new Inet(hex(bytes, 8, 16), port);
            case Linux.AF_UNIX -> new Local(path(bytes));
            default -> null;
        };
    }

    private static String hex(byte[] bytes, int from, int length) {
        return HexFormat.of().formatHex(bytes, from, from + length);
    }

    private static String path(byte[] bytes) {
        int from = Linux.OFFSETOF_SOCKADDR_UN_PATH;
        int to = from;
        boolean isAbstract = bytes.length > from && bytes[from] == 0;
        while (to < bytes.length && (isAbstract || bytes[to] != 0)) {
            to++;
        }
        return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
    }
}
