package dev.gyre.http;

/// Handles requests on a virtual thread each, which may block.
///
/// ```java
/// server.blockingPost("/orders", (request, response) -> {
///     byte[] order = request.body().bytes().await();
///     long id = database.insert(order);
///     response.status(201).header("Location", "/orders/" + id).text("created");
/// });
/// ```
///
/// [Request] and [Response] are used as on the loop. Status and headers stay with the thread until
/// they are sent, and sending does not wait for the loop. A [ResponseStream] collects writes, and
/// waits while the client does not keep up. One thread at a time may use a response.
///
/// **Ending.** The response must be complete when the handler returns. A stream that was not ended
/// is truncated, and a warning is logged. The request and response are valid until then, also if
/// the client has left meanwhile.
///
/// **Clients that leave.** Reading the body and writing a stream end then. [Request#cancellation()]
/// reports it to the rest of the handler. The server does not interrupt a handler because of its
/// client: an interrupt closes the channel that the thread uses, which may be a file that all
/// handlers share. A handler without such a channel may bind its thread to the client:
///
/// ```java
/// request.cancellation().onCancel(Thread.currentThread()::interrupt);
/// ```
///
/// A client that has ended its side may still read the response, so it is sent. If the handler
/// fails by that interrupt instead, the connection is closed, nothing is logged, and
/// [Response#status()] is 499.
///
/// **Interrupts.** The thread is interrupted when the server stops waiting for it: at the deadline
/// of [HttpServer#drain], and when its loop terminates.
///
/// **Limits.** [HttpConfig#maxBlocking] handlers run at a time for each loop. Further requests get
/// 503. A handler does not count while it waits for its client: for a body, or for room to write.
///
/// **Failure.** As for a [Handler].
@FunctionalInterface
public interface BlockingHandler {
    /// Handles a request. Sends the response before it returns.
    void handle(Request request, Response response) throws Exception;
}
