package dev.gyre.http;

import dev.gyre.Promise;

/// Handles requests on the loop thread.
///
/// ```java
/// Handler hello = (request, response) -> response.text("Hello, World!");
/// Handler user  = (request, response) -> users.find(request.pathLong("id")).then(response::json);
/// Handler photo = (request, response) -> photos.find(request.path()).then(response::sendFile);
/// ```
///
/// **Result.** The methods of [Response] that send return a promise, settled except for `sendFile`.
/// A handler's own promise keeps the request open until it settles, and may belong to another loop.
/// If it resolves to another promise, the server waits for that one too. So `then` and
/// `thenCompose` are equivalent at the end of a chain. `null` is allowed once a response is sent.
///
/// **Failure.** An exception, a rejected promise, or the lack of a response is handled by
/// [Routes#onError]. The default response is that of an [HttpException], also one that is a cause,
/// or else 500.
///
/// **Threads.** Loop thread. Code that blocks or computes for long belongs in a [BlockingHandler].
@FunctionalInterface
public interface Handler {
    /// Handles a request.
    ///
    /// @return the result of a method of [Response], or a promise that settles once the response is
    ///     sent
    Promise<?> handle(Request request, Response response) throws Exception;
}
