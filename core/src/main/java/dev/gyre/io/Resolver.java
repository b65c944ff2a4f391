package dev.gyre.io;

import dev.gyre.internal.net.SystemResolver;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/// Resolves host names to addresses.
///
/// ```java
/// Resolver fixed = host -> List.of(InetAddress.getByName("192.0.2.7"));
/// ```
///
/// **Threads.** Called on the executor of [dev.gyre.LoopConfig#withExecutor], by default a virtual
/// thread per call. It may block. Several calls may run at once. A call that exceeds the connect
/// timeout is interrupted, and its result is ignored.
///
/// **Order.** Addresses are tried in the given order, but alternating between IPv6 and IPv4,
/// starting with the family of the first.
///
/// **Failure.** The connection fails with the exception that the resolver throws.
@FunctionalInterface
public interface Resolver {
    /// Resolves a host name.
    ///
    /// @return at least one address, the preferred one first; those after the 64th are ignored
    /// @throws UnknownHostException if the host has no address
    List<InetAddress> resolve(String host) throws UnknownHostException;

    /// Returns the system's resolver: [InetAddress#getAllByName]. IPv6 addresses are tried first,
    /// unless the system property `java.net.preferIPv6Addresses` is set.
    static Resolver system() {
        return SystemResolver.INSTANCE;
    }
}
