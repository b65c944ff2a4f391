package dev.gyre.http;

/// Answers requests on a virtual thread of its own, where it may wait.
///
/// [Request] and [Response] are used there as on the loop: what has to happen on the loop does, and the thread waits for it. A
/// stream of output ([Response#stream()]) makes the thread wait while the peer does not keep up.
///
/// **Ending.** It has answered when it returns: content that was begun and not ended is cut off then, and a warning logged.
///
/// **Peers that leave.** Reading the content and writing output end then. Of the rest the handler hears by [Request#cancellation()]; nobody is
/// interrupted because of a peer, as an interrupt closes the channel that the thread is using, which may be a file that all handlers
/// share. One that is to end with its peer, and shares nothing of the kind, binds itself to it:
///
/// ```java
/// request.cancellation().onCancel(Thread.currentThread()::interrupt);
/// ```
///
/// The peer's end may also mean that it has nothing more to ask, and what is answered then is sent. If the handler fails by that interrupt instead, the connection
/// is closed, without a word in the log, and [Response#status()] is 499.
///
/// **Interrupts.** The thread is interrupted when the server cuts it off, at the deadline of [HttpServer#drain], or its loop ends.
///
/// **Limits.** [HttpConfig#maxBlocking] of them run at a time for each loop; further requests are answered with 503. One that
/// waits for its peer does not count: while content that it has asked for is on its way, or its output waits to be taken. Those
/// are limited by the connections there may be.
///
/// **Failure.** As that of a [Handler].
@FunctionalInterface
public interface BlockingHandler {
    /// Answers a request, before it returns.
    void handle(Request request, Response response) throws Exception;
}
