package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.Promise;
import dev.gyre.http.internal.server.GroupServer;
import dev.gyre.http.internal.server.LoopServer;

import org.jspecify.annotations.Nullable;

import java.time.Duration;

/// An HTTP/1.1 server on an event loop.
///
/// ```java
/// HttpServer.on(loop)
///     .get("/", (request, response) -> response.text("Hello, World!"))
///     .get("/users/{id}",
///         (request, response) -> users.find(request.pathLong("id")).then(response::json))
///     .blockingPost("/report", (request, response) -> response.send(slowReport(request.body())))
///     .webSocket("/chat", socket -> { group.add(socket); socket.onText(group::broadcast); })
///     .files("/static", Path.of("site"))
///     .health("/health")
///     .listen(8080);
/// ```
///
/// Routes, groups, middleware and error handlers are documented in [Routes] and [Middleware]. All
/// methods that configure the server return it.
///
/// **Pipelining.** The server handles the requests of a connection one at a time, in order.
///
/// **Failure.** A malformed request gets the matching 4xx or 5xx status, and its connection is
/// closed. A failed handler affects its own request only: see [Routes#onError] and [#errorFormat].
///
/// **Threads.** Loop thread only, or any single thread while no thread runs the loop. [#close()]
/// from any thread.
public interface HttpServer extends BaseHttpServer<HttpServer> {
    /// Creates a server with [HttpConfig#DEFAULT].
    static HttpServer on(EventLoop loop) {
        return on(loop, HttpConfig.DEFAULT);
    }

    /// Creates a server.
    static HttpServer on(EventLoop loop, HttpConfig config) {
        return new LoopServer(loop, config);
    }

    /// Creates one server for all loops of a group, with [HttpConfig#DEFAULT].
    static HttpServerGroup on(LoopGroup group) {
        return on(group, HttpConfig.DEFAULT);
    }

    /// Creates one server for all loops of a group.
    ///
    /// @throws IllegalStateException on a loop thread of the group, or if the group has
    ///     terminated
    static HttpServerGroup on(LoopGroup group, HttpConfig config) {
        return new GroupServer(group, config);
    }

    /// Returns the loop that the server runs on. Any thread.
    EventLoop loop();

    /// Returns the number of connections in use: by an incomplete request, a response in progress,
    /// or a WebSocket.
    int activeConnections();

    // ------------------------------------------------------------------ shutdown

    /// Shuts down gracefully. Health endpoints respond with 503 from now on. After
    /// [HttpConfig#drainDelay()] the server stops listening and closes idle connections. It
    /// completes requests in progress with `Connection: close`, ends event streams, and closes
    /// WebSockets with 1001.
    ///
    /// @param deadline connections still open by then are reset; includes the delay
    /// @return resolves once all connections are closed
    Promise<@Nullable Void> drain(Duration deadline);
}
