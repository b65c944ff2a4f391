/// An HTTP server. Try: `curl http://localhost:8080/`. Press Ctrl-C to stop.
import static dev.gyre.os.Signal.SIGINT;
import static dev.gyre.os.Signal.SIGTERM;

import dev.gyre.EventLoop;
import dev.gyre.http.HttpServer;
import dev.gyre.os.Signals;

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    try (var loop = EventLoop.open()) {
        var server = HttpServer.on(loop);
        server.get("/", (request, response) -> response.text("Hello, World!\n"));
        server.listen(port);
        IO.println("listening on " + server.uri());
        Signals.on(loop, SIGINT, SIGTERM, signal -> drain(server, loop));
        loop.run();
    }
}

/// Completes running requests, and then stops.
void drain(HttpServer server, EventLoop loop) {
    server.drain(Duration.ofSeconds(10)).thenAccept(nothing -> loop.stop());
}
