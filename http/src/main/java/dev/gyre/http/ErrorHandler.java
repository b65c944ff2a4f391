package dev.gyre.http;

import dev.gyre.Promise;

/// Sends the response to a request whose handler or middleware failed. See [Routes#onError].
///
/// ```java
/// server.onError(NoSuchUser.class,
///         (failure, request, response) -> response.status(404).json(failure.id()));
/// ```
///
/// **Response.** The response has status 200 and none of the headers that the failed handler set.
/// Headers set by middleware remain. So do `Allow` (with 405, and with 501 if other methods are
/// allowed) and `Retry-After` (with 503).
///
/// **Failure.** A failed error handler is not called again: the server sends the default response.
///
/// **Threads.** Loop thread.
///
/// @param <E> the type of the failures
@FunctionalInterface
public interface ErrorHandler<E extends Throwable> {
    /// Sends the response.
    ///
    /// @param failure the exception thrown, or the reason of the rejected promise
    /// @return as in [Handler#handle]
    Promise<?> handle(E failure, Request request, Response response) throws Exception;
}
