package dev.gyre.cli.admin;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.ClientRequest;
import dev.gyre.http.ClientResponse;
import dev.gyre.http.HttpClient;
import dev.gyre.http.HttpClientConfig;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.URI;
import java.time.Duration;

/// Sends requests to a server's admin address.
///
/// Loop thread only.
public final class AdminClient implements AutoCloseable {
    /// Longer than the second that the server waits for a stalled loop.
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final EventLoop loop;
    private final HttpClient client;
    private final String name;

    /// @param name the address, for messages
    public AdminClient(EventLoop loop, SocketAddress address, String name) {
        this.loop = loop;
        this.name = name;
        client =
                HttpClient.on(
                        loop, HttpClientConfig.DEFAULT.withAddress(address).withTimeout(TIMEOUT));
    }

    public EventLoop loop() {
        return loop;
    }

    /// Sends a GET request. The promise is rejected with an [IOException] whose message is for the
    /// user.
    ///
    /// @param path with the query
    public Promise<String> get(String path) {
        return send("GET", path, "");
    }

    /// Sends a request that changes something, with a form if it is not empty.
    public Promise<String> send(String method, String path, String form) {
        // The server accepts only requests for localhost.
        ClientRequest request = client.request(method, URI.create("http://localhost" + path));
        if (!method.equals("GET")) {
            request.header("X-Gyre-Admin", "1");
        }
        if (!form.isEmpty()) {
            request.header("Content-Type", "application/x-www-form-urlencoded");
        }
        return request.send(form)
                .then(
                        response -> body(path, response),
                        failure -> {
                            throw new IOException(unreachable(failure), failure);
                        });
    }

    private String body(String path, ClientResponse response) throws IOException {
        if (response.status() == 200 || response.status() == 204) {
            return response.text();
        }
        boolean unknown = response.status() == 404 && path.equals("/loops");
        throw new IOException(
                unknown
                        ? name + " is not the admin address of a Gyre server: it has no /loops"
                        : problem(response));
    }

    /// Returns the message of an error response, which is JSON or text.
    private String problem(ClientResponse response) {
        String text = response.text().strip();
        try {
            Json json = Json.parse(text);
            for (String member : new String[] {"error", "detail", "message", "title"}) {
                if (json.get(member).value() instanceof String message) {
                    return message;
                }
            }
        } catch (IllegalArgumentException e) {
            // Plain text.
        }
        return text.isEmpty() || text.startsWith("<")
                ? name + " responded with status " + response.status()
                : text;
    }

    private String unreachable(Throwable failure) {
        return "Cannot reach the admin address " + name + ": " + failure.getMessage();
    }

    @Override
    public void close() {
        client.close();
    }
}
