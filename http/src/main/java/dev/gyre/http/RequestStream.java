package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.io.Buffer;

/// The content of a request that a client sends bit by bit: the other end of [ResponseStream].
///
/// ```java
/// RequestStream out = client.request("PUT", uri).stream();
/// out.write("first,");
/// out.write("last");
/// out.end().thenAccept(answer -> IO.println(answer.status()));
/// ```
///
/// **Backpressure.** `write` says no above the stream's high-water mark, and while there is no connection yet; [#onWritable] tells when
/// there is room again. Who writes on regardless loses the call at [dev.gyre.io.StreamConfig#outputLimit].
///
/// **Ending.** By [#end()], without which a server waits for more: [HttpCall#stallTimeout] tells of that. It is over before if the
/// call is: with an answer that came before the end of the content, after which nothing of that is sent any more and the connection is not used
/// again, or because it failed. Then nothing is written, and nothing throws.
///
/// **Failure.** What is lost with a connection cannot be sent again: such a call never is.
///
/// **Threads.** As those of [HttpClient].
public interface RequestStream {
    /// Writes what is readable in the buffer, and empties it.
    ///
    /// @return whether to go on; false also if the call is over, when nothing is written any more
    /// @throws IllegalStateException if it was ended, or this is more than the length that was said
    boolean write(Buffer content);

    /// Writes bytes.
    ///
    /// @return as [#write(Buffer)]
    boolean write(byte[] content);

    /// Writes text in UTF-8.
    ///
    /// @return as [#write(Buffer)]
    boolean write(String content);

    /// Calls back each time there is room again after `write` said no. If the callback throws, the call is rejected with that, and
    /// its connection closed.
    ///
    /// @return this
    RequestStream onWritable(Runnable callback);

    /// Ends the content. Does nothing if it has ended, or the call is over. If less was written than the length that was said, the call is
    /// rejected with an [IllegalStateException], and its connection closed: the server would wait for the rest.
    ///
    /// @return [#answer()]
    Promise<HttpAnswer> end();

    /// The answer, as [HttpCall#send()] promises it. It may come before the end of the content.
    Promise<HttpAnswer> answer();

    /// Whether what is written goes anywhere.
    boolean isOpen();
}
