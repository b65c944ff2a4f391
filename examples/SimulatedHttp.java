/// Tests a server without a network and without waiting: the test advances the time.
import dev.gyre.*;
import dev.gyre.http.*;
import dev.gyre.testkit.*;

void serve(EventLoop loop, int port) {
    var server = HttpServer.on(loop);
    server.get("/", (request, response) -> response.text("Hello, World!"));
    server.get(
            "/later",
            (request, response) ->
                    Promise.delay(loop, Duration.ofMinutes(1)).then(_ -> response.text("at last")));
    server.listen(port);
}

String get(String path) {
    return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

void main() {
    try (var world = SimulatedWorld.seed(42)) {
        serve(world.loop(), 80);
        var client = world.connect(80).send(get("/later"));
        world.run();
        IO.println("responded at once: " + client.receivedText().contains("200 OK"));
        world.advance(Duration.ofSeconds(61));
        IO.println("responded after a minute: " + client.receivedText().endsWith("at last"));
        world.advance(Duration.ofSeconds(61));
        IO.println("closed after another: " + client.isClosed());
    }
    SimulatedWorld.eachSeed(300, world -> survive(world.faults(Faults.harmless())));
    IO.println("the same in three hundred worlds");
}

/// Bytes arrive in arbitrary pieces, and are sent in arbitrary pieces.
void survive(SimulatedWorld world) {
    serve(world.loop(), 80);
    var client = world.connect(80).send(get("/") + get("/")).halfClose();
    world.run();
    assert client.receivedText().split("Hello, World!", -1).length == 3 : client;
}
