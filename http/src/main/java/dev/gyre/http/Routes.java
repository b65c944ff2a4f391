package dev.gyre.http;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// Routes with the middleware, error handlers and limits that apply to them: an [HttpServer], or a
/// [RouteGroup] of it.
///
/// ```java
/// server.use(AccessLog.combined(log));
/// server.route("/api", api -> {
///     api.use(requireSession);                                     // this group only
///     api.get("/todos/{id}", (request, response) -> response.json(find(request.pathLong("id"))));
///     api.blockingPost("/todos",
///             (request, response) -> response.status(201).json(insert(request)));
///     api.onError(ValidationException.class,
///             (failure, request, response) -> response.status(422).json(failure.problems()));
/// });
/// ```
///
/// **Patterns.** A pattern is a path of segments between slashes. `{id}` matches one non-empty
/// segment. `{rest...}`, as the last segment, matches all remaining ones. Patterns are written
/// decoded, such as `/café`, and match every encoding of that path. The syntax of other routers
/// (`:id`, `*`, `<id>`) is rejected. Write a literal colon at the start of a segment as `%3A`, a
/// star as `%2A`, and braces as `%7B` and `%7D`.
///
/// **Precedence.** The most literal route that has the method wins, in whatever order routes are
/// added. With `GET /users/me` and `DELETE /users/{id}`, `DELETE /users/me` calls the latter.
/// `HEAD` calls the handler of `GET`. `OPTIONS` without a route gets the allowed methods. A known
/// path without the method gets 405, and a method without any route 501.
///
/// **Scope.** Middleware, error handlers and limits apply to all routes of the group and its nested
/// groups, also to those added before. [Middleware] documents the order of the calls.
///
/// **Chaining.** All methods return the receiver.
///
/// **Threads.** Loop thread only, or any single thread while no thread runs the loop.
///
/// @param <S> the type of the receiver, for chaining
public interface Routes<S extends Routes<S>> {
    /// Adds a route.
    ///
    /// @param method such as `GET`
    /// @param pattern relative to the prefix of the group; empty or `/` for the prefix itself
    /// @throws IllegalArgumentException if the pattern is malformed, or the route exists
    S route(String method, String pattern, Handler handler);

    /// Adds a route for `GET` and `HEAD`.
    default S get(String pattern, Handler handler) {
        return route("GET", pattern, handler);
    }

    /// Adds a route for `POST`.
    default S post(String pattern, Handler handler) {
        return route("POST", pattern, handler);
    }

    /// Adds a route for `PUT`.
    default S put(String pattern, Handler handler) {
        return route("PUT", pattern, handler);
    }

    /// Adds a route for `PATCH`.
    default S patch(String pattern, Handler handler) {
        return route("PATCH", pattern, handler);
    }

    /// Adds a route for `DELETE`.
    default S delete(String pattern, Handler handler) {
        return route("DELETE", pattern, handler);
    }

    /// Adds a route for every method without a route of its own for the pattern.
    S any(String pattern, Handler handler);

    /// Adds a route whose handler runs on a virtual thread, where it may block.
    S blocking(String method, String pattern, BlockingHandler handler);

    /// Adds a blocking route for `GET` and `HEAD`.
    default S blockingGet(String pattern, BlockingHandler handler) {
        return blocking("GET", pattern, handler);
    }

    /// Adds a blocking route for `POST`.
    default S blockingPost(String pattern, BlockingHandler handler) {
        return blocking("POST", pattern, handler);
    }

    /// Adds a blocking route for `PUT`.
    default S blockingPut(String pattern, BlockingHandler handler) {
        return blocking("PUT", pattern, handler);
    }

    /// Adds a blocking route for `PATCH`.
    default S blockingPatch(String pattern, BlockingHandler handler) {
        return blocking("PATCH", pattern, handler);
    }

    /// Adds a blocking route for `DELETE`.
    default S blockingDelete(String pattern, BlockingHandler handler) {
        return blocking("DELETE", pattern, handler);
    }

    /// Adds a route that accepts WebSockets.
    default S webSocket(String pattern, Consumer<? super WebSocket> opened) {
        return webSocket(pattern, WebSocketConfig.DEFAULT, opened);
    }

    /// Adds a route that accepts WebSockets.
    S webSocket(String pattern, WebSocketConfig config, Consumer<? super WebSocket> opened);

    /// Adds a route that accepts WebSockets, and passes the request too.
    ///
    /// ```java
    /// server.webSocket("/chat/{room}",
    ///         (request, socket) -> groupOf(request.pathParam("room")).add(socket));
    /// ```
    ///
    /// @param opened the request is valid until it returns
    default S webSocket(String pattern, BiConsumer<? super Request, ? super WebSocket> opened) {
        return webSocket(pattern, WebSocketConfig.DEFAULT, opened);
    }

    /// Adds a route that accepts WebSockets, and passes the request too.
    ///
    /// @param opened the request is valid until it returns
    S webSocket(
            String pattern,
            WebSocketConfig config,
            BiConsumer<? super Request, ? super WebSocket> opened);

    /// Serves the files of a directory.
    ///
    /// @param prefix `/static` serves the directory's `a.css` at `/static/a.css`
    default S files(String prefix, Path directory) {
        return files(prefix, directory, FilesConfig.DEFAULT);
    }

    /// Serves the files of a directory.
    ///
    /// @param prefix `/static` serves the directory's `a.css` at `/static/a.css`
    S files(String prefix, Path directory, FilesConfig config);

    /// Adds a group of routes below a prefix. Repeated calls with one prefix add separate groups.
    ///
    /// @param prefix such as `/api` or `/users/{id}`; empty or `/` for a group without one
    /// @param routes adds to the group, called once before this method returns
    S route(String prefix, Consumer<? super RouteGroup> routes);

    /// Adds middleware around all routes here. The first one added is the outermost.
    S use(Middleware middleware);

    /// Maps failures of handlers and middleware to responses, by type. The innermost group with a
    /// match handles a failure. Within it the most specific type wins.
    ///
    /// A failure without a match for itself is matched by its causes. The types [Throwable],
    /// [Exception], [RuntimeException] and [Error] match last, and never by a cause. Requests
    /// without a route fail with an [HttpException] of 404, 405, 421 or 501 in the server's own
    /// scope, or in that of their virtual host.
    ///
    /// Failures without a handler get the response of their [HttpException], or else 500. See
    /// [HttpServer#errorFormat].
    ///
    /// @param handler replaces an earlier one for the type here
    <E extends Throwable> S onError(Class<E> type, ErrorHandler<? super E> handler);

    /// Renders errors of one status, such as the page for 404: an [HttpException] of that status,
    /// or any other failure for 500. [#onError] handlers of the same group go first.
    ///
    /// The response has the status already. The server logs a failure that becomes 500. Responses
    /// that a handler sends with an error status are left as they are.
    ///
    /// @param status from 400 to 599
    /// @param handler replaces an earlier one for the status here
    S onStatus(int status, Handler handler);

    /// Limits the body of requests for the routes here, in place of [HttpConfig#maxBody()] or the
    /// limit of an outer group. Requests with more get 413.
    ///
    /// @throws IllegalArgumentException if the limit is below 1
    S maxBody(long bytes);

    /// Limits the time until a handler here sends a response, or begins one. A request that takes
    /// longer gets 503, and its [Request#cancellation()] is cancelled. The time includes reading
    /// the body. Streams and WebSockets may last longer. Default: the timeout of the outer group;
    /// the server has none.
    ///
    /// @param timeout zero for none
    /// @throws IllegalArgumentException if the timeout is negative
    S timeout(Duration timeout);
}
