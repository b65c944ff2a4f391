package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.http.internal.server.ServerResponse;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;

/// The answer to a request.
///
/// ```java
/// response.text("Hello, World!");
/// response.status(201).header("Location", "/users/7").json(user);
/// response.stream().write(first)…
/// ```
///
/// Status and header fields first, then one of the methods that answer; `Date`, `Server`, `Content-Length` or
/// `Transfer-Encoding`, and `Connection` are seen to; a `Date` or `Server` that was set is sent instead of the usual one. For
/// `HEAD` the content is left out and its length is said; 204, 205 and 304 never have content. A `Content-Length` that was
/// set stands where no content is sent: in an answer without any to `HEAD`, and in 304. All fields together have at most 16 KiB.
///
/// **What is returned** by the methods that answer is settled: see [Handler]. What is given to them is copied, but
/// for arrays of more than 64 KiB: those stay where they are while the peer takes them, and must not be changed
/// before [#onDone].
///
/// **Memory.** Content that the loop has no memory for ([dev.gyre.LoopConfig#bufferMemory()]) is not begun: the answer
/// is 503 with `Retry-After` instead, as [#status()] says then.
///
/// **Length.** At once, by `send`, `text`, `html` or `json`, at most 8 MiB are sent: more throws an [IllegalArgumentException],
/// which is answered with 500. Use [#stream()] or [#file] for it.
///
/// **Misuse.** A second answer, or a field after the first, throws an [IllegalStateException]. Names and values
/// that would not be one field of one line throw an [IllegalArgumentException].
///
/// **Lifetime.** Valid for one request, until the response is complete. [#onDone] callbacks are the
/// last that may use it. Afterwards its methods throw an [IllegalStateException], except
/// [#isAnswered()], which returns true, and [#onDone], which calls back at once. A stale response
/// never reaches another request.
///
/// **Threads.** Loop thread, or that of the [BlockingHandler] it was given to, and those which that has started. On any other all
/// methods throw a [WrongThreadException] while the loop runs, before anything is touched, also after the answer: come
/// back with [dev.gyre.EventLoop#submit], or let [dev.gyre.EventLoop#promisify(dev.gyre.Work)] bring the result. A connection that is
/// closed meanwhile swallows what is answered: [#onDone] tells.
public sealed interface Response permits ServerResponse {
    // ------------------------------------------------------------------ the head

    /// Sets the status; 200 without this.
    ///
    /// @param status from 200 to 599
    /// @return this response
    Response status(int status);

    /// The status so far.
    int status();

    /// Sets a header field, in place of what was set of that name before.
    ///
    /// @return this response
    Response header(String name, String value);

    /// Adds a header field to what was set of that name before.
    ///
    /// @return this response
    Response addHeader(String name, String value);

    /// The value of a field that was set; null if there is none.
    @Nullable String header(String name);

    /// Sets `Content-Type`.
    ///
    /// @return this response
    default Response type(String mediaType) {
        return header("Content-Type", mediaType);
    }

    // ------------------------------------------------------------------ answers

    /// Answers without content.
    Promise<?> send();

    /// Answers with bytes; `application/octet-stream` unless a type is set.
    Promise<?> send(byte[] content);

    /// Answers with what is readable in a buffer, and empties it.
    Promise<?> send(Buffer content);

    /// Answers with `text/plain` in UTF-8, unless a type is set.
    Promise<?> text(String content);

    /// Answers with `text/html` in UTF-8, unless a type is set.
    Promise<?> html(String content);

    /// Answers with a value as JSON, made by [HttpServer#json].
    Promise<?> json(@Nullable Object value);

    /// Answers with a place to go to.
    ///
    /// @param status 301, 302, 303, 307 or 308
    /// @param location what may not stand in an address is encoded, as a space or an umlaut; what is encoded already stays
    Promise<?> redirect(int status, String location);

    /// Answers with a file: ranges, conditions and media type are seen to, as in [HttpServer#files]. 404 if there is none.
    ///
    /// What is set before goes first. A type is that of the file, also of each part where several ranges are asked for. An `ETag` or
    /// `Last-Modified` is what conditions of the request are compared with; for peers that get the file compressed a strong tag is sent, and
    /// compared, as a weak one, as the bytes are others. With a `Content-Encoding` the file is sent as it is.
    ///
    /// ```java
    /// server.get("/report", (request, response) ->
    ///     response.type("text/csv").header("ETag", "\"" + version + "\"").file(report));
    /// ```
    ///
    /// Ranges and conditions are those of `GET` (conditions also of `HEAD`) and of status 200: otherwise all of the file is sent.
    Promise<?> file(Path file);

    /// Answers bit by bit: in chunks, or with the `Content-Length` that was set.
    ResponseStream stream();

    /// Answers with server-sent events.
    EventStream events();

    // ------------------------------------------------------------------ afterwards

    /// Whether an answer has begun.
    boolean isAnswered();

    /// Calls back once when the answer is complete and handed to the stream, or the connection was closed
    /// before: if nobody had answered [#status()] is 499 then, and otherwise it [#isCutOff()]; at once if that has been
    /// already. In the order of the calls. What a callback throws is logged.
    ///
    /// The [Request] can still be read there, but for its content; afterwards it is over. That a peer has ended its side is not the end of the answer, and not told here:
    /// see [Request#cancellation()].
    ///
    /// @return this response
    Response onDone(Runnable callback);

    /// Whether the connection was closed after the answer had begun and before it was complete.
    boolean isCutOff();

    /// How many bytes of content the answer has so far.
    long contentBytes();
}
