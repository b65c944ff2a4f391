package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/// The health endpoint, and draining with a delay.
@On("simulated")
class HealthTest {
    private static final String GET = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";

    private static String ask(SimulatedWorld world) {
        SimulatedPeer client = world.connect(80).send(GET);
        world.advance(Duration.ofMillis(1));
        return client.receivedText();
    }

    @Test
    @Clause("H-7")
    void health_withoutACheck_isUp() {
        try (var world = SimulatedWorld.seed(1)) {
            HttpServer.on(world.loop()).health("/health").listen(80);
            assertThat(ask(world))
                    .startsWith("HTTP/1.1 200 ")
                    .contains("\r\nCache-Control: no-store\r\n")
                    .endsWith("{\"status\":\"up\"}");
        }
    }

    @Test
    @Clause("H-7")
    void health_whoseCheckFails_isDown() {
        try (var world = SimulatedWorld.seed(1)) {
            AtomicReference<Supplier<Promise<?>>> check = new AtomicReference<>();
            HttpServer.on(world.loop()).health("/health", () -> check.get().get()).listen(80);
            check.set(() -> Promise.resolved(world.loop(), true));
            assertThat(ask(world)).startsWith("HTTP/1.1 200 ");
            check.set(() -> Promise.resolved(world.loop(), false));
            assertThat(ask(world)).startsWith("HTTP/1.1 503 ").endsWith("{\"status\":\"down\"}");
            check.set(() -> Promise.rejected(world.loop(), new IllegalStateException("secret")));
            assertThat(ask(world)).startsWith("HTTP/1.1 503 ").doesNotContain("secret");
            check.set(
                    () -> {
                        throw new IllegalStateException("secret");
                    });
            assertThat(ask(world)).startsWith("HTTP/1.1 503 ").doesNotContain("secret");
            check.set(() -> Promise.resolved(world.loop(), "anything"));
            assertThat(ask(world)).startsWith("HTTP/1.1 200 ");
        }
    }

    @Test
    @Clause("H-7")
    void health_whoseCheckWantsTheLoop_isGivenIt() {
        try (var world = SimulatedWorld.seed(1)) {
            HttpServer.on(world.loop())
                    .health("/health", loop -> loop.promisify(_ -> loop == world.loop()))
                    .listen(80);
            assertThat(ask(world)).startsWith("HTTP/1.1 200 ").endsWith("{\"status\":\"up\"}");
        }
    }

    @Test
    @Clause("H-7")
    void health_whoseCheckReturnsNull_isDown() {
        try (var world = SimulatedWorld.seed(1)) {
            HttpServer.on(world.loop()).health("/health", () -> null).listen(80);
            assertThat(ask(world)).startsWith("HTTP/1.1 503 ").endsWith("{\"status\":\"down\"}");
        }
    }

    @Test
    @Clause("H-7")
    void health_whoseCheckNeverSettles_isDownAfterTenSeconds() {
        try (var world = SimulatedWorld.seed(1)) {
            Deferred<String> never = world.loop().deferred();
            HttpServer.on(world.loop()).health("/health", never::promise).listen(80);
            var client = world.connect(80).send(GET);
            world.advance(Duration.ofMillis(9_900));
            assertThat(client.receivedText()).isEmpty();
            world.advance(Duration.ofMillis(200));
            assertThat(client.receivedText()).startsWith("HTTP/1.1 503 ");
        }
    }

    @Test
    @Clause("H-7")
    void drain_withADelay_servesOnAndIsUnhealthy_andThenStopsListening() {
        try (var world = SimulatedWorld.seed(1)) {
            HttpServer server =
                    HttpServer.on(
                                    world.loop(),
                                    HttpConfig.DEFAULT.withDrainDelay(Duration.ofSeconds(5)))
                            .health("/health")
                            .get("/", (_, response) -> response.text("work"))
                            .listen(80);
            Promise<@Nullable Void> drained = server.drain(Duration.ofSeconds(20));
            assertThat(ask(world))
                    .startsWith("HTTP/1.1 503 ")
                    .endsWith("{\"status\":\"draining\"}");
            var kept = world.connect(80).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            world.advance(Duration.ofSeconds(4));
            assertThat(kept.receivedText()).endsWith("work").doesNotContain("Connection: close");
            assertThat(kept.isOpen()).isTrue();
            assertThat(drained.isSettled()).isFalse();
            assertThatThrownBy(() -> server.listen(81)).hasMessageContaining("shut down");

            world.advance(Duration.ofSeconds(2));
            var refused = world.connect(80);
            world.run();
            assertThat(refused.isRefused()).isTrue();
            assertThat(kept.isClosed() || kept.isEnded()).isTrue();
            assertThat(drained.isSettled()).isTrue();
        }
    }

    @Test
    @Clause("H-7")
    void drain_withADelayBeyondItsDeadline_endsAtTheDeadline() {
        try (var world = SimulatedWorld.seed(1)) {
            HttpServer server =
                    HttpServer.on(
                                    world.loop(),
                                    HttpConfig.DEFAULT.withDrainDelay(Duration.ofHours(1)))
                            .get("/", (q, _) -> Promise.delay(q.loop(), Duration.ofDays(1)))
                            .listen(80);
            var client = world.connect(80).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            world.advance(Duration.ofSeconds(1));
            Promise<@Nullable Void> drained = server.drain(Duration.ofSeconds(3));
            world.advance(Duration.ofMillis(2_900));
            assertThat(client.isOpen()).isTrue();
            world.advance(Duration.ofMillis(200));
            assertThat(client.isClosed()).isTrue();
            assertThat(drained.isSettled()).isTrue();
        }
    }

    @Test
    @Clause("H-7")
    void close_duringTheDelay_endsAtOnce() {
        try (var world = SimulatedWorld.seed(1)) {
            HttpServer server =
                    HttpServer.on(
                                    world.loop(),
                                    HttpConfig.DEFAULT.withDrainDelay(Duration.ofHours(1)))
                            .get("/", (_, response) -> response.text("work"))
                            .listen(80);
            var client = world.connect(80).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            world.advance(Duration.ofSeconds(1));
            Promise<@Nullable Void> drained = server.drain(Duration.ofHours(2));
            server.close();
            world.advance(Duration.ofSeconds(1));
            assertThat(client.isClosed()).isTrue();
            assertThat(drained.isSettled()).isTrue();
        }
    }
}
