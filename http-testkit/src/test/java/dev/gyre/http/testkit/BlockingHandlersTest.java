package dev.gyre.http.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.testkit.Faults;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/// Blocking handlers behind a test client.
class BlockingHandlersTest {
    /// The Date header would differ from one second to the next.
    private static final HttpConfig FIXED_DATE =
            HttpConfig.DEFAULT.withClock(InstantSource.fixed(Instant.EPOCH));

    private static void routes(HttpServer server) {
        server.blockingPost(
                "/length",
                (request, response) -> {
                    byte[] bytes = request.body().bytes().await();
                    response.status(201).header("X-Length", "" + bytes.length).json(bytes.length);
                });
    }

    @ParameterizedTest
    @EnumSource
    void blockingHandler_readsTheBodyAndResponds(Setting setting) {
        setting.run(
                BlockingHandlersTest::routes,
                client ->
                        client.post("/length")
                                .body(new byte[300_000])
                                .expectStatus(201)
                                .expectHeader("X-Length", "300000")
                                .expectJson("300000"));
    }

    @Test
    void blockingHandler_underFaults_worksForEverySeedAndRepeats() {
        List<Long> digests = digests();
        assertThat(digests()).isEqualTo(digests).doesNotHaveDuplicates();
    }

    private static List<Long> digests() {
        List<Long> digests = new ArrayList<>();
        SimulatedWorld.eachSeed(
                30,
                world -> {
                    world.faults(Faults.harmless());
                    HttpServer server = HttpServer.on(world.loop(), FIXED_DATE);
                    routes(server);
                    TestClient client = TestClient.of(world, server.listen(80));
                    client.post("/length").body("x".repeat(50_000)).expectStatus(201);
                    digests.add(world.trace().digest());
                });
        return digests;
    }
}
