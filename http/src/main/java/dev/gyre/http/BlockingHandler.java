package dev.gyre.http;

/// Answers requests on a virtual thread of its own, where it may wait.
///
/// [Request] and [Response] are used there as on the loop: what has to happen on the loop does, and the thread waits for it. A
/// stream of output ([Response#stream()]) makes the thread wait while the peer does not keep up.
///
/// **Ending.** It has answered when it returns: content that was begun and not ended is cut off then, and a warning logged.
///
/// **Interrupts.** The thread is interrupted when the peer has ended its side, as by closing the connection, when the connection is gone, and when the server
/// cuts it off. A peer that has only ended its side still gets what is answered then, also from a thread that is interrupted; a handler that fails or returns without an
/// answer instead has its connection closed, without a word in the log, and [Response#status()] is 499. [Request#cancellation()] tells the same to what does not
/// heed interrupts. The end of a peer is seen when all that came before it was read.
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
