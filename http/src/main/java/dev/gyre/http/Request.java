package dev.gyre.http;

import dev.gyre.Cancellation;
import dev.gyre.EventLoop;
import dev.gyre.http.internal.body.CookieHeader;
import dev.gyre.http.internal.server.Parameters;
import dev.gyre.http.internal.server.ServerRequest;
import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// A request.
///
/// ```java
/// server.get("/users/{id}/posts", (request, response) -> {
///     long id = request.pathLong("id");
///     long page = request.queryLong("page", 1, 1, 1000);
///     return posts.find(id, page).then(response::json);
/// });
/// ```
///
/// Sealed: middleware cannot wrap it. Middleware passes data to handlers as an [Attribute].
///
/// **Lifetime.** Valid until its response is complete or its connection closed. Afterwards its
/// methods throw an [IllegalStateException]. [Response#onComplete] callbacks are the last that may
/// read it, except for its body. Copy values that are needed later.
///
/// **Threads.** The loop thread, or the thread of its [BlockingHandler] and threads started by
/// that. On any other thread all methods except [#loop()] throw a [WrongThreadException] while the
/// loop runs. Return to the loop thread with [EventLoop#submit].
public sealed interface Request permits ServerRequest {
    /// Returns the method, such as `GET`.
    String method();

    /// Returns the target without scheme and host, as sent: `/users/7?full=yes`.
    String target();

    /// Returns the decoded path of the target: `/users/7`.
    String path();

    /// Returns the pattern of the route, with the prefixes of its groups: `/users/{id}`. Middleware
    /// that counts requests uses it, as paths are unbounded.
    ///
    /// @return `null` if the request has no route
    @Nullable String routePattern();

    // ------------------------------------------------------------------ parameters

    /// Returns the decoded value of a path parameter: `7` for `id` of `/users/{id}`. It may contain
    /// slashes, also those sent as `%2F`.
    ///
    /// @throws IllegalArgumentException if the route has no such parameter
    /// @throws HttpException 400 if the value begins with a slash, or has a segment `.` or `..`.
    ///     Used as a file name, it would leave its directory
    String pathParam(String name);

    /// Returns a path parameter as a number.
    ///
    /// @throws IllegalArgumentException if the route has no such parameter
    /// @throws HttpException 400 if the value is not a number
    default long pathLong(String name) {
        return pathLong(name, Long.MIN_VALUE, Long.MAX_VALUE);
    }

    /// Returns a path parameter as a number.
    ///
    /// @throws IllegalArgumentException if the route has no such parameter
    /// @throws HttpException 400 if the value is not a number from `min` to `max`
    default long pathLong(String name, long min, long max) {
        return Parameters.number("path parameter", name, pathParam(name), min, max);
    }

    /// Returns a path parameter as another type.
    ///
    /// ```java
    /// UUID id = request.pathParam("id", UUID::fromString);
    /// ```
    ///
    /// @param parser throws any [RuntimeException] for an invalid value
    /// @throws IllegalArgumentException if the route has no such parameter
    /// @throws HttpException 400 if the parser throws; an [HttpException] of the parser is passed
    ///     on
    default <T> T pathParam(String name, Function<? super String, ? extends T> parser) {
        return Parameters.parse("path parameter", name, pathParam(name), parser);
    }

    /// Returns the text after the question mark of the target, as sent; `null` if absent.
    @Nullable String query();

    /// Returns the first decoded value of a query parameter; `null` if absent.
    ///
    /// @throws HttpException 400 if the value is badly encoded
    @Nullable String queryParam(String name);

    /// Returns all decoded values of a query parameter in order, such as of `?tag=a&tag=b`.
    ///
    /// @throws HttpException 400 if a value is badly encoded
    List<String> queryParams(String name);

    /// Returns a query parameter as a number.
    ///
    /// @param defaultValue the result if it is absent
    /// @throws HttpException 400 if the value is not a number from `min` to `max`
    default long queryLong(String name, long defaultValue, long min, long max) {
        String text = queryParam(name);
        return text == null
                ? defaultValue
                : Parameters.number("query parameter", name, text, min, max);
    }

    /// Returns a query parameter as a boolean: `true` or `false`. A parameter without a value, as
    /// in `?verbose`, is true.
    ///
    /// @param defaultValue the result if it is absent
    /// @throws HttpException 400 if the value is another one
    default boolean queryBoolean(String name, boolean defaultValue) {
        String text = queryParam(name);
        return text == null ? defaultValue : Parameters.bool("query parameter", name, text);
    }

