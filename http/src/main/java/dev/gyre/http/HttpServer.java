package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.internal.server.LoopServer;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Tls;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// An HTTP/1.1 server on a loop.
///
/// ```java
/// HttpServer.on(loop)
///     .get("/", (request, response) -> response.text("Hello, World!"))
///     .get("/users/{id}", (request, response) -> users.find(request.path("id")).then(response::json))
///     .blocking("POST", "/report", (request, response) -> response.send(slowReport(request.body())))
///     .webSocket("/chat", socket -> { room.add(socket); socket.onText(room::broadcast); })
///     .files("/static", Path.of("site"))
///     .listen(8080);
/// ```
///
/// **Routes** are a method and a pattern: segments between slashes, of which one in braces takes any one segment, and
/// a last one such as `{rest...}` all that are left. They are written decoded, `/café`, and stand for every spelling of
/// that. The syntax of other routers, `:id`, `*` and `<id>`, is rejected. Write a colon at the
/// beginning of a literal segment as `%3A`. Write a star or a brace as `%2A`, `%7B` or `%7D`. The
/// most literal route that takes the method wins, whatever the order in which they were given: with
/// `GET /users/me` and `DELETE /users/{id}`, `DELETE /users/me` is the latter's. `HEAD` is answered
/// by the handler of `GET`, `OPTIONS` with what all routes of the path allow; a path that is known
/// with other methods only is answered with 405, a method that nobody knows with 501.
///
/// **Order.** Requests of a connection are answered one after the other in the order they came, those sent ahead included.
///
/// **Failure.** A request that is no HTTP is answered with the right status, and its connection closed. What a handler
/// throws is answered by [#onError], and costs its own request only.
///
/// **Threads.** Loop thread only, or any one while no thread runs the loop; [#close()] from any.
public interface HttpServer extends AutoCloseable {
    /// A server with the usual limits.
    static HttpServer on(EventLoop loop) {
        return on(loop, HttpConfig.DEFAULT);
    }

    /// A server.
    static HttpServer on(EventLoop loop, HttpConfig config) {
        return new LoopServer(loop, config);
    }

    // ------------------------------------------------------------------ what it answers

    /// Answers requests by that method for paths of that pattern.
    ///
    /// @return this server
    /// @throws IllegalArgumentException if the pattern is none, or the route is taken
    HttpServer route(String method, String pattern, Handler handler);

    /// Answers on virtual threads.
    ///
    /// @return this server
    HttpServer blocking(String method, String pattern, BlockingHandler handler);

    /// Answers `GET`, and `HEAD`.
    ///
    /// @return this server
    default HttpServer get(String pattern, Handler handler) {
        return route("GET", pattern, handler);
    }

    /// Answers `POST`.
    ///
    /// @return this server
    default HttpServer post(String pattern, Handler handler) {
        return route("POST", pattern, handler);
    }

    /// Answers `PUT`.
    ///
    /// @return this server
    default HttpServer put(String pattern, Handler handler) {
        return route("PUT", pattern, handler);
    }

    /// Answers `PATCH`.
    ///
    /// @return this server
    default HttpServer patch(String pattern, Handler handler) {
        return route("PATCH", pattern, handler);
    }

    /// Answers `DELETE`.
    ///
    /// @return this server
    default HttpServer delete(String pattern, Handler handler) {
        return route("DELETE", pattern, handler);
    }

    /// Answers every method that has no route of its own for the pattern.
    ///
    /// @return this server
    HttpServer any(String pattern, Handler handler);

    /// Accepts WebSockets.
    ///
    /// @return this server
    default HttpServer webSocket(String pattern, Consumer<? super WebSocket> opened) {
        return webSocket(pattern, WebSocketConfig.DEFAULT, opened);
    }

    /// Accepts WebSockets.
    ///
    /// @return this server
    HttpServer webSocket(
            String pattern, WebSocketConfig config, Consumer<? super WebSocket> opened);

    /// Accepts WebSockets, and says what was asked for and by whom.
    ///
    /// ```java
    /// server.webSocket("/chat/{room}", (request, socket) -> room(request.path("room")).add(socket));
    /// ```
    ///
    /// @param opened the request is valid until it returns
    /// @return this server
    default HttpServer webSocket(
            String pattern, BiConsumer<? super Request, ? super WebSocket> opened) {
        return webSocket(pattern, WebSocketConfig.DEFAULT, opened);
    }

    /// Accepts WebSockets, and says what was asked for and by whom.
    ///
    /// @param opened the request is valid until it returns
    /// @return this server
    HttpServer webSocket(
            String pattern,
            WebSocketConfig config,
            BiConsumer<? super Request, ? super WebSocket> opened);

    /// Serves the files of a directory.
    ///
    /// @param prefix where they are: `/static` has the directory's `a.css` at `/static/a.css`
    /// @return this server
    default HttpServer files(String prefix, Path directory) {
        return files(prefix, directory, FilesConfig.DEFAULT);
    }

