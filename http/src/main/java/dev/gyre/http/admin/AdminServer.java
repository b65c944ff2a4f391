package dev.gyre.http.admin;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpMetrics;
import dev.gyre.http.HttpServer;
import dev.gyre.http.internal.admin.AdminRoutes;
import dev.gyre.http.internal.admin.AdminSources;
import dev.gyre.io.ListenerConfig;
import dev.gyre.metrics.Trace;
import dev.gyre.metrics.Watchdog;

import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// Serves metrics, connections, stalls and traces of loops to operators, on a separate address.
///
/// ```java
/// var admin = AdminServer.of(group)
///         .metrics(metrics)
///         .watchdog(Watchdog.on(group, Duration.ofSeconds(1)))
///         .listen(new InetSocketAddress("127.0.0.1", 9090));
/// ```
///
/// | request | response |
/// |---|---|
/// | `GET /` | the dashboard |
/// | `GET /metrics` | Prometheus text: see [dev.gyre.http.PrometheusText] |
/// | `GET /loops` | JSON: figures of each loop, and what it runs |
/// | `GET /connections` | JSON: open connections; see below |
/// | `GET /connections/{id}` | JSON: one connection |
/// | `GET /stalls` | JSON: recent stalls with their stacks |
/// | `GET /trace` | recorded events; parameters `format`, `connection`, `limit` |
/// | `POST /trace` | starts a trace; form field `connection`, `peer`, `route` or `all` |
/// | `DELETE /trace` | stops the trace |
/// | `GET /health` | JSON: `up`, or 503 with `draining` or `down` |
///
/// **Isolation.** It runs on a loop and a daemon thread of its own, with limits of its own: 64
/// connections, short timeouts, small bodies. A stalled loop cannot block it. Only listing
/// connections runs on the watched loops, at most 256 connections per tick. A list is at most one
/// second old: requests in that time share it.
///
/// **Connections.** Parameters are `loop`, `state`, `peer`, `activity`, `q`, `sort` and `limit`.
/// `q` selects connections whose id, peer, loop, state or activity contains the text. `total`
/// counts the selected ones. `states` counts all connections of the listed loops.
///
/// **Trace.** `format` is `text` or `json`. The response has the newest events, 1 000 by default;
/// in JSON, `total` is the number of all recorded ones. A trace started by `POST` stops after 60
/// seconds without `GET /trace`.
///
/// **Access.** It has no authentication. It listens on loopback addresses and Unix domain sockets
/// only, unless [#allowRemote()] is set, and requires a local `Host` header, so that pages of other
/// sites cannot read it by DNS rebinding. Requests that change anything need the header
/// `X-Gyre-Admin: 1`, which such pages cannot send. Requests that a browser marks as sent by
/// another site are rejected, except a link to the dashboard.
///
/// **Threads.** Configure it on one thread before [#listen]. [#address()] and [#close()] may be
/// called on any thread.
public final class AdminServer implements AutoCloseable {
    private static final int MAX_CONNECTIONS = 64;
    private static final int MAX_BODY = 16 << 10;
    private static final long BUFFER_MEMORY = 16 << 20;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(60);

    private final Supplier<List<EventLoop>> loops;
    private final Trace trace;
    private final BooleanSupplier draining;

    // Shared: set by the configuring thread before the loop starts.
    private @Nullable HttpMetrics metrics;
    private @Nullable Watchdog watchdog;
    private boolean remote;

    // Shared: set once, by listen() and close().
    private volatile @Nullable HttpServer server;
    private final AtomicBoolean closed = new AtomicBoolean();

    private AdminServer(Supplier<List<EventLoop>> loops, Trace trace, BooleanSupplier draining) {
        this.loops = loops;
        this.trace = trace;
        this.draining = draining;
    }

    /// Returns a server that shows the loops of a group. It does not listen yet.
    ///
    /// @throws IllegalStateException if the group is shutting down or has terminated
    public static AdminServer of(LoopGroup group) {
        CompletableFuture<?> drain = new CompletableFuture<>();
        group.onShutdown(
                _ -> {
                    drain.complete(null);
                    return drain;
                });
        return new AdminServer(group::loops, group.trace(), drain::isDone);
    }

