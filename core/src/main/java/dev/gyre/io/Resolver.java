package dev.gyre.io;

import dev.gyre.internal.net.SystemResolver;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/// Finds the addresses of a host name.
///
/// ```java
/// Resolver fixed = host -> List.of(InetAddress.getByName("192.0.2.7"));
/// ```
///
/// **Threads.** Called outside the loop, on the executor of [dev.gyre.LoopConfig#withExecutor], which by default means on a virtual
/// thread of its own. It may block, and several calls may be under way at once. Whoever has waited long enough interrupts it, and
/// drops what it still comes to.
///
/// **Order.** Addresses are tried in the order they are given, but those of IPv6 and IPv4 in turn, beginning with the sort
/// of the first.
///
/// **Failure.** What it throws is what the connection fails with.
@FunctionalInterface
public interface Resolver {
    /// The addresses of a host.
    ///
    /// @return at least one, the best first; of more than 64 the rest is left out
    /// @throws UnknownHostException if there are none
    List<InetAddress> resolve(String host) throws UnknownHostException;

    /// The one of the system, as the JDK asks it: [InetAddress#getAllByName]. IPv6 goes first, unless the system
    /// property `java.net.preferIPv6Addresses` says what to do.
    static Resolver system() {
        return SystemResolver.INSTANCE;
    }
}