    /// Returns a query parameter as another type.
    ///
    /// ```java
    /// LocalDate day = request.queryParam("day", LocalDate::parse, LocalDate.now());
    /// ```
    ///
    /// @param parser throws any [RuntimeException] for an invalid value
    /// @param defaultValue the result if the parameter is absent
    /// @throws HttpException 400 if the parser throws; an [HttpException] of the parser is passed
    ///     on
    default <T extends @Nullable Object> T queryParam(
            String name, Function<? super String, ? extends T> parser, T defaultValue) {
        String text = queryParam(name);
        return text == null
                ? defaultValue
                : Parameters.parse("query parameter", name, text, parser);
    }

    // ------------------------------------------------------------------ headers and body

    /// Returns whether the request uses HTTP/1.0. All others use HTTP/1.1, or a later minor
    /// version, which is treated as that.
    boolean isHttp10();

    /// Returns the headers.
    Headers headers();

    /// Returns the value of the first header of that name; `null` if absent.
    default @Nullable String header(String name) {
        return headers().get(name);
    }

    /// Returns the value of a cookie; `null` if absent. The first counts if several have the name.
    ///
    /// @throws HttpException 400 if the value is not UTF-8
    default @Nullable String cookie(String name) {
        return CookieHeader.value(headers().getAll("Cookie"), name);
    }

    /// Returns the cookies by name, in their order. Malformed ones are left out. The first counts
    /// if several have the same name.
    default Map<String, String> cookies() {
        return CookieHeader.values(headers().getAll("Cookie"));
    }

    /// Returns the body. The server reads it only on demand.
    Body body();

    // ------------------------------------------------------------------ attributes

    /// Returns an attribute set by middleware; `null` if absent.
    <T> @Nullable T get(Attribute<T> attribute);

    /// Sets an attribute for the handlers and middleware that get the request after this.
    ///
    /// @param value `null` to remove it
    <T> Request set(Attribute<T> attribute, @Nullable T value);

    // ------------------------------------------------------------------ connection

    /// Returns the host that the client requested, with the port if it was sent:
    /// `example.com:8080`. This is the host of an absolute target, or the `Host` header. Trusted
    /// proxies may forward another one if [HttpConfig#forwardedHost()] is set.
    ///
    /// @return empty if an HTTP/1.0 client sent none
    String host();

    /// Returns the scheme that the client used, `http` or `https`. Trusted proxies may forward
    /// another one than that of the connection: see [HttpConfig#trustedProxies()].
    String scheme();

    /// Returns the address of the client. It is [#remoteAddress()] unless a trusted proxy forwarded
    /// the request: see [HttpConfig#trustedProxies()]. Forwarded addresses often have port 0.
    SocketAddress clientAddress();

    /// Returns the remote address of the connection: the client's, or that of the last proxy.
    SocketAddress remoteAddress();

    /// Returns the id of the connection in logs, lists and traces: see [dev.gyre.io.Stream#id()].
    long connectionId();

    /// Returns the TLS session; `null` on plaintext connections.
    @Nullable TlsSession tls();

    /// Returns a token that is cancelled once the response is no longer needed: the client ended
    /// its side, the connection was closed before the response was complete, or [Routes#timeout]
    /// expired. Its reason says which.
    ///
    /// ```java
    /// server.get("/slow", (request, response) ->
    ///         Promise.delay(request.loop(), ofSeconds(10), request.cancellation())
    ///                 .then(_ -> response.text("done")));
    /// ```
    ///
    /// A client that has ended its side may still wait for the response, and a response sent to it
    /// is delivered. If the handler's promise is rejected with the [dev.gyre.CancelledException]
    /// instead, the server closes the connection and logs nothing. [Response#status()] is then 499.
    ///
    /// Pipelined requests do not hide the client's end and are still served. An unread body does:
    /// the end is reported after it. A reset is reported at once.
    ///
    /// All calls return the same token. It remains usable after the request, but is not cancelled
    /// once the response is complete. After a closed connection it is cancelled from the start.
    ///
    /// @throws IllegalStateException if the response is complete
    Cancellation cancellation();

    /// Returns the loop that serves the request. Any thread.
    EventLoop loop();
}
