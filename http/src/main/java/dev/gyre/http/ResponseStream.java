package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.io.Buffer;

/// The content of a response, bit by bit.
///
/// **Backpressure.** On the loop `write` says no above the stream's high-water mark, and [#onWritable] tells when there is room
/// again; on a [BlockingHandler]'s thread it waits.
///
/// **Ending.** By [#end()]. With a `Content-Length` set before, more than that throws, and an end before it closes the connection.
/// A stream whose answer has no content, as that to `HEAD`, and that of a peer that is gone are over from the beginning: nothing is
/// written, and nothing throws.
///
/// **Threads.** As those of [Response].
public interface ResponseStream {
    /// Writes what is readable in the buffer, and empties it.
    ///
    /// @return whether to go on; false also if the stream is over, when nothing is written any more
    /// @throws IllegalStateException if its handler has ended it itself
    boolean write(Buffer content);

    /// Writes bytes.
    ///
    /// @return as [#write(Buffer)]
    boolean write(byte[] content);

    /// Writes text in UTF-8.
    ///
    /// @return as [#write(Buffer)]
    boolean write(String content);

    /// Hands what is written so far to the peer, which compression would hold back otherwise.
    void flush();

    /// Calls back each time there is room again after `write` said no. What it throws is a failure of the handler.
    ///
    /// @return this
    ResponseStream onWritable(Runnable callback);

    /// Calls back once when the stream is over: it was ended, or the connection was closed before. At once if that has
    /// been already. What it throws is logged.
    ///
    /// @return this
    ResponseStream onClose(Runnable callback);

    /// Sets a trailer field, sent behind the last chunk to peers that said `TE: trailers`.
    ///
    /// @return this
    /// @throws IllegalStateException if a `Content-Length` was set, with which there are no chunks
    /// @throws IllegalArgumentException if such a field belongs into the header: those that say where a message ends, who is
    ///     to have it, whether it may be had, or how its content is to be read (RFC 9110, 6.5.1)
    ResponseStream trailer(String name, String value);

    /// Ends the content. Does nothing if that is over.
    ///
    /// @return as the methods of [Response] that answer
    Promise<?> end();

    /// Whether what is written goes anywhere.
    boolean isOpen();
}
