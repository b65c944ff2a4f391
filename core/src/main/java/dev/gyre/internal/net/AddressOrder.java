package dev.gyre.internal.net;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/// In which order the addresses of a host are tried.
final class AddressOrder {
    /// With more than this, somebody else's mistake would keep us busy.
    static final int MOST_ADDRESSES = 64;

    private AddressOrder() {}

    /// Those of the two families in turn, beginning with the family of the first, so that one that leads nowhere
    /// costs one attempt and not all of its addresses (RFC 8305, section 4).
    static List<SocketAddress> interleaved(List<InetAddress> found, int port) {
        Deque<InetAddress> same = new ArrayDeque<>();
        Deque<InetAddress> other = new ArrayDeque<>();
        boolean six = !found.isEmpty() && found.getFirst() instanceof Inet6Address;
        for (InetAddress address : found) {
            (address instanceof Inet6Address == six ? same : other).add(address);
        }
        List<SocketAddress> ordered = new ArrayList<>();
        while (ordered.size() < MOST_ADDRESSES && !(same.isEmpty() && other.isEmpty())) {
            for (Deque<InetAddress> family : List.of(same, other)) {
                InetAddress next = family.poll();
                if (next != null && ordered.size() < MOST_ADDRESSES) {
                    ordered.add(new InetSocketAddress(next, port));
                }
            }
        }
        return ordered;
    }
}
