package dev.gyre.http.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.http.HttpServer;
import dev.gyre.http.internal.admin.AdminRoutes;
import dev.gyre.http.internal.admin.AdminSources;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;

/// The endpoints on a simulated loop that watches itself: what depends on time.
class AdminSimulationTest {
    private static final Duration SHORT = Duration.ofMillis(200);
    private static final Duration ALMOST_A_MINUTE = Duration.ofSeconds(55);

    private final SimulatedWorld world = SimulatedWorld.seed(5);
    private final EventLoop loop = world.loop();

    @BeforeEach
    void listen() {
        HttpServer server = HttpServer.on(loop);
        AdminSources sources =
                new AdminSources(() -> List.of(loop), loop.trace(), () -> false, null, null);
        AdminRoutes.addTo(server, sources, false);
        server.listen(80);
    }

    @AfterEach
    void close() {
        world.close();
    }

    private String send(String request) {
        SimulatedPeer peer = world.connect(80).send(request);
        world.advance(SHORT);
        String response = peer.receivedText();
        peer.close();
        return response;
    }

    private String get(String path) {
        return send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    }

    @Test
    @Clause("V-7")
    void listing_isUsedForASecond() {
        assertThat(get("/connections")).contains("\"total\":1,");
        List<SimulatedPeer> more = List.of(world.connect(80), world.connect(80));
        world.advance(SHORT);

        assertThat(get("/connections")).as("the same listing").contains("\"total\":1,");

        world.advance(Duration.ofSeconds(1));
        assertThat(get("/connections")).as("a new listing").contains("\"total\":3,");
        assertThat(more).allMatch(SimulatedPeer::isOpen);
    }

    private void startTrace() {
        String form = "all=1";
        assertThat(
                        send(
                                """
                                POST /trace HTTP/1.1
                                Host: a
                                X-Gyre-Admin: 1
                                Content-Type: application/x-www-form-urlencoded
                                Content-Length: %d

                                %s\
                                """
                                        .formatted(form.length(), form)
                                        .replace("\n", "\r\n")))
                .startsWith("HTTP/1.1 200 ");
        assertThat(loop.trace().isOn()).isTrue();
    }

    @Test
    @Clause("V-6")
    void trace_thatNoClientReads_stopsAfterAMinute() {
        startTrace();
        for (int i = 0; i < 3; i++) {
            world.advance(ALMOST_A_MINUTE);
            assertThat(get("/trace?format=json")).contains("\"on\":true,\"filter\":\"all\"");
        }
        world.advance(ALMOST_A_MINUTE);
        assertThat(loop.trace().isOn()).isTrue();

        world.advance(Duration.ofSeconds(10));

        assertThat(loop.trace().isOn()).isFalse();
        assertThat(get("/trace?format=json")).contains("\"on\":false,\"filter\":null");
    }

    @Test
    @Clause("V-6")
    void trace_ofTheProgram_isNotStopped() {
        loop.trace().all().start();
        world.advance(Duration.ofMinutes(5));
        assertThat(loop.trace().isOn()).isTrue();
        startTrace();
        world.advance(Duration.ofMinutes(2));
        assertThat(loop.trace().isOn()).isFalse();
        loop.trace().all().start();
        assertThat(get("/trace?format=json")).contains("\"on\":true,\"filter\":null");
        world.advance(Duration.ofMinutes(5));
        assertThat(loop.trace().isOn()).isTrue();
    }
}
