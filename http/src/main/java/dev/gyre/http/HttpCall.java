package dev.gyre.http;

import dev.gyre.Promise;
import dev.gyre.io.Buffer;

import java.time.Duration;
import java.util.function.Consumer;

/// A request that a client is about to send.
///
/// **Threads.** As those of [HttpClient].
public interface HttpCall {
    /// Sets a header field, in place of what was set of that name before. `Host` and the length are seen to.
    ///
    /// @return this call
    /// @throws IllegalArgumentException if it would not be one field of one line
    HttpCall header(String name, String value);

    /// Changes [HttpClientConfig#timeout] for this call.
    ///
    /// @return this call
    HttpCall timeout(Duration timeout);

    /// Calls back for content as it arrives, which is not collected then: [HttpAnswer#bytes()] is empty. Valid until it returns.
    ///
    /// @return this call
    HttpCall onData(Consumer<? super Buffer> callback);

    /// Sends it without content.
    ///
    /// @return the answer, when all of it has arrived
    Promise<HttpAnswer> send();

    /// Sends it with content.
    ///
    /// @return as [#send()]
    Promise<HttpAnswer> send(byte[] content);

    /// Sends it with text in UTF-8.
    ///
    /// @return as [#send()]
    Promise<HttpAnswer> send(String content);
}
