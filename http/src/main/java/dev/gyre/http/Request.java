package dev.gyre.http;

import dev.gyre.Cancellation;
import dev.gyre.EventLoop;
import dev.gyre.http.internal.server.ServerRequest;
import dev.gyre.io.TlsSession;

import org.jspecify.annotations.Nullable;

import java.net.SocketAddress;
import java.util.List;

/// A request as it arrived.
///
/// Sealed: middleware cannot wrap it. Middleware passes data to handlers as an [Attribute].
///
/// **Lifetime.** Valid until its answer is complete, or its connection closed; afterwards its methods throw an
/// [IllegalStateException]. The last place to read it, all but its content, is [Response#onDone], where what logs or counts belongs; who needs something of
/// it later, as a step behind the answer does, takes it before.
///
/// **Threads.** Loop thread, or that of the [BlockingHandler] it was given to, and those which that has started. On any other all
/// methods but [#loop()] throw a [WrongThreadException], while the loop runs: come back with [EventLoop#submit].
public sealed interface Request permits ServerRequest {
    /// The method: `GET`.
    String method();

    /// The target without scheme and host: `/users/7?full=yes`. If the client sent an absolute
    /// target, the `Host` header is its host.
    String target();

    /// The path of the target, decoded: `/users/7`.
    String path();

    /// What stands in the path for a parameter of the route, decoded: of `/users/{id}` the `id`. It may have slashes, also
    /// those that were sent encoded (`%2F`); none of what is between them is `.` or `..`, and it does not begin with one.
    ///
    /// @throws IllegalArgumentException if the route has no such parameter
    /// @throws HttpException 400 if it begins with a slash, or has a `.` or `..` between slashes, encoded or not: made into
    ///     the name of a file, it would lead out of its directory
    String path(String parameter);

    /// What follows the question mark, as it was sent; null if there is none.
    @Nullable String query();

    /// The first value of a parameter of the query, decoded; null if there is none. How others are encoded does not matter.
    ///
    /// @throws HttpException 400 if it is badly encoded
    @Nullable String query(String parameter);

    /// All values of a parameter of the query, decoded, in their order, as of `?tag=a&tag=b`; empty if there is none.
    ///
    /// @throws HttpException 400 if one of them is badly encoded
    List<String> queries(String parameter);

    /// The first value as a number.
    ///
    /// @param otherwise if there is none
    /// @throws HttpException 400 if it is none, or not between the bounds
    long query(String parameter, long otherwise, long least, long most);

    /// Whether it came by HTTP/1.0; otherwise by HTTP/1.1, or by a later minor version, which is read as that.
    boolean isHttp10();

    Headers headers();

    /// The value of the first header field of that name; null if there is none.
    default @Nullable String header(String name) {
        return headers().get(name);
    }

    /// What follows the header. Nothing of it is read until somebody asks.
    Body body();

    /// What middleware has set for handlers behind it; null if nothing was.
    <T> @Nullable T get(Attribute<T> attribute);

    /// Sets something for those who get the request after this: see [Attribute]. It is forgotten with the request.
    ///
    /// @param value null to take it away
    /// @return this request
    <T> Request set(Attribute<T> attribute, @Nullable T value);

    /// Where the peer is.
    SocketAddress peer();

    /// What TLS agreed on; null without.
    @Nullable TlsSession tls();

    /// Is cancelled when nobody waits for the answer any more, as far as can be known: the peer has ended its side, or the connection was closed,
    /// before the answer was complete. The reason says which. What takes long is bound to it:
    ///
    /// ```java
    /// server.get("/slow", (request, response) ->
    ///         Promise.delay(request.loop(), ofSeconds(10), request.cancellation())
    ///                 .then(_ -> response.text("at last")));
    /// ```
    ///
    /// A peer that has ended its side may still wait for the answer: one that is given all the same is sent. If the handler's promise is rejected with the
    /// [dev.gyre.CancelledException] instead, the connection is closed, nothing is logged as a failure, and [Response#status()] is 499.
    ///
    /// Pipelined requests do not hide the client's end and are still served. An unread body does:
    /// the end is reported after it. A reset is reported at once.
    ///
    /// Made when it is asked for first; the same one each time. It stays valid when the request is over, and is not cancelled any more once the answer is complete. Asked for after
    /// the connection was closed it is cancelled already.
    ///
    /// @throws IllegalStateException if the answer is complete
    Cancellation cancellation();

    /// The loop it is served by. Callable from any thread.
    EventLoop loop();
}
