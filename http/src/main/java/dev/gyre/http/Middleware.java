package dev.gyre.http;

import dev.gyre.Promise;

/// Stands between requests and the handlers that answer them: may answer itself, or let the next one do so and see to what
/// comes of it.
///
/// ```java
/// server.use((request, response, next) ->
///         allowed(request) ? next.handle(request, response) : response.status(403).text("not for you"));
/// ```
///
/// Those of the ordinary kind are there: [AccessLog], [Compression], [Cors].
///
/// **Afterwards.** What is to be done behind the answer, such as counting or logging, goes to [Response#onDone]: the request is still there, and
/// it is called however the answer ends. A step behind the promise of `next` comes too late for the request: that is over with its answer.
///
/// ```java
/// server.use((request, response, next) -> {
///     response.onDone(() -> log(request.path(), response.status()));
///     return next.handle(request, response);
/// });
/// ```
///
/// **Order.** As they were given to [HttpServer#use], the first one outermost; routes that do not exist pass through too.
///
/// **Threads.** Loop thread.
@FunctionalInterface
public interface Middleware {
    /// Handles a request, or hands it on.
    ///
    /// @param next everything behind this one
    /// @return as [Handler#handle]
    Promise<?> handle(Request request, Response response, Handler next) throws Exception;

    /// Hears of what was no request: it was answered with an error, as nobody can handle it, and its connection is
    /// about to be closed. What this throws is logged, and goes no further. Does nothing unless overridden.
    default void refused(RefusedRequest request) {}
}
