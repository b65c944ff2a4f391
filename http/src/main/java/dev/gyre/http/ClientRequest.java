package dev.gyre.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Cancellation;
import dev.gyre.Promise;
import dev.gyre.io.Buffer;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.function.Consumer;

/// A request that a client is about to send. One of the `send` or `stream` methods sends it, once.
///
/// **Streaming.** Bodies of any size are transferred in parts, both ways:
///
/// ```java
/// var request = client.request("GET", uri)
///         .timeout(Duration.ZERO)
///         .stallTimeout(Duration.ofSeconds(30));
/// request.onHead(head -> IO.println(head.status()));
/// request.onData(data -> {
///     if (!out.write(data)) {
///         request.pause();
///     }
/// });
/// out.onWritable(request::resume);
/// request.send().thenAccept(_ -> out.end());
/// ```
///
/// **Timeouts.** [#timeout] limits the whole exchange, [#stallTimeout] the time without progress.
/// Both reject with a [java.net.SocketTimeoutException] that says which one expired.
///
/// **Misuse.** After the request was sent, the methods that configure or send it throw an
/// [IllegalStateException]. Methods that return a `ClientRequest` return this one.
///
/// **Threads.** As for [HttpClient].
public interface ClientRequest {
    /// Sets a header, in place of those of the same name. The default `Host` is that of the URI.
    /// The length of the body is set automatically. With `Connection: close` the connection is not
    /// reused.
    ///
    /// @throws IllegalArgumentException if name or value are invalid, or the name is
    ///     `Content-Length` or `Transfer-Encoding`
    ClientRequest header(String name, String value);

    /// Adds a header after those of the same name. Throws as [#header] does, and for a second
    /// `Host`.
    ClientRequest addHeader(String name, String value);

    /// Sets the request target, in place of the URI's path and query. For proxies, which forward
    /// targets unchanged.
    ///
    /// @param target starts with a slash, or is `*`
    /// @throws IllegalArgumentException if it does not, or has white space or characters other than
    ///     ASCII
    ClientRequest target(String target);

    /// Abandons the request on cancellation, also from another thread. The promise is rejected with
    /// the [dev.gyre.CancelledException], and the connection is closed. Replaces an earlier
    /// cancellation.
    ClientRequest cancelOn(Cancellation cancellation);

    /// Sets [HttpClientConfig#timeout()] for this request.
    ///
    /// @param timeout zero for no timeout
    ClientRequest timeout(Duration timeout);

    /// Sets [HttpClientConfig#stallTimeout()] for this request.
    ///
    /// @param timeout zero for no timeout
    ClientRequest stallTimeout(Duration timeout);

    /// Follows redirects (301, 302, 303, 307 and 308 with a `Location`). By default, the client
    /// returns them as responses.
    ///
    /// A 303, and a 301 or 302 to a POST, continue as a GET without a body. Other redirects repeat
    /// method and body. `Authorization`, `Cookie`, `Proxy-Authorization` and `Host` are not sent to
    /// another origin. [#onHead] and [#onData] receive the final response only. The timeout applies
    /// to the whole chain.
    ///
    /// The promise is rejected with a [java.net.ProtocolException] that names the chain: after too
    /// many redirects, for a loop, an invalid `Location`, a redirect from https to http, or a
    /// streamed body that would have to be repeated.
    ///
    /// @param max the maximum of redirects, such as 5; zero for none
    /// @throws IllegalArgumentException if the maximum is negative
    ClientRequest followRedirects(int max);

    /// Also follows redirects from https to http, where others can read the request.
    ClientRequest allowInsecureRedirects();

    /// Sets the callback for status and headers, called once before the body. Its response has no
    /// body and no trailers. It may still set [#onData]. Interim responses (1xx) are not reported.
    /// If the callback throws, the request is rejected with that exception.
    ClientRequest onHead(Consumer<? super ClientResponse> callback);

    /// Sets the callback for parts of the body. The body is then not collected:
    /// [ClientResponse#body()] is empty, and [HttpClientConfig#maxBody()] does not apply. The
    /// buffer is valid until the callback returns; unread bytes are dropped. May also be called in
    /// [#onHead]. If the callback throws, the request is rejected with that exception.
    ClientRequest onData(Consumer<? super Buffer> callback);

    /// Pauses reading the response until [#resume()]. Neither head nor body is reported meanwhile,
    /// and full buffers slow the server down. Only [#timeout] still applies. A response whose last
    /// byte was reported completes anyway. May be called at any time, also before sending.
    void pause();

    /// Resumes reading. May be called at any time.
    void resume();

    /// Sends the request without a body.
    ///
    /// @return resolves with the complete response, whatever its status is
    default Promise<ClientResponse> send() {
        return send(new byte[0]);
    }

    /// Sends the request with a body. Do not change the array until the response is complete.
    ///
    /// @return as [#send()]
    Promise<ClientResponse> send(byte[] body);

    /// Sends the request with text in UTF-8.
    ///
    /// @return as [#send()]
    default Promise<ClientResponse> send(String text) {
        return send(text.getBytes(UTF_8));
    }

    /// Sends the request with a value as JSON, written by [HttpClientConfig#jsonMapper()]. The
    /// default `Content-Type` is `application/json`.
    ///
    /// @return as [#send()]
    /// @throws RuntimeException if the value has no JSON form
    Promise<ClientResponse> sendJson(@Nullable Object value);

    /// Sends the request with a body of unknown length, in chunks.
    ///
    /// @return the stream to write the body to
    ClientRequestStream stream();

    /// Sends the request with a body of known length.
    ///
    /// @return the stream to write the body to
    /// @throws IllegalArgumentException if the length is negative
    ClientRequestStream stream(long length);
}
