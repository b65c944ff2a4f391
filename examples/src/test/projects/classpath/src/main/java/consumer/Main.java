package consumer;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpClient;
import dev.gyre.http.HttpServer;

/// Serves a page, fetches it and prints it.
final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        try (var loop = EventLoop.open()) {
            var server = HttpServer.on(loop);
            server.get("/", (request, response) -> response.text("served and fetched"));
            server.listen(0);
            var client = HttpClient.on(loop);
            client.get(server.uri())
                    .thenAccept(response -> System.out.println(response.text()))
                    .finallyRun(loop::stop);
            loop.run();
        }
    }
}
