package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// The time that handlers have until a response begins.
@On("simulated")
class RouteTimeoutTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final SimulatedWorld world = SimulatedWorld.seed(1);
    private final HttpServer server = HttpServer.on(world.loop());

    @AfterEach
    void close() {
        world.close();
    }

    private static Handler after(Duration delay) {
        return (request, response) ->
                Promise.delay(request.loop(), delay).then(_ -> response.text("done"));
    }

    private SimulatedPeer get(String path) {
        return world.connect(80).send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    }

    @Test
    @Clause("H-7")
    void handler_thatTakesLonger_gets503_andItsConnectionIsKept() {
        server.get("/slow", after(SECOND.multipliedBy(5)))
                .get("/fast", after(Duration.ofMillis(500)))
                .timeout(SECOND)
                .listen(80);
        var client = get("/slow");
        world.advance(Duration.ofMillis(900));
        assertThat(client.receivedText()).isEmpty();
        world.advance(Duration.ofMillis(200));
        assertThat(client.receivedText())
                .startsWith("HTTP/1.1 503 ")
                .contains("\r\nRetry-After: 1\r\n")
                .endsWith("the handler did not respond within 1 s: retry later\n");
        client.takeReceived();
        client.send("GET /fast HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(SECOND);
        assertThat(client.receivedText()).startsWith("HTTP/1.1 200 ").endsWith("done");
        world.advance(SECOND.multipliedBy(10));
        assertThat(client.receivedText()).endsWith("done");
    }

    @Test
    @Clause("H-7")
    void timeout_cancelsTheRequest_andIsLeftToErrorHandlers() {
        List<String> reasons = new ArrayList<>();
        server.get(
                        "/slow",
                        (request, response) -> {
                            request.cancellation().onCancel(() -> reasons.add("cancelled"));
                            return Promise.delay(
                                            request.loop(),
                                            Duration.ofHours(1),
                                            request.cancellation())
                                    .then(_ -> response.text("never"));
                        })
                .onError(
                        HttpException.class,
                        (failure, request, response) ->
                                Promise.delay(request.loop(), SECOND)
                                        .then(
                                                _ ->
                                                        response.status(504)
                                                                .text("late " + failure.status())))
                .timeout(SECOND)
                .listen(80);
        var client = get("/slow");
        world.advance(Duration.ofMillis(2_100));
        assertThat(client.receivedText()).startsWith("HTTP/1.1 504 ").endsWith("late 503");
        assertThat(reasons).containsExactly("cancelled");
        assertThat(client.isOpen()).isTrue();
    }

    @Test
    @Clause("H-7")
    void lateHandler_whileAnErrorHandlerWorks_cannotRespondInItsName() {
        List<String> thrown = new ArrayList<>();
        server.get(
                        "/slow",
                        (request, response) ->
                                Promise.delay(request.loop(), SECOND.multipliedBy(2))
                                        .then(
                                                _ -> {
                                                    try {
                                                        return response.text("late");
                                                    } catch (IllegalStateException e) {
                                                        thrown.add(e.getMessage());
                                                        throw e;
                                                    }
                                                }))
                .onStatus(
                        503,
                        (request, response) ->
                                Promise.delay(request.loop(), SECOND.multipliedBy(2))
                                        .then(_ -> response.text("busy")))
                .timeout(SECOND)
                .listen(80);
        var client = get("/slow");
        world.advance(Duration.ofMillis(2_500));
        assertThat(client.receivedText()).isEmpty();
        assertThat(thrown).hasSize(1);
        assertThat(thrown.getFirst()).startsWith("an error response is sent instead");
        world.advance(SECOND);
        assertThat(client.receivedText()).startsWith("HTTP/1.1 503 ").endsWith("busy");
    }

    @Test
    @Clause("H-7")
    void timeout_ofAnInnerGroup_replacesThatOfTheOuter_andZeroIsNone() {
        server.timeout(SECOND)
                .route(
                        "/a",
                        a ->
                                a.timeout(SECOND.multipliedBy(3))
                                        .get("", after(SECOND.multipliedBy(2))))
                .route("/b", b -> b.timeout(Duration.ZERO).get("", after(Duration.ofMinutes(1))))
                .route("/c", c -> c.get("", after(SECOND.multipliedBy(2))))
                .listen(80);
        var a = get("/a");
        var b = get("/b");
        var c = get("/c");
        world.advance(Duration.ofSeconds(61));
        assertThat(a.receivedText()).startsWith("HTTP/1.1 200 ");
        assertThat(b.receivedText()).startsWith("HTTP/1.1 200 ");
        assertThat(c.receivedText()).startsWith("HTTP/1.1 503 ");
        assertThatThrownBy(() -> server.timeout(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("timeout must be at least 0, but is -1 s");
    }

    @Test
    @Clause("H-7")
    void responseThatHasBegun_mayTakeLonger() {
        server.get(
                        "/stream",
                        (request, response) -> {
                            ResponseStream out = response.stream();
                            out.write("a");
                            return Promise.delay(request.loop(), SECOND.multipliedBy(3))
                                    .then(
                                            _ -> {
                                                out.write("b");
                                                return out.end();
                                            });
                        })
                .timeout(SECOND)
                .listen(80);
        var client = get("/stream");
        world.advance(Duration.ofSeconds(4));
        assertThat(client.receivedText()).startsWith("HTTP/1.1 200 ").endsWith("0\r\n\r\n");
    }

    @Test
    @Clause("H-7")
    void clientThatLeaves_beforeTheTimeout_endsItsRequest() {
        server.get("/slow", after(Duration.ofHours(1))).timeout(SECOND).listen(80);
        var client = get("/slow");
        world.advance(Duration.ofMillis(100));
        client.reset();
        world.advance(Duration.ofSeconds(5));
        assertThat(server.connections()).isZero();
    }
}
