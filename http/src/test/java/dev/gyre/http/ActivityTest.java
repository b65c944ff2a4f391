package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.metrics.ConnectionInfo;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

class ActivityTest {
    private final SimulatedWorld world = SimulatedWorld.seed(5);
    private final HttpServer server = HttpServer.on(world.loop()).listen(80);

    @AfterEach
    void close() {
        world.close();
    }

    private SimulatedPeer send(String text) {
        SimulatedPeer peer = world.connect(80).send(text);
        world.advance(Duration.ofMillis(100));
        return peer;
    }

    private SimulatedPeer get(String path) {
        return send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    }

    private String activity() {
        CompletableFuture<List<ConnectionInfo>> listed =
                world.loop().connections().toCompletableFuture();
        world.advance(Duration.ofMillis(1));
        assertThat(listed.join()).hasSize(1);
        return listed.join().getFirst().activity();
    }

    @Test
    @Clause("V-7")
    void activity_betweenRequests_isIdle() {
        SimulatedPeer peer = send("");
        assertThat(activity()).isEqualTo("idle");
        peer.send("GET /a");
        world.advance(Duration.ofMillis(100));
        assertThat(activity()).isEqualTo("reading a request head");
    }

    @Test
    @Clause("V-7")
    void activity_whileAHandlerWorks_isMethodAndPattern() {
        server.get("/users/{id}", (_, _) -> world.loop().deferred().promise());
        get("/users/7?token=secret");
        assertThat(activity()).isEqualTo("GET /users/{id}, handling");
    }

    @Test
    @Clause("V-3")
    void runningCallback_ofAHandler_hasMethodAndPattern() {
        List<String> seen = new ArrayList<>();
        server.get(
                "/users/{id}",
                (request, response) -> {
                    // As the watchdog does, on a thread of its own.
                    Thread watchdog =
                            Thread.ofPlatform()
                                    .start(
                                            () ->
                                                    request.loop()
                                                            .metrics()
                                                            .running()
                                                            .ifPresent(
                                                                    each ->
                                                                            seen.add(
                                                                                    each
                                                                                            .description())));
                    watchdog.join();
                    return response.text("done");
                });
        get("/users/7");
        assertThat(seen).hasSize(1);
        assertThat(seen.getFirst()).endsWith("GET /users/{id}, handling").contains("connection ");
    }

    @Test
    @Clause("V-7")
    void activity_duringAStreamedResponse_isResponding() {
        server.get(
                "/events",
                (_, response) -> {
                    boolean _ = response.stream().write("a part");
                    return world.loop().deferred().promise();
                });
        get("/events");
        assertThat(activity()).isEqualTo("GET /events, responding");
    }

    @Test
    @Clause("V-7")
    void activity_ofAWebSocket_isItsPathWithoutTheQuery() {
        server.webSocket("/chat", _ -> {});
        send(
                """
                GET /chat?token=secret HTTP/1.1
                Host: a
                Connection: Upgrade
                Upgrade: websocket
                Sec-WebSocket-Version: 13
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==

                """
                        .replace("\n", "\r\n"));
        assertThat(activity()).isEqualTo("WebSocket /chat");
    }
}
