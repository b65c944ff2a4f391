package dev.gyre.http;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.internal.client.LoopClient;

import org.jspecify.annotations.Nullable;

import java.net.URI;

/// Sends HTTP/1.1 requests over pooled connections.
///
/// ```java
/// var client = HttpClient.on(loop);
/// client.get(URI.create("http://localhost:8080/"))
///         .thenAccept(response -> IO.println(response.text()));
/// client.request("PUT", uri).header("Content-Type", "text/plain").send("hello");
/// ```
///
/// **JSON.** With a mapper, requests and responses are objects:
///
/// ```java
/// var config = HttpClientConfig.DEFAULT.withJsonMapper(JacksonMapper.of(new ObjectMapper()));
/// var client = HttpClient.on(loop, config);
/// client.postJson(todos, new NewTodo("write tests"))
///         .then(response -> response.json(Todo.class))
///         .thenAccept(todo -> IO.println(todo.id()));
/// ```
///
/// **Connections** are kept open and reused, at most [HttpClientConfig#maxConnections()] per host
/// and port. Further requests wait and are sent in order. If a connection cannot be opened, a
/// request is rejected only if no other connection may become free.
///
/// **Unsolicited input** is never taken for a response. Before a connection is reused, all input
/// that has arrived is read. If there is any, bytes or an end, another connection carries the
/// request.
///
/// **Retries.** An idempotent request on a reused connection is retried once, on a new connection,
/// if the connection was closed before the first byte of the response. Streamed bodies are not
/// retried.
///
/// **Redirects** are followed on request only: see [ClientRequest#followRedirects]. Interim
/// responses (1xx) are skipped.
///
/// **Failure.** A response with an error status resolves the promise. The promise is rejected with
/// the failure of [dev.gyre.io.Stream#connect], a [java.net.SocketTimeoutException], a
/// [java.net.ProtocolException] that names the problem of a response, a
/// [dev.gyre.io.StreamClosedException] if the response is incomplete, or a
/// [dev.gyre.LoopOverloadedException] if too many requests wait. After an invalid response, or
/// bytes after it, the connection is closed.
///
/// **Threads.** Loop thread, or any thread while no thread runs the loop. [#close()]: any thread.
/// On other threads, such as those of a [BlockingHandler], use [EventLoop#call]:
/// `loop.call(() -> client.get(uri)).get()`.
public interface HttpClient extends AutoCloseable {
    /// Returns a client with the default configuration.
    static HttpClient on(EventLoop loop) {
        return on(loop, HttpClientConfig.DEFAULT);
    }

    /// Returns a client.
    ///
    /// @throws IllegalArgumentException if the configured TLS is a server's
    static HttpClient on(EventLoop loop, HttpClientConfig config) {
        return new LoopClient(loop, config);
    }

    /// Sends a GET request.
    ///
    /// @throws IllegalArgumentException if the URI is not `http` or `https` with a host, or has a
    ///     user
    /// @throws IllegalStateException if the client is closed
    default Promise<ClientResponse> get(URI uri) {
        return request("GET", uri).send();
    }

    /// Sends a POST request with a value as JSON. Throws as [#get] and
    /// [ClientRequest#sendJson] do.
    default Promise<ClientResponse> postJson(URI uri, @Nullable Object value) {
        return request("POST", uri).sendJson(value);
    }

    /// Creates a request, to be sent with one of its `send` methods.
    ///
    /// @param method in capitals, except `CONNECT`
    /// @throws IllegalArgumentException if the method is invalid, or for a URI as [#get]
    /// @throws IllegalStateException if the client is closed
    ClientRequest request(String method, URI uri);

    /// Returns the number of open connections, including idle ones.
    int connections();

    /// Closes all connections and rejects pending requests. Any thread.
    @Override
    void close();
}
