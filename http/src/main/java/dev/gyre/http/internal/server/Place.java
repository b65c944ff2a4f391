package dev.gyre.http.internal.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URISyntaxException;

/// Where a server listens, as those on its machine find it.
final class Place {
    private Place() {}

    /// @throws IllegalStateException if there is no such thing for the address
    static URI uri(SocketAddress address, boolean secure) {
        if (!(address instanceof InetSocketAddress internet)) {
            throw new IllegalStateException(
                    "there is no URI for "
                            + address
                            + ": only for TCP, where address() has a port");
        }
        InetAddress host = internet.getAddress();
        boolean here = host.isAnyLocalAddress() || host.getHostAddress().equals("127.0.0.1");
        try {
            return new URI(
                    secure ? "https" : "http",
                    null,
                    here ? "localhost" : host.getHostAddress(),
                    internet.getPort(),
                    "/",
                    null,
                    null);
        } catch (URISyntaxException e) {
            throw new IllegalStateException("there is no URI for " + address, e);
        }
    }
}
