package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.io.Buffer;

import java.io.InputStream;
import java.lang.reflect.Type;
import java.util.function.Consumer;
import java.util.function.Function;

/// The body of a request: collected, decoded, or read as it arrives.
///
/// ```java
/// request.body().text().then(response::text);
/// request.body().json(Todo.class).then(todo -> …);
/// request.body().form().then(form -> login(form.require("user")));
/// request.body().multipart(part -> part.saveTo(uploads)).then(form -> …);
/// ```
///
/// Nothing is read until one of these methods is called. Only one of them may be called. Until then
/// the client is slowed down.
///
/// **Unread bodies.** If the handler responds before it has read the body, the rest is read and
/// discarded if it is short; else the connection is closed. Reading then fails.
///
/// **Limits.** A body has at most [HttpConfig#maxBody] bytes, or the limit of its route
/// ([Routes#maxBody]); the response to longer ones is 413. `bytes(64 << 10)` sets a lower limit.
/// All collected bodies, waiting responses and WebSocket messages of a loop share a heap budget. It
/// is a quarter of the heap divided by the processors, at least 16 MiB or an eighth of the heap, at
/// most [dev.gyre.LoopConfig#bufferMemory()]. Beyond it the response is 503 with `Retry-After`. A
/// body that arrives too slowly is rejected with 408: [HttpConfig#bodyTimeout].
///
/// **Failure.** An exception of a callback is a failure of the handler.
///
/// **Threads.** As [Request].
public interface Body {
    /// Returns the announced length; 0 without a body, -1 if it is unknown before the end.
    long length();

    /// Collects the body.
    Promise<byte[]> bytes();

    /// Collects the body up to a limit. The response to a longer one is 413.
    ///
    /// @param limit does not extend the limit of the route
    /// @throws HttpException 413 if the announced length is above the limit
    Promise<byte[]> bytes(int limit);

    /// Collects the body as text in UTF-8.
    Promise<String> text();

    /// Collects the body as text in UTF-8, up to a limit. The response to a longer one is 413.
    ///
    /// @param limit as in [#bytes(int)]
    /// @throws HttpException 413 if the announced length is above the limit
    Promise<String> text(int limit);

    /// Collects the body and reads it as JSON, by the mapper of [HttpServer#jsonMapper].
    ///
    /// ```java
    /// server.post("/todos", (request, response) ->
    ///         request.body().json(Todo.class).then(todo -> response.json(todos.add(todo))));
    /// ```
    ///
    /// The promise is rejected with 400 if the body is not JSON or does not fit the type. The
    /// message names the field.
    ///
    /// In a blocking handler this waits for the body, and reads it on the handler's thread.
    ///
    /// @throws HttpException 415 unless `Content-Type` is `application/json` or ends in `+json`.
    ///     Browsers let pages of other sites send a missing type, `text/plain` and forms without
    ///     permission. To accept any type, use [#bytes()] and the mapper
    <T> Promise<T> json(Class<T> type);

    /// Reads JSON of a generic type, such as `List<Todo>`. See [#json(Class)].
    <T> Promise<T> json(Type type);

    /// Collects a form: `application/x-www-form-urlencoded`, or `multipart/form-data` without
    /// files. The promise is rejected with 400 if it is malformed, and with 413 if it has more than
    /// 1 000 fields. The message names the field.
    ///
    /// @throws HttpException 415 if the body has another type
    Promise<FormData> form();

    /// Reads `multipart/form-data` with the default limits. See
    /// [#multipart(MultipartConfig, Function)].
    Promise<FormData> multipart(Function<? super Part, ? extends Promise<?>> files);

    /// Reads `multipart/form-data`: text fields are collected, files go to a function.
    ///
    /// ```java
    /// server.post("/files", (request, response) ->
    ///         request.body().multipart(part -> part.saveTo(uploads))
    ///                 .then(form -> response.text("saved " + form.get("title"))));
    /// ```
    ///
    /// Files arrive one at a time. The next one begins when the promise of the function is settled.
    /// If it is rejected, the upload fails. The client is slowed down meanwhile. Memory does not
    /// depend on the size of files.
    ///
    /// The promise resolves with the text fields when the body has ended. It is rejected with 400
    /// if the body is malformed, and with 413 if it exceeds a limit. All files saved by
    /// [Part#saveTo(java.nio.file.Path)] are then deleted.
    ///
    /// @param files runs on the loop thread, also in blocking handlers
    /// @throws HttpException 415 if the body has another type, 400 without a valid boundary
    Promise<FormData> multipart(
            MultipartConfig config, Function<? super Part, ? extends Promise<?>> files);

    /// Calls back for data as it arrives. The buffer is valid until the callback returns. All of it
    /// counts as read.
    ///
    /// @return this body
    Body onData(Consumer<? super Buffer> callback);

    /// Calls back when the whole body and its trailers have arrived. Like [#onFailure], it belongs
    /// to [#onData].
    ///
    /// @return this body
    Body onEnd(Runnable callback);

    /// Calls back, instead of [#onEnd], if the body will not be complete: the client has
    /// disconnected or is too slow, a limit is exceeded, the framing is malformed, or the handler
    /// has responded already.
    ///
    /// A response that has begun is then up to the handler: it ends the response, or rejects its
    /// promise. Without a callback the response is truncated. Exceptions of the callback are
    /// logged.
    ///
    /// @return this body
    Body onFailure(Consumer<? super Throwable> callback);

    /// Stops reading until [#resume()].
    void pause();

    /// Resumes reading.
    void resume();

    /// Returns the body as a stream that blocks. For the thread of a [BlockingHandler], never the
    /// loop thread.
    InputStream stream();

    /// Returns the trailers after the end; empty if absent.
    Headers trailers();
}
