package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.io.Buffer;

/// Writes the body of a request in parts: the counterpart of [ResponseStream].
///
/// ```java
/// var out = client.request("PUT", uri).stream();
/// out.write("first,");
/// out.write("last");
/// out.end().thenAccept(response -> IO.println(response.status()));
/// ```
///
/// **Backpressure.** `write` returns false above the stream's high-water mark, and while the
/// request has no connection. [#onWritable] reports when there is room again. Ignoring `false`
/// buffers up to [dev.gyre.io.StreamConfig#outputLimit()]; beyond it the request is rejected.
///
/// **Ending.** Call [#end()]: the server waits for more until then. The body also ends with the
/// request: if the response arrives before the body is complete, or the request fails. Later writes
/// have no effect and do not throw. After an early response the connection is closed.
///
/// **Failure.** A request with a streamed body is never retried.
///
/// **Threads.** As for [HttpClient].
public interface ClientRequestStream {
    /// Writes the readable bytes of a buffer, and consumes them. The other `write` methods return
    /// and throw as this one does.
    ///
    /// @return false above the high-water mark, or if the request has ended and the data was
    ///     dropped
    /// @throws IllegalStateException after [#end()], or if the data exceeds the length passed to
    ///     [ClientRequest#stream(long)]
    boolean write(Buffer data);

    /// Writes bytes.
    boolean write(byte[] data);

    /// Writes text in UTF-8.
    boolean write(String text);

    /// Sets the callback for a body that is writable again after `write` returned false. If the
    /// callback throws, the request is rejected with that exception.
    ///
    /// @return this
    ClientRequestStream onWritable(Runnable callback);

    /// Ends the body. Idempotent. If bytes are missing to the length passed to
    /// [ClientRequest#stream(long)], rejects the request with an [IllegalStateException].
    ///
    /// @return [#response()]
    Promise<ClientResponse> end();

    /// Returns the response, as [ClientRequest#send()] does. It may resolve before the body is
    /// ended.
    Promise<ClientResponse> response();

    /// Returns whether writes have an effect.
    boolean isOpen();
}
