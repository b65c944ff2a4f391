package dev.gyre.http.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.LoopGroup;
import dev.gyre.Promise;
import dev.gyre.http.HttpServer;
import dev.gyre.http.HttpServerGroup;
import dev.gyre.http.WebSocketGroup;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;

import java.time.Duration;

/// A [TestClient] of a server on several loops.
class GroupClientTest {
    private static HttpServerGroup app(LoopGroup group) {
        WebSocketGroup chat = new WebSocketGroup();
        return HttpServer.on(group)
                .get("/", (_, response) -> response.text("hello"))
                .get(
                        "/slow",
                        (request, response) ->
                                Promise.delay(request.loop(), Duration.ofMillis(20))
                                        .then(_ -> response.text("slow")))
                .blockingGet("/blocking", (_, response) -> response.text("blocking"))
                .webSocket(
                        "/chat",
                        socket -> {
                            chat.add(socket);
                            socket.onText(chat::broadcast);
                        });
    }

    private static void use(TestClient client) {
        client.get("/").expectStatus(200).expectText("hello");
        client.get("/slow").expectStatus(200).expectText("slow");
        client.get("/blocking").expectStatus(200).expectText("blocking");
        client.get("/none").expectStatus(404);
        TestWebSocket one = client.webSocket("/chat");
        TestWebSocket two = client.webSocket("/chat");
        one.send("hi").expectText("hi");
        two.expectText("hi").close();
        one.close();
    }

    @Test
    void client_inASimulatedWorld_usesAllLoops() {
        SimulatedWorld.eachSeed(
                10,
                world -> {
                    use(TestClient.of(world, app(world.group(3)).listen(80)));
                    assertThat(world.elapsed()).isLessThan(Duration.ofSeconds(10));
                });
    }

    @Test
    void client_overRealSockets_startsTheGroup() {
        try (LoopGroup group = LoopGroup.of(2)) {
            use(TestClient.of(app(group).listen("localhost", 0)));
        }
    }
}
