/// Fetches a URL and prints status and body: `HttpGet.java http://localhost:8080/`.
import dev.gyre.EventLoop;
import dev.gyre.http.ClientResponse;
import dev.gyre.http.HttpClient;

void main(String[] arguments) {
    var uri = URI.create(arguments.length > 0 ? arguments[0] : "http://localhost:8080/");
    try (var loop = EventLoop.open()) {
        var client = HttpClient.on(loop);
        client.get(uri).then(this::print, this::printFailure).finallyRun(client::close);
        loop.runUntilEmpty();
    }
}

boolean print(ClientResponse response) {
    IO.println(response.status() + " " + response.reason());
    IO.print(response.text());
    return true;
}

/// The server is unreachable, or its response is malformed. An error status is a normal response.
boolean printFailure(Throwable failure) {
    IO.println("no response: " + failure.getMessage());
    return false;
}
