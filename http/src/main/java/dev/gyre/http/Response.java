package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.http.internal.body.AttachmentHeader;
import dev.gyre.http.internal.server.BlockingResponse;
import dev.gyre.http.internal.server.ServerResponse;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/// The response to a request.
///
/// ```java
/// response.text("Hello, World!");
/// response.status(201).header("Location", "/users/7").json(user);
/// response.cookie(Cookie.of("sid", id).httpOnly()).redirect("/");
/// response.stream().write(first)…
/// ```
///
/// Set status and headers first, by methods that return this response. Then call one of the methods
/// that send. The server adds `Date`, `Server`, `Content-Length` or `Transfer-Encoding`, and
/// `Connection`. A `Date` or `Server` header that is set replaces the default. All headers together
/// are limited to 16 KiB.
///
/// **HEAD.** The body is left out, and its length is sent. 204, 205 and 304 never have a body. A
/// `Content-Length` that is set is sent where there is no body: in 304, and in responses to `HEAD`.
///
/// **Result.** Methods that send return a settled promise, except [#sendFile]: its promise settles
/// once the file was found. See [Handler]. They copy their arguments, except arrays of more than 64
/// KiB. Do not change those before [#onComplete].
///
/// **Limits.** `send`, `text`, `html` and `json` send up to 8 MiB. More throws an
/// [IllegalArgumentException]: use [#stream()] or [#sendFile]. If the loop lacks memory for a body
/// ([dev.gyre.LoopConfig#bufferMemory()]), the client gets 503 with `Retry-After`, and [#status()]
/// says so.
///
/// **Misuse.** A second response, or a header after the first, throws an [IllegalStateException].
/// Names and values that are invalid in a header throw an [IllegalArgumentException].
///
/// **Lifetime.** Valid until the response is complete or the connection closed. [#onComplete]
/// callbacks are the last that may use it. Afterwards all methods throw an [IllegalStateException]:
/// a stale response never reaches another request. While a handler runs whose connection was lost,
/// its response is discarded.
///
/// **Threads.** The loop thread, or the thread of its [BlockingHandler] and threads started by
/// that. On any other thread all methods throw a [WrongThreadException] while the loop runs. Return
/// to the loop thread with [dev.gyre.EventLoop#submit], or use
/// [dev.gyre.EventLoop#promisify(dev.gyre.BlockingWork)].
public sealed interface Response permits ServerResponse, BlockingResponse {
    // ------------------------------------------------------------------ status and headers

    /// Sets the status. Default 200.
    ///
    /// @param status from 200 to 599
    Response status(int status);

    /// Returns the status.
    int status();

    /// Sets a header. It replaces headers of the same name.
    Response header(String name, String value);

    /// Adds a header. Headers of the same name remain.
    Response addHeader(String name, String value);

    /// Returns the value of a header that was set; `null` if absent.
    @Nullable String header(String name);

    /// Sets `Content-Type`.
    default Response type(String mediaType) {
        return header("Content-Type", mediaType);
    }

    /// Adds a cookie: a `Set-Cookie` header.
    ///
    /// @throws IllegalArgumentException if the cookie's attributes contradict each other
    default Response cookie(Cookie cookie) {
        return addHeader("Set-Cookie", cookie.toHeader());
    }

    /// Removes a cookie that was set with the path `/` and no domain. To remove another one, add it
    /// with the same path and domain and a `maxAge` of zero.
    default Response removeCookie(String name) {
        return cookie(Cookie.removal(name));
    }

    // ------------------------------------------------------------------ sending

    /// Sends a response without a body.
    Promise<?> send();

    /// Sends bytes, as `application/octet-stream` unless a type is set.
    Promise<?> send(byte[] body);

    /// Sends and consumes the readable bytes of a buffer, as `application/octet-stream` unless a
    /// type is set.
    Promise<?> send(Buffer body);

    /// Sends text in UTF-8, as `text/plain` unless a type is set.
    Promise<?> text(String body);

    /// Sends text in UTF-8, as `text/html` unless a type is set.
    Promise<?> html(String body);

    /// Sends a value as JSON, written by the mapper of [HttpServer#jsonMapper].
    Promise<?> json(@Nullable Object value);

    /// Redirects with status 302: browsers follow with `GET`.
    ///
    /// @param location as in [#redirect(int, String)]
    default Promise<?> redirect(String location) {
        return redirect(302, location);
    }

    /// Redirects.
    ///
    /// @param status 301, 302, 303, 307 or 308
    /// @param location a path or URI; characters that a URI must not contain are percent-encoded
    Promise<?> redirect(int status, String location);

    /// Sends a file, with ranges, conditional requests and media type as in [Routes#files]. Fails
    /// with 404 if the file is absent.
    ///
    /// Headers that are set replace the defaults. A `Content-Type` applies to the file, and to each
    /// part of a multi-range response. Conditions are compared with an `ETag` or `Last-Modified`
    /// that is set. If the file is sent compressed, a strong `ETag` becomes weak. With a
    /// `Content-Encoding` the file is sent unchanged.
    ///
    /// ```java
    /// server.get("/report", (request, response) ->
    ///     response.type("text/csv").header("ETag", "\"" + version + "\"").sendFile(report));
    /// ```
    ///
    /// Ranges apply to `GET` with status 200, conditions also to `HEAD`. All other requests get the
    /// whole file.
    Promise<?> sendFile(Path file);

    /// Sends a file as [#sendFile(Path)] does, for the client to save under a name:
    /// `Content-Disposition: attachment`.
    ///
    /// @param downloadName a name without directories, in any script
    /// @throws IllegalArgumentException if the name is empty or contains control characters
    default Promise<?> sendFile(Path file, String downloadName) {
        return header("Content-Disposition", AttachmentHeader.attachment(downloadName))
                .sendFile(file);
    }

    /// Begins a streamed body: chunked, or with the `Content-Length` that is set.
    ResponseStream stream();

    /// Begins a stream of server-sent events.
    EventStream events();

    // ------------------------------------------------------------------ completion

    /// Returns whether a response has begun, so status and headers can no longer change.
    boolean isCommitted();

    /// Calls back once the response is complete and handed to the stream, or the connection was
    /// closed before. [#status()] is 499 if no response had begun by then. If one had, it
    /// [#isTruncated()]. Callbacks run in the order added. Their exceptions are logged.
    ///
    /// The [Request] is still readable there, except for its body. The end of the client's side
    /// does not end the response: see [Request#cancellation()].
    Response onComplete(Runnable callback);

    /// Returns whether the connection was closed after the response had begun and before it was
    /// complete.
    boolean isTruncated();

    /// Returns the number of body bytes so far.
    long bodyBytes();
}
