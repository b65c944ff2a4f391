/// An HTTP server with one loop per processor. Try: `curl http://localhost:8080/`.
/// Press Ctrl-C to stop: it drains.
import dev.gyre.LoopGroup;
import dev.gyre.http.Handler;
import dev.gyre.http.HttpServer;

final Handler hello = (request, response) -> response.text("Hello, World!\n");

void main(String[] arguments) {
    int port = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 8080;
    try (var group = LoopGroup.ofCores()) {
        var server = HttpServer.on(group).get("/", hello).listen(port);
        IO.println("listening on " + server.uri());
        server.await();
    }
}
