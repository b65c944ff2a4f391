package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.io.Buffer;

/// The content of a response, bit by bit.
///
/// **Backpressure.** On the loop `write` says no above the stream's high-water mark, and [#onWritable] tells when there is room
/// again; on a [BlockingHandler]'s thread it waits. Who writes on although it says no fills the memory: above the stream's limit, 16 MiB unless
/// [dev.gyre.io.StreamConfig#withOutputLimit] says otherwise, the connection is closed, the answer cut off ([Response#isCutOff()]), and a warning logged;
/// the stream is over at once.
///
/// **Ending.** By [#end()]: who does not call it holds the connection, and the server does not know that nobody will. That the peer has ended its side is told by
/// [Request#cancellation()], that the connection is gone by [#onClose]. Only if the peer has ended its side, the handler's promise is settled, and nothing was written for
/// [HttpConfig#idleTimeout()], is the answer cut off, with a warning; a handler whose promise settles with the end of the stream is never taken for one that forgot.
///
/// With a `Content-Length` set before, more than that throws, and an end before it closes the connection.
/// A stream whose answer has no content, as that to `HEAD`, and that of a peer that is gone are over from the beginning: nothing is
/// written, and nothing throws, also on an interrupted thread.
///
/// **Threads.** As those of [Response].
public interface ResponseStream {
    /// Writes what is readable in the buffer, and empties it.
    ///
    /// @return whether to go on; false also if the stream is over, when nothing is written any more
    /// @throws IllegalStateException if its handler has ended it itself
    /// @throws java.util.concurrent.CompletionException if a thread is interrupted that waits for room, by somebody else than the server: what was
    ///     written so far stands
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
