package dev.gyre.http;

import dev.gyre.Cancellation;
import dev.gyre.Promise;
import dev.gyre.io.Buffer;

import java.time.Duration;
import java.util.function.Consumer;

/// A request that a client is about to send.
///
/// **Streaming.** Content of any size goes through in pieces, both ways:
///
/// ```java
/// HttpCall call = client.request("GET", uri).timeout(Duration.ZERO).stallTimeout(Duration.ofSeconds(30));
/// call.onHead(head -> IO.println(head.status()));
/// call.onData(data -> {
///     if (!out.write(data)) {
///         call.pause();
///     }
/// });
/// out.onWritable(call::resume);
/// call.send().thenAccept(answer -> out.end());
/// ```
///
/// **Times.** [#timeout] is for all of the call, and [#stallTimeout] for silence in it. Either rejects the call with a
/// [java.net.SocketTimeoutException] that says which.
///
/// **Threads.** As those of [HttpClient].
public interface HttpCall {
    /// Sets a header field, in place of what was set of that name before. `Host` is the URI's unless it is set here;
    /// the length of the content is seen to. With `Connection: close` the connection is not used again.
    ///
    /// @return this call
    /// @throws IllegalArgumentException if it would not be one field of one line, or is `Content-Length` or
    ///     `Transfer-Encoding`
    HttpCall header(String name, String value);

    /// Adds a header field beside those of the same name. As [#header], but there is one `Host` only.
    ///
    /// @return this call
    HttpCall addHeader(String name, String value);

    /// Asks for this, as it is, in place of path and query of the URI, which say only whom to ask then: for what others have asked for.
    ///
    /// @param target begins with a slash, or is `*`
    /// @return this call
    /// @throws IllegalArgumentException if it is neither, or has a character that none has: white space, or what is not ASCII
    HttpCall target(String target);

    /// Gives the call up when it is not wanted any more: it is rejected with the [dev.gyre.CancelledException], and not sent if it was not
    /// yet, or its connection closed. The cancellation may come from any thread. The last one that is set counts.
    ///
    /// @return this call
    HttpCall cancelOn(Cancellation cancellation);

    /// Changes [HttpClientConfig#timeout] for this call: how long all of it may take.
    ///
    /// @param timeout zero for never
    /// @return this call
    HttpCall timeout(Duration timeout);

    /// Changes [HttpClientConfig#stallTimeout] for this call: how long nothing of it may move once it has a connection.
    ///
    /// @param timeout zero for never
    /// @return this call
    HttpCall stallTimeout(Duration timeout);

    /// Calls back once with status and header fields, before any content: [HttpAnswer#content()] and
    /// [HttpAnswer#trailers()] are empty. Announcements (1xx) are not told. What it may still
    /// decide is whether content is collected, by [#onData]. If the callback throws, the call is rejected with that, and its connection
    /// closed.
    ///
    /// @return this call
    HttpCall onHead(Consumer<? super HttpAnswer> callback);

    /// Calls back for content as it arrives. To be set before the call is sent, or in [#onHead]. Content is not collected then:
    /// [HttpAnswer#content()] is empty, and [HttpClientConfig#maxContent] no limit. The buffer is valid until it returns; what is left in it is dropped.
    /// If the callback throws, the call is rejected with that, and its connection closed.
    ///
    /// @return this call
    HttpCall onData(Consumer<? super Buffer> callback);

    /// Stops reading the answer, until [#resume()]: neither its head nor content is told meanwhile, and the server is slowed down by
    /// its own full buffers. May be called at any time, also by the callbacks, and before the call is sent. Of its times only [#timeout] runs meanwhile. A call
    /// whose last byte was told already ends all the same.
    void pause();

    /// Goes on reading. May be called at any time.
    void resume();

    /// Sends it without content.
    ///
    /// @return the answer, when all of it has arrived
    /// @throws IllegalStateException if it was sent already
    Promise<HttpAnswer> send();

    /// Sends it with content, which is not to be changed until the answer is there.
    ///
    /// @return as [#send()]
    Promise<HttpAnswer> send(byte[] content);

    /// Sends it with text in UTF-8.
    ///
    /// @return as [#send()]
    Promise<HttpAnswer> send(String content);

    /// Sends it with content that is written bit by bit, in chunks.
    ///
    /// @return what to write it to, and to end it by
    /// @throws IllegalStateException if it was sent already
    RequestStream stream();

    /// Sends it with content of that length, written bit by bit.
    ///
    /// @return as [#stream()]
    /// @throws IllegalArgumentException if the length is negative
    /// @throws IllegalStateException if it was sent already
    RequestStream stream(long length);
}