    /// Returns a server that shows one loop. It does not listen yet.
    public static AdminServer of(EventLoop loop) {
        List<EventLoop> only = List.of(loop);
        return new AdminServer(() -> only, loop.trace(), () -> loop.state().isShuttingDown());
    }

    /// Shows these metrics of HTTP too.
    ///
    /// @return this server
    public AdminServer metrics(HttpMetrics added) {
        requireNotListening();
        metrics = Objects.requireNonNull(added, "metrics");
        return this;
    }

    /// Shows the stalls that a watchdog has detected.
    ///
    /// @return this server
    public AdminServer watchdog(Watchdog added) {
        requireNotListening();
        watchdog = Objects.requireNonNull(added, "watchdog");
        return this;
    }

    /// Allows addresses that other machines can reach, and any `Host` header. Everyone who can
    /// connect can then read all metrics, peers and stacks, and start traces: restrict the access
    /// by other means.
    ///
    /// @return this server
    public AdminServer allowRemote() {
        requireNotListening();
        remote = true;
        return this;
    }

    private void requireNotListening() {
        if (server != null) {
            throw new IllegalStateException(
                    "the admin server is already listening: configure it before listen()");
        }
    }

    /// Starts the server on a TCP or Unix domain address.
    ///
    /// @param address port 0 for one chosen by the system: see [#address()]
    /// @return this server
    /// @throws IllegalArgumentException if other machines can reach the address, without
    ///     [#allowRemote()]
    /// @throws IllegalStateException if it was started before
    /// @throws dev.gyre.SystemCallException if the address is in use or not permitted
    public AdminServer listen(SocketAddress address) {
        requireNotListening();
        if (!remote && address instanceof InetSocketAddress tcp && !isLoopback(tcp)) {
            throw new IllegalArgumentException(
                    "other machines can reach "
                            + address
                            + ": use 127.0.0.1, ::1 or a Unix domain socket, or call"
                            + " allowRemote()");
        }
        EventLoop loop =
                EventLoop.open(
                        LoopConfig.DEFAULT.withName("gyre-admin").withBufferMemory(BUFFER_MEMORY));
        try {
            HttpServer created = HttpServer.on(loop, config());
            boolean checksHost = !remote && address instanceof InetSocketAddress;
            AdminRoutes.addTo(
                    created,
                    new AdminSources(loops, trace, draining, metrics, watchdog),
                    checksHost);
            created.listen(address, ListenerConfig.DEFAULT.withMaxConnections(MAX_CONNECTIONS));
            Thread.ofPlatform().name("gyre-admin").daemon().start(loop::run);
            server = created;
        } catch (Throwable e) {
            loop.close();
            throw e;
        }
        return this;
    }

    private static boolean isLoopback(InetSocketAddress address) {
        return address.getAddress() != null && address.getAddress().isLoopbackAddress();
    }

    private static HttpConfig config() {
        return HttpConfig.DEFAULT
                .withMaxBody(MAX_BODY)
                .withHeaderTimeout(TIMEOUT)
                .withBodyTimeout(TIMEOUT, 1 << 10)
                .withWriteTimeout(TIMEOUT)
                .withIdleTimeout(IDLE_TIMEOUT);
    }

    private HttpServer listening() {
        HttpServer known = server;
        if (known == null) {
            throw new IllegalStateException("the admin server does not listen: call listen first");
        }
        return known;
    }

    /// Returns the address, with the port that the system chose.
    ///
    /// @throws IllegalStateException if the server does not listen
    public SocketAddress address() {
        return listening().address();
    }

    /// Returns the URI of the dashboard for a browser on this machine.
    ///
    /// @throws IllegalStateException if the server does not listen, or listens on a Unix domain
    ///     socket
    public URI uri() {
        return listening().uri();
    }

    /// Stops listening, resets all connections, and waits until its loop has terminated. The
    /// watched loops run on. Further calls have no effect.
    @Override
    public void close() {
        HttpServer known = server;
        if (known != null && !closed.getAndSet(true)) {
            known.close();
            known.loop().shutdown(CLOSE_TIMEOUT).toCompletableFuture().join();
        }
    }
}
