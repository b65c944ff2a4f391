package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Tls;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/// The methods that an [HttpServer] and an [HttpServerGroup] have in common.
///
/// @param <S> the type of the receiver, for chaining
public interface BaseHttpServer<S extends BaseHttpServer<S>> extends Routes<S>, AutoCloseable {
    // ------------------------------------------------------------------ hosts, errors, health

    /// Adds routes for one virtual host. They take precedence over the server's own routes, which
    /// serve all hosts. If no host matches and the server has no other routes, requests get 421.
    ///
    /// ```java
    /// server.host("api.example.com", api -> api.get("/todos", this::todos))
    ///     .host("*.example.com", tenants -> tenants.get("/", this::tenant));
    /// ```
    ///
    /// @param name a host name without a port, in any case; `*.example.com` matches all its
    ///     subdomains. An exact name takes precedence over a wildcard, and a longer wildcard over a
    ///     shorter one
    /// @param routes adds to the host's group, called once before this method returns
    /// @throws IllegalArgumentException if the name is malformed
    S host(String name, Consumer<? super RouteGroup> routes);

    /// Sets the format of error responses that no error handler sends. Default
    /// [ErrorFormat#TEXT].
    S errorFormat(ErrorFormat format);

    /// Adds a health endpoint for load balancers. It responds with 200 and `{"status":"up"}`, and
    /// with 503 and `{"status":"draining"}` after a drain began. Without a
    /// [HttpConfig#drainDelay()] the server stops listening at once, so clients cannot see that
    /// response.
    S health(String path);

    /// Adds a health endpoint with a check. It also responds with 503, and `{"status":"down"}`, if
    /// the check throws, rejects, resolves to `false`, returns `null`, or takes more than 10
    /// seconds. The server logs the reason when the status changes.
    ///
    /// ```java
    /// server.health("/health", () -> loop.promisify(_ -> database.isReachable()));
    /// ```
    ///
    /// @param check called for each request, on the loop thread of the request
    S health(String path, Supplier<? extends Promise<?>> check);

    /// Adds a health endpoint with a check, as [#health(String, Supplier)].
    ///
    /// ```java
    /// server.health("/health", loop -> loop.promisify(_ -> database.isReachable()));
    /// ```
    ///
    /// @param check called for each request with its loop, on the loop thread
    S health(String path, Function<? super EventLoop, ? extends Promise<?>> check);

    /// Sets the mapper for [Response#json] and [Body#json(Class)]. Default
    /// [JsonMapper#writeOnly()].
    S jsonMapper(JsonMapper mapper);

    /// Changes [HttpConfig#idleTimeout] for connections accepted from now on.
    S idleTimeout(Duration timeout);

    // ------------------------------------------------------------------ listening

    /// Listens on a port of all local addresses.
    ///
    /// @param port 0 for one chosen by the system: see [#address()]
    /// @throws dev.gyre.SystemCallException if the port is in use or not permitted
    default S listen(int port) {
        return listen(new InetSocketAddress(port), ListenerConfig.DEFAULT);
    }

    /// Listens on a port of all local addresses, with TLS. Unless [Tls#withProtocols] sets other
    /// protocols, clients that use ALPN must offer `http/1.1` or `http/1.0`: others fail the
    /// handshake. Clients without ALPN are accepted.
    default S listen(int port, Tls tls) {
        return listen(new InetSocketAddress(port), ListenerConfig.DEFAULT.withTls(tls));
    }

    /// Listens on a port of one local address.
    ///
    /// @param host `0.0.0.0` for all IPv4 addresses, `localhost` for clients on this machine. A
    ///     name is resolved by the system, which may block
    /// @throws IllegalArgumentException if the host name cannot be resolved
    default S listen(String host, int port) {
        return listen(new InetSocketAddress(host, port), ListenerConfig.DEFAULT);
    }

    /// Listens on a port of one local address, with TLS as in [#listen(int, Tls)].
    default S listen(String host, int port, Tls tls) {
        return listen(new InetSocketAddress(host, port), ListenerConfig.DEFAULT.withTls(tls));
    }

    /// Listens on a TCP or Unix domain address. TLS is as in [#listen(int, Tls)]. The streams'
    /// write timeout is [HttpConfig#writeTimeout]. The server pauses reading from a client that
    /// does not read its responses.
    S listen(SocketAddress address, ListenerConfig config);

    /// Returns the address of the last listener, with the port that the system chose.
    ///
    /// @throws IllegalStateException if the server does not listen
    SocketAddress address();

    /// Returns the URI of [#address()] for a browser on this machine: `http://localhost:8080/`.
    ///
    /// @throws IllegalStateException if the server does not listen, or listens on a Unix domain
    ///     socket
    URI uri();

    /// Returns the number of open connections, WebSockets included.
    int connections();

    /// Returns the number of file requests that got 503 for lack of descriptors or workers. Any
    /// thread.
    long rejectedFileRequests();

    /// Stops listening and resets all connections. Any thread.
    @Override
    void close();
}
