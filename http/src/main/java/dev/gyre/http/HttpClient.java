package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.internal.client.LoopClient;

import java.net.URI;

/// A small HTTP/1.1 client: for tests, health checks and drivers, on the parser of the server.
///
/// ```java
/// var client = HttpClient.on(loop);
/// client.get(URI.create("http://localhost:8080/")).thenAccept(answer -> IO.println(answer.text()));
/// client.request("PUT", uri).header("Content-Type", "text/plain").send("hello");
/// ```
///
/// Connections are kept and used again, at most [HttpClientConfig#maxConnections] for each host and port; requests above that
/// wait. A request on a kept connection that turns out to be closed is sent again if it is idempotent. Redirects are not followed.
///
/// **Failure.** Rejected with what [dev.gyre.io.Stream#connect] is rejected with, a [java.net.SocketTimeoutException], a
/// [java.net.ProtocolException] that names what is wrong with the answer, or
/// [dev.gyre.io.StreamClosedException].
///
/// **Threads.** Loop thread only, or any one while no thread runs the loop; [#close()] from any.
public interface HttpClient extends AutoCloseable {
    /// A client with the usual limits.
    static HttpClient on(EventLoop loop) {
        return on(loop, HttpClientConfig.DEFAULT);
    }

    /// A client.
    static HttpClient on(EventLoop loop, HttpClientConfig config) {
        return new LoopClient(loop, config);
    }

    /// Asks for something.
    ///
    /// @throws IllegalArgumentException if the URI is not one of `http` or `https` with a host
    default Promise<HttpAnswer> get(URI uri) {
        return request("GET", uri).send();
    }

    /// Begins a request.
    ///
    /// @throws IllegalArgumentException if the URI is not one of `http` or `https` with a host
    HttpCall request(String method, URI uri);

    /// How many connections are open, kept ones included.
    int connections();

    /// Closes all connections; what is under way is rejected. Any thread.
    @Override
    void close();
}
