package dev.gyre.http;

import dev.gyre.Promise;

/// Answers requests on the loop thread.
///
/// ```java
/// Handler hello = (request, response) -> response.text("Hello, World!");
/// Handler user  = (request, response) -> users.find(request.path("id")).then(response::json);
/// Handler file  = (request, response) -> photos.find(request.path("id")).then(response::file);
/// ```
///
/// **What it returns** tells when it is done: the methods of [Response] that answer return a promise that is settled
/// already, and a promise of its own keeps the request open until that settles. If it resolves to
/// another promise, the server waits for that one, and so on. So `then` and `thenCompose` are
/// equivalent at the end of a chain. A promise may belong to another loop. Rejected, or with an
/// exception thrown before, the answer is an error: that of an [HttpException], also one that is
/// the cause of what was thrown, otherwise 500. So it is if null is returned and nothing was
/// answered.
///
/// **Threads.** Loop thread: work that waits or computes for long belongs into a [BlockingHandler].
@FunctionalInterface
public interface Handler {
    /// Answers a request.
    ///
    /// @return what [Response] returned, or a promise that is settled when the answer is given
    Promise<?> handle(Request request, Response response) throws Exception;
}
