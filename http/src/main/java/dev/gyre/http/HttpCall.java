package dev.gyre.http;

import dev.gyre.Cancellation;
import dev.gyre.Promise;
import dev.gyre.io.Buffer;

import java.time.Duration;
import java.util.function.Consumer;

/// A request that a client is about to send.
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

    /// Gives the call up when it is not wanted any more: it is rejected with the [dev.gyre.CancelledException], and not sent if it was not
    /// yet, or its connection closed. The cancellation may come from any thread. The last one that is set counts.
    ///
    /// @return this call
    HttpCall cancelOn(Cancellation cancellation);

    /// Changes [HttpClientConfig#timeout] for this call.
    ///
    /// @return this call
    HttpCall timeout(Duration timeout);

    /// Calls back for content as it arrives, which is not collected then: [HttpAnswer#content()] is empty, and
    /// [HttpClientConfig#maxContent] no limit. The buffer is valid until it returns; what is left in it is dropped.
    /// If the callback throws, the call is rejected with that, and its connection closed.
    ///
    /// @return this call
    HttpCall onData(Consumer<? super Buffer> callback);

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
}
