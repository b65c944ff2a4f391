package dev.gyre.http.internal.server;

import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// The addresses of proxies whose forwarding headers count. Immutable.
public final class TrustedProxies {
    private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");
    private static final Pattern IPV6 = Pattern.compile("[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*");
    private static final String UNIX = "unix";

    /// @param network of 4 or 16 bytes
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Range(byte[] network, int bits) {
        boolean contains(byte[] address) {
            if (address.length != network.length) {
                return false;
            }
            int whole = bits / 8;
            for (int i = 0; i < whole; i++) {
                if (address[i] != network[i]) {
                    return false;
                }
            }
            int mask = (0xff << (8 - bits % 8)) & 0xff;
            return mask == 0 || ((address[whole] ^ network[whole]) & mask) == 0;
        }
    }

    private final List<Range> ranges = new ArrayList<>();
    private boolean unix;

    /// @param texts addresses, CIDR ranges, and `unix` for Unix domain sockets
    /// @throws IllegalArgumentException if one of them is malformed
    public TrustedProxies(List<String> texts) {
        for (String text : texts) {
            if (text.equals(UNIX)) {
                unix = true;
            } else {
                ranges.add(range(text));
            }
        }
    }

    private static Range range(String text) {
        int slash = text.indexOf('/');
        InetAddress address = address(slash < 0 ? text : text.substring(0, slash));
        if (address != null) {
            byte[] network = address.getAddress();
            int max = network.length * 8;
            String bits = slash < 0 ? "" + max : text.substring(slash + 1);
            if (bits.matches("\\d{1,3}") && Integer.parseInt(bits) <= max) {
                return new Range(network, Integer.parseInt(bits));
            }
        }
        throw new IllegalArgumentException(
                "a trusted proxy must be an address such as 10.0.0.7, a range such as 10.0.0.0/8"
                        + " or fd00::/8, or unix, but is "
                        + text);
    }

    boolean contains(SocketAddress address) {
        return switch (address) {
            case InetSocketAddress internet -> {
                InetAddress known = internet.getAddress();
                byte[] bytes = known == null ? new byte[0] : known.getAddress();
                yield ranges.stream().anyMatch(range -> range.contains(bytes));
            }
            case UnixDomainSocketAddress _ -> unix;
            default -> false;
        };
    }

    /// Parses an IP address, without a name lookup.
    ///
    /// @return `null` if it is malformed
    static @Nullable InetAddress address(String text) {
        if (!IPV4.matcher(text).matches() && !IPV6.matcher(text).matches()) {
            return null;
        }
        try {
            return InetAddress.ofLiteral(text);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
