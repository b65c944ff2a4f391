package dev.gyre.http;

import dev.gyre.GroupReport;
import dev.gyre.LoopGroup;
import dev.gyre.http.internal.server.GroupServer;
import dev.gyre.io.DrainReport;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/// An HTTP/1.1 server on all loops of a [LoopGroup]: [HttpServer#on(LoopGroup)].
///
/// ```java
/// try (var group = LoopGroup.ofCores()) {
///     HttpServer.on(group).get("/", hello).listen(8080).await();   // Ctrl-C drains
/// }
/// ```
///
/// **Definition.** A method that configures the server applies to the servers of all loops, and to
/// a loop that replaces a failed one. An invalid definition throws at the call. Lambdas that define
/// routes, of [#route(String, java.util.function.Consumer)] and [#host], are called once per loop.
/// Configure the server before the group starts, or later on a thread outside the group.
///
/// **Shared.** Handlers, middleware, error handlers, mappers and health checks are shared: all
/// loops call the same objects, at the same time. They must be thread-safe, or keep their state per
/// loop:
///
/// ```java
/// PerLoop<Cache> caches = group.perLoop(loop -> new Cache());
/// server.get("/price", (request, response) -> response.json(caches.get(request.loop()).price()));
/// ```
///
/// A [WebSocketGroup] may have members on all loops.
///
/// **Separate.** A connection belongs to one loop, with its requests, its timeouts and its memory.
/// Each loop has its own file cache and its own share of the heap for bodies and messages.
///
/// **Limits.** [dev.gyre.io.ListenerConfig#maxConnections()] and
/// [dev.gyre.io.ListenerConfig#maxConnectionsPerPeer()] apply to the group as a whole.
/// [HttpConfig#maxBlocking()] applies to each loop.
///
/// **Shutdown.** [LoopGroup#shutdown] drains the server.
///
/// **Threads.** Any. Methods that configure the server, and `listen`, wait for running loops: they
/// throw on a loop thread of the group.
public sealed interface HttpServerGroup extends BaseHttpServer<HttpServerGroup>
        permits GroupServer {
    /// Returns the group.
    LoopGroup group();

    /// Counts the connections of all loops that are in use: by an incomplete request, a response in
    /// progress, or a WebSocket.
    ///
    /// @return completes once all loops have counted theirs; a loop that terminates has none
    CompletionStage<Integer> activeConnections();

    /// Shuts down gracefully on all loops, as [HttpServer#drain] does. The loops continue to run. A
    /// second call returns the outcome of the first.
    ///
    /// @param deadline connections still open by then are reset; includes
    ///     [HttpConfig#drainDelay()]
    /// @return completes once all connections are closed
    /// @throws IllegalArgumentException if the deadline is negative
    CompletionStage<DrainReport> drain(Duration deadline);

    /// Starts the group and waits until it has terminated: [LoopGroup#run()]. Ctrl-C drains the
    /// server.
    default GroupReport await() {
        return group().run();
    }
}
