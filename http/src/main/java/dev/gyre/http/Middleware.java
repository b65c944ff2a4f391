package dev.gyre.http;

import dev.gyre.Promise;

/// Runs around handlers. Middleware sends a response itself, or calls the next handler.
///
/// ```java
/// server.use((request, response, next) ->
///         isAllowed(request)
///                 ? next.handle(request, response)
///                 : response.status(403).text("forbidden"));
/// ```
///
/// [AccessLog], [Compression], [Cors] and [HttpMetrics] are built in.
///
/// **Order.** The server finds the virtual host and the route first, so [Request#routePattern()]
/// and [Request#pathParam] work in all middleware. Then middleware runs from the outside in, each
/// group's in the order of [Routes#use]:
///
/// ```
///   request ──▶ host, route ──▶ server ──▶ host ──▶ outer group ──▶ inner group ──▶ handler
///                  known       middleware  middleware middleware     middleware        │
///                                                                                      ▼
///   client ◀────────────────────────────────────────────────────────────────────── response
///                                                                                      ▲
///   failure of a handler or middleware ──▶ error handlers: inner group ──▶ … ──▶ server ┘
/// ```
///
/// A request without a route passes the middleware of the server and of its virtual host. The
/// handler at the end of that chain fails with an [HttpException] of 404, 405, 421 or 501.
///
/// **Headers** that middleware sets before the handler runs also reach error responses. Those that
/// describe the body, such as `Content-Type`, do not. Headers set by a failed handler are
/// discarded.
///
/// **After the response.** Code that counts or logs belongs in [Response#onComplete]. It runs
/// however the exchange ends, and the request is still readable. A step after the promise of `next`
/// is too late: the request has ended by then.
///
/// ```java
/// server.use((request, response, next) -> {
///     response.onComplete(() -> count(request.routePattern(), response.status()));
///     return next.handle(request, response);
/// });
/// ```
///
/// **Threads.** Loop thread.
@FunctionalInterface
public interface Middleware {
    /// Handles a request, or passes it on.
    ///
    /// @param next the rest of the chain; takes this request and this response
    /// @return as in [Handler#handle]
    Promise<?> handle(Request request, Response response, Handler next) throws Exception;

    /// Observes a request rejected before routing: malformed, or beyond a limit or timeout. The
    /// server has sent an error response and closes the connection. Called for middleware of the
    /// server only. An exception is logged. Default: does nothing.
    default void onRejected(RejectedRequest request) {}
}
