/// An HTTPS server and the library's own clients in one simulated world.
import dev.gyre.*;
import dev.gyre.http.*;
import dev.gyre.http.testkit.*;
import dev.gyre.io.*;
import dev.gyre.testkit.*;

HttpServer serve(EventLoop loop) {
    var server = HttpServer.on(loop);
    server.get("/", (request, response) -> response.text("Hello, TLS!"));
    server.webSocket("/echo", socket -> socket.onText(socket::send));
    return server.listen(443, Tls.selfSigned("localhost"));
}

void main() {
    try (var world = SimulatedWorld.seed(42)) {
        var loop = world.loop();
        var server = serve(loop);
        var trusting = StreamConfig.DEFAULT.withTls(Tls.client().withoutVerification());

        var http = HttpClient.on(loop, HttpClientConfig.DEFAULT.withStreams(trusting));
        http.get(URI.create("https://localhost/"))
                .thenAccept(response -> IO.println("HttpClient: " + response.text()));
        world.run();

        var config = WebSocketConfig.DEFAULT.withStreams(trusting);
        WebSocket.connect(loop, URI.create("wss://localhost/echo"), config)
                .thenAccept(
                        socket -> {
                            socket.onText(text -> IO.println("WebSocket: " + text));
                            socket.send("hello");
                        });
        world.run();

        var client = TestClient.of(world, server, HttpClientConfig.DEFAULT.withStreams(trusting));
        client.get("/").expectStatus(200).expectText("Hello, TLS!");
        client.webSocket("/echo").send("hello").expectText("hello");
        IO.println("TestClient: passed");
    }
}
