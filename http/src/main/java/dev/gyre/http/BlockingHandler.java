package dev.gyre.http;

/// Answers requests on a virtual thread of its own, where it may wait.
///
/// [Request] and [Response] are used there as on the loop: what has to happen on the loop does, and the thread waits for it. A
/// stream of output ([Response#stream()]) makes the thread wait while the peer does not keep up.
///
/// **Limits.** [HttpConfig#maxBlocking] of them run at a time for each loop; further requests are answered with 503.
///
/// **Failure.** As that of a [Handler].
@FunctionalInterface
public interface BlockingHandler {
    /// Answers a request, before it returns.
    void handle(Request request, Response response) throws Exception;
}