    /// Serves the files of a directory.
    ///
    /// @return this server
    HttpServer files(String prefix, Path directory, FilesConfig config);

    /// Puts something between all requests and their handlers.
    ///
    /// @return this server
    HttpServer use(Middleware middleware);

    /// Answers when a handler has failed; without this an [HttpException] is answered with its status and message, all else with
    /// 500 and no word about what happened, which is logged. What the handler throws itself, such as what it was given, is
    /// answered in that way. Of requests for which there is no handler it hears as well, by an [HttpException] with 404, 405,
    /// 413 or 501; not of what is no HTTP, which [Middleware#refused] tells.
    ///
    /// ```java
    /// server.onError((request, response, failure) -> {
    ///     int status = failure instanceof HttpException known ? known.status() : 500;
    ///     return response.status(status).json(Map.of("error", status));
    /// });
    /// ```
    ///
    /// @return this server
    HttpServer onError(ErrorHandler handler);

    /// Makes JSON of the values that [Response#json] is given. Without this records, maps, collections, arrays, text,
    /// numbers, truth values and null are known, [java.util.Optional] as what it holds or null, and as text enums by their
    /// names and whatever is of `java.time`, [java.util.UUID], [java.net.URI] and [java.nio.file.Path].
    ///
    /// @return this server
    HttpServer json(JsonWriter writer);

    /// Answers for a handler that failed.
    @FunctionalInterface
    interface ErrorHandler {
        /// Answers.
        ///
        /// @param response unanswered, with 200 and no field set but those that belong to the failure whoever answers it: `Allow` with
        ///     405, and with 501 where others are allowed, `Retry-After` with 503, and what [Cors] says
        /// @param failure what was thrown, or what a promise was rejected with: an [HttpException], perhaps as a cause, says what the peer is told without this
        /// @return as [Handler#handle]
        Promise<?> handle(Request request, Response response, Throwable failure) throws Exception;
    }

    /// Makes JSON of a value.
    @FunctionalInterface
    interface JsonWriter {
        /// The value as JSON.
        ///
        /// @throws IllegalArgumentException if it cannot
        String write(@Nullable Object value);
    }

    /// Changes [HttpConfig#maxBody] for the requests of one pattern, up or down: for the one route that takes films, say.
    ///
    /// ```java
    /// server.blocking("PUT", "/films/{name}", this::upload).maxBody("/films/{name}", 4L << 30);
    /// ```
    ///
    /// Middleware that reads the content has it as the configuration says.
    ///
    /// @return this server
    /// @throws IllegalArgumentException if there is no route of that pattern yet, or the limit is below one
    HttpServer maxBody(String pattern, long bytes);

    // ------------------------------------------------------------------ times

    /// Changes [HttpConfig#idleTimeout] for connections from now on.
    ///
    /// @return this server
    HttpServer idleTimeout(Duration timeout);

    // ------------------------------------------------------------------ listening

    /// Listens on a port of all addresses.
    ///
    /// @param port 0 lets the system choose: see [#address()]
    /// @return this server
    /// @throws dev.gyre.SystemCallException if the port is taken or not allowed
    HttpServer listen(int port);

    /// Listens on a port of all addresses with TLS. Unless it has protocols of its own ([Tls#withProtocols]), clients that offer
    /// some (ALPN) are to offer `http/1.1` or `http/1.0`, which is agreed on then: those that offer others only are refused, as
    /// by other servers. Who offers none is served.
    ///
    /// @return this server
    HttpServer listen(int port, Tls tls);

    /// Listens on an address, TCP or Unix. With TLS as [#listen(int, Tls)]. Of the streams' settings the write timeout is
    /// [HttpConfig#writeTimeout], and what a peer asks for while it does not take its answers is not read.
    ///
    /// @return this server
    HttpServer listen(SocketAddress address, ListenerConfig config);

    /// Where it listens: the last address it was told to, with the port that the system chose.
    ///
    /// @throws IllegalStateException if it does not
    SocketAddress address();

    /// What to type into a browser on this machine to come to [#address()]: `http://localhost:8080/`.
    ///
    /// @throws IllegalStateException if it does not listen, or by a Unix domain socket, for which there is none
    URI uri();

    /// How many connections are open.
    int connections();

    /// How many of them have something to do: a request that is not answered, or not whole yet, an answer of which a
    /// part waits for the peer, or a WebSocket.
    int busy();

    /// Returns how many file requests got 503 for lack of descriptors or workers. Any thread.
    long filesRefused();

    // ------------------------------------------------------------------ ending

    /// Ends gracefully: stops listening, closes connections on which nobody asks for anything, without waiting for their peers, answers what was asked, with
    /// `Connection: close`, ends event streams, and closes WebSockets with 1001. What is not done by the deadline is cut off.
    ///
    /// @return resolved when the last connection is closed
    Promise<@Nullable Void> drain(Duration deadline);

    /// Stops listening and closes all connections at once. Any thread.
    @Override
    void close();
}
