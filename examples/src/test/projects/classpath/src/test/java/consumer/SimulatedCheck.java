package consumer;

import dev.gyre.http.HttpServer;
import dev.gyre.testkit.SimulatedWorld;

/// Serves a page in a simulated world and prints whether the client received it.
final class SimulatedCheck {
    private SimulatedCheck() {}

    public static void main(String[] arguments) {
        try (var world = SimulatedWorld.seed(1)) {
            var server = HttpServer.on(world.loop());
            server.get("/", (request, response) -> response.text("simulated"));
            server.listen(80);
            var client = world.connect(80).send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
            world.run();
            System.out.println(client.receivedText().endsWith("simulated"));
        }
    }
}
