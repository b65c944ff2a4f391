package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.io.Buffer;

/// The body of a response, written piece by piece.
///
/// **Backpressure.** On the loop, `write` returns false above the stream's high-water mark, and
/// [#onWritable] calls back once there is room. Ignoring `false` buffers up to the output limit: 16
/// MiB, or [dev.gyre.io.StreamConfig#withOutputLimit]. Beyond it the connection is closed, the
/// response is truncated ([Response#isTruncated()]), and a warning is logged.
///
/// **Blocking handlers.** On the thread of a [BlockingHandler], writes are collected in a buffer of
/// 16 KiB, later 64 KiB. A full buffer goes to the loop, and the thread waits while the client does
/// not keep up. The head is sent with the first buffer. Call [#flush()] to send less than that.
///
/// **Ending.** Call [#end()]: an open stream holds its connection. [Request#cancellation()] reports
/// that the client has ended its side, and [#onClose] that the connection is gone. The server
/// truncates a forgotten stream, with a warning, only if the client has ended its side, the
/// handler's promise is settled, and nothing was written for [HttpConfig#idleTimeout()].
///
/// **Length.** If a `Content-Length` was set, a write beyond it throws, and an end before it closes
/// the connection. A response without a body, as to `HEAD`, and one whose connection is lost have a
/// stream that is closed from the beginning: it discards writes, and nothing throws.
///
/// **Lifetime.** Once the handler has ended the stream and the exchange has ended, all methods
/// throw an [IllegalStateException].
///
/// **Threads.** As for [Response].
public interface ResponseStream {
    /// Writes the readable bytes of the buffer, and consumes them.
    ///
    /// @return whether to continue; false also if the stream is closed and the write is discarded
    /// @throws IllegalStateException if the handler has ended the stream
    /// @throws java.util.concurrent.CompletionException if a thread that waits for room is
    ///     interrupted, except by the server; earlier writes stay written
    boolean write(Buffer data);

    /// Writes bytes, which are copied.
    ///
    /// @return as [#write(Buffer)]
    boolean write(byte[] data);

    /// Writes text in UTF-8.
    ///
    /// @return as [#write(Buffer)]
    boolean write(String text);

    /// Sends all writes so far, including those that compression or the buffer of a blocking
    /// handler holds back.
    void flush();

    /// Calls back each time there is room again after `write` returned false. An exception fails
    /// the handler.
    ///
    /// @return this
    ResponseStream onWritable(Runnable callback);

    /// Calls back once when the stream was ended, or the connection was closed before; at once if
    /// that has happened. Exceptions are logged.
    ///
    /// @return this
    ResponseStream onClose(Runnable callback);

    /// Sets a trailer, sent after the last chunk to clients that sent `TE: trailers`.
    ///
    /// @return this
    /// @throws IllegalStateException if a `Content-Length` was set: trailers need chunks
    /// @throws IllegalArgumentException if the name is not allowed in trailers: names for framing,
    ///     routing, authentication and the format of the body (RFC 9110, 6.5.1)
    ResponseStream trailer(String name, String value);

    /// Ends the body. Does nothing if the stream is closed.
    ///
    /// @return as the methods of [Response] that send
    Promise<?> end();

    /// Returns whether writes reach the client.
    boolean isOpen();
}
