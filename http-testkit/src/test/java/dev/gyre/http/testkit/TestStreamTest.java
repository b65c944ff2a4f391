package dev.gyre.http.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.http.EventStream;
import dev.gyre.http.HttpServer;
import dev.gyre.http.ResponseStream;
import dev.gyre.http.ServerSentEvent;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;

class TestStreamTest {
    private static void routes(HttpServer server) {
        server.get(
                "/log",
                (_, response) -> {
                    ResponseStream stream = response.header("X-Log", "1").stream();
                    stream.write("first\n");
                    stream.flush();
                    server.loop()
                            .after(
                                    Duration.ofMillis(20),
                                    _ -> {
                                        stream.write("zweite\n");
                                        stream.end();
                                    });
                    return server.loop().<Object>deferred().promise();
                });
        server.get(
                "/events",
                (_, response) -> {
                    EventStream events = response.events();
                    events.send("one");
                    events.send(ServerSentEvent.of("a\nb").withType("price").withId("7"));
                    server.loop().after(Duration.ofMillis(20), _ -> events.close());
                    return events.closed();
                });
        server.get("/text", (_, response) -> response.text("text"));
    }

    @ParameterizedTest
    @EnumSource
    void stream_readsPiecesAsTheyArrive(Setting setting) {
        setting.run(
                TestStreamTest::routes,
                client -> {
                    try (TestStream stream = client.get("/log").stream()) {
                        stream.expectStatus(200).expectHeader("X-Log", "1").expectText("first\n");
                        assertThat(stream.next(4)).asString().isEqualTo("zwei");
                        stream.expectText("te\n").expectEnd();
                    }
                });
    }

    @ParameterizedTest
    @EnumSource
    void stream_thatDiffers_showsTheDifference(Setting setting) {
        setting.run(
                TestStreamTest::routes,
                client -> {
                    TestStream stream = client.get("/log").stream();
                    assertThatThrownBy(() -> stream.expectStatus(404))
                            .isInstanceOf(AssertionError.class)
                            .hasMessageStartingWith("expected status 404 but was 200");
                    assertThatThrownBy(() -> stream.expectText("worst\n"))
                            .hasMessageStartingWith("expected \"worst\n\" but was \"first\n\"")
                            .hasMessageContaining("GET /log")
                            .hasMessageContaining("X-Log: 1");
                    assertThatThrownBy(stream::expectEnd)
                            .hasMessageStartingWith("expected the end but received");
                    assertThatThrownBy(() -> stream.next(1))
                            .hasMessageStartingWith(
                                    "expected 1 more bytes but the body ended after 0");
                });
    }

    @ParameterizedTest
    @EnumSource
    void events_areParsed(Setting setting) {
        setting.run(
                TestStreamTest::routes,
                client -> {
                    TestEvents events = client.get("/events").events();
                    events.expectEvent("one");
                    assertThat(events.next())
                            .isEqualTo(new TestEvents.Event("price", "a\nb", "7", null));
                    events.expectEnd();
                });
    }

    @Test
    void events_thatDiffer_areShown() {
        Setting.SIMULATED.run(
                TestStreamTest::routes,
                client -> {
                    TestEvents events = client.get("/events").events();
                    assertThatThrownBy(() -> events.expectEvent("two"))
                            .isInstanceOf(AssertionError.class)
                            .hasMessageStartingWith("expected event data \"two\" but was Event[");
                    assertThatThrownBy(() -> events.expectEvent("name", "a\nb"))
                            .hasMessageStartingWith("expected event name \"a\nb\" but was Event[");
                    assertThatThrownBy(events::next)
                            .hasMessageStartingWith("expected an event but the stream ended");
                    assertThatThrownBy(() -> client.get("/text").events())
                            .hasMessageStartingWith(
                                    "expected an event stream but Content-Type was text/plain");
                });
    }

    @Test
    void stream_ofALostConnection_isTruncated() {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            HttpServer server = HttpServer.on(world.loop());
            routes(server);
            TestClient client = TestClient.of(world, server.listen(80));
            TestStream stream = client.get("/log").stream();
            server.close();
            stream.expectTruncated();
            assertThatThrownBy(stream::expectEnd)
                    .hasMessageStartingWith("expected a complete body but the stream failed");
            assertThatThrownBy(() -> client.get("/log").stream())
                    .isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith("no response: ");
        }
    }

    @Test
    void expectTruncated_ofACompleteBody_fails() {
        Setting.SIMULATED.run(
                TestStreamTest::routes,
                client ->
                        assertThatThrownBy(() -> client.get("/log").stream().expectTruncated())
                                .hasMessageStartingWith(
                                        "expected a lost connection but the body is complete"));
    }

    @Test
    void pause_stopsReadingUntilResume() {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            HttpServer server = HttpServer.on(world.loop());
            routes(server);
            TestClient client =
                    TestClient.of(world, server.listen(80)).timeout(Duration.ofSeconds(1));
            TestStream stream = client.get("/log").stream().expectText("first\n").pause();
            assertThatThrownBy(() -> stream.expectText("zweite\n"))
                    .hasMessageStartingWith("expected more of the body: nothing within 1 s");
            stream.resume().expectText("zweite\n").expectEnd();
        }
    }

    @Test
    void close_ofAnEventStream_reachesTheServer() {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            HttpServer server = HttpServer.on(world.loop());
            boolean[] closed = {false};
            server.get(
                    "/",
                    (_, response) -> {
                        EventStream events = response.events();
                        events.onClose(() -> closed[0] = true);
                        events.send("one");
                        return events.closed();
                    });
            TestClient client = TestClient.of(world, server.listen(80));
            client.get("/").events().expectEvent("message", "one").close();
            world.run();
            assertThat(closed[0]).isTrue();
        }
    }
}
