/// Fetches what is at an address: `HttpGet.java http://localhost:8080/`. Prints the status and the content.
import dev.gyre.EventLoop;
import dev.gyre.http.HttpAnswer;
import dev.gyre.http.HttpClient;

void main(String[] arguments) {
    var uri = URI.create(arguments.length > 0 ? arguments[0] : "http://localhost:8080/");
    try (var loop = EventLoop.open()) {
        var client = HttpClient.on(loop);
        client.get(uri).then(this::print, this::excuse).finallyRun(client::close);
        loop.runUntilEmpty();
    }
}

boolean print(HttpAnswer answer) {
    IO.println(answer.status() + " " + answer.reason());
    IO.print(answer.text());
    return true;
}

/// A server that is not there, or speaks something else: not a status, which is an answer like any other.
boolean excuse(Throwable failure) {
    IO.println("no answer: " + failure.getMessage());
    return false;
}
