package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.internal.client.LoopClient;

import java.net.URI;

/// A small HTTP/1.1 client: for tests, health checks, drivers and proxies, on the parser of the server.
///
/// ```java
/// var client = HttpClient.on(loop);
/// client.get(URI.create("http://localhost:8080/")).thenAccept(answer -> IO.println(answer.text()));
/// client.request("PUT", uri).header("Content-Type", "text/plain").send("hello");
/// ```
///
/// Connections are kept and used again, at most [HttpClientConfig#maxConnections] for each host and port; requests
/// above that wait, and are sent in order; that a connection cannot be opened rejects one only if there is no other to wait for. What a server sends unasked is no answer: before a kept connection is used
/// all that has arrived on it is read, and if that is anything, bytes or an end, the request goes to another
/// connection. An idempotent request on a kept connection that was closed before a byte
/// of the answer came is sent again, once, on a new one, unless its content was written bit by bit. Announcements (1xx)
/// are skipped, and redirects not followed.
///
/// **Failure.** Rejected with what [dev.gyre.io.Stream#connect] is rejected with, a
/// [java.net.SocketTimeoutException], a [java.net.ProtocolException] that names what is wrong with the answer, a
/// [dev.gyre.io.StreamClosedException] if there is no complete one, or a [dev.gyre.LoopOverloadedException] if too
/// many wait. After an answer with anything wrong, or with bytes that belong to none, the connection is closed.
///
/// **Threads.** Loop thread only, or any one while no thread runs the loop; [#close()] from any. On another thread, as that of a
/// [BlockingHandler]: `CompletableFuture.supplyAsync(() -> client.get(uri), loop).join().await()`.
public interface HttpClient extends AutoCloseable {
    /// A client with the usual limits.
    static HttpClient on(EventLoop loop) {
        return on(loop, HttpClientConfig.DEFAULT);
    }

    /// A client.
    ///
    /// @throws IllegalArgumentException if its TLS is a server's
    static HttpClient on(EventLoop loop, HttpClientConfig config) {
        return new LoopClient(loop, config);
    }

    /// Asks for something.
    ///
    /// @throws IllegalArgumentException if the URI is not one of `http` or `https` with a host, or has a user
    /// @throws IllegalStateException if the client is closed
    default Promise<HttpAnswer> get(URI uri) {
        return request("GET", uri).send();
    }

    /// Begins a request.
    ///
    /// @param method in capitals, and not `CONNECT`
    /// @throws IllegalArgumentException if it is no such method, or the URI as for [#get]
    /// @throws IllegalStateException if the client is closed
    HttpCall request(String method, URI uri);

    /// How many connections are open, kept ones included.
    int connections();

    /// Closes all connections; what is under way is rejected. Any thread.
    @Override
    void close();
}
