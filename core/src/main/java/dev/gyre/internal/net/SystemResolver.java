package dev.gyre.internal.net;

import dev.gyre.io.Resolver;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// Resolves names with the resolver of the system. Any thread.
public enum SystemResolver implements Resolver {
    INSTANCE;

    private static final String PREFERENCE = "java.net.preferIPv6Addresses";

    @Override
    public List<InetAddress> resolve(String host) throws UnknownHostException {
        InetAddress[] found = InetAddress.getAllByName(host);
        if (System.getProperty(PREFERENCE) != null) {
            return List.of(found);
        }
        // The JDK puts IPv4 first for programs that try only one address.
        Comparator<InetAddress> sixFirst =
                Comparator.comparing(address -> !(address instanceof Inet6Address));
        return Stream.of(found).sorted(sixFirst).toList();
    }
}
