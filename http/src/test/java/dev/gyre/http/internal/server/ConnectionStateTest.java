package dev.gyre.http.internal.server;

import static dev.gyre.http.internal.server.ExchangeState.CLOSED;
import static dev.gyre.http.internal.server.ExchangeState.CLOSING;
import static dev.gyre.http.internal.server.ExchangeState.FAILING;
import static dev.gyre.http.internal.server.ExchangeState.HANDLING;
import static dev.gyre.http.internal.server.ExchangeState.IDLE;
import static dev.gyre.http.internal.server.ExchangeState.READING_HEAD;
import static dev.gyre.http.internal.server.ExchangeState.RESPONDED;
import static dev.gyre.http.internal.server.ExchangeState.RESPONDING;
import static dev.gyre.http.internal.server.ExchangeState.UPGRADED;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.http.Response;
import dev.gyre.http.ResponseStream;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// The states of real connections, transition by transition.
class ConnectionStateTest {
    private static final Duration STEP = Duration.ofMillis(10);
    private static final String SLOW = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";

    private final SimulatedWorld world = SimulatedWorld.seed(7);
    private final Deferred<String> slow = world.loop().deferred();
    private final HttpServer server = HttpServer.on(world.loop(), HttpConfig.DEFAULT);
    private @Nullable HttpConnection connection;
    private @Nullable Response response;
    private @Nullable ResponseStream stream;

    @BeforeEach
    void serve() {
        server.use(
                        (request, response, next) -> {
                            connection = ((ServerRequest) request).exchange().connection();
                            this.response = response;
                            return next.handle(request, response);
                        })
                .get("/", (_, response) -> response.text("hello"))
                .get("/slow", (_, response) -> slow.promise().then(response::text))
                .get("/stream", (_, response) -> stream(response))
                .post("/post", (_, response) -> response.text("posted"))
                .post(
                        "/read",
                        (request, response) ->
                                request.body()
                                        .bytes()
                                        .thenCompose(_ -> slow.promise())
                                        .then(response::text))
                .webSocket("/socket", _ -> {})
                .listen(80);
    }

    private Promise<?> stream(Response response) {
        stream = response.stream();
        stream.write("part");
        return slow.promise();
    }

    @AfterEach
    void close() {
        world.close();
    }

    private ExchangeState state() {
        return Objects.requireNonNull(connection).state();
    }

    private SimulatedPeer send(String text) {
        SimulatedPeer client = world.connect(80).send(text);
        world.advance(STEP);
        return client;
    }

    private static String get(String target) {
        return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
    }

    @Clause("H-5")
    @Test
    void partOfAHead_isReadingHead_untilTheRestHasArrived() {
        SimulatedPeer client = send(get("/"));
        assertThat(state()).isEqualTo(IDLE);
        client.send("GET / HT");
        world.advance(STEP);
        assertThat(state()).isEqualTo(READING_HEAD);
        client.send("TP/1.1\r\nHost: a\r\n\r\n");
        world.advance(STEP);
        assertThat(state()).isEqualTo(IDLE);
    }

    @Clause("H-5")
    @Test
    void handlerWithoutAResponse_isHandling_untilItResponds() {
        send(SLOW);
        assertThat(state()).isEqualTo(HANDLING);
        slow.resolve("late");
        world.advance(STEP);
        assertThat(state()).isEqualTo(IDLE);
    }

    @Clause("H-5")
    @Test
    void handlerThatFails_isFailing_untilItsErrorHandlerResponds() {
        server.get(
                        "/fails",
                        (_, _) -> {
                            throw new IllegalArgumentException("failed");
                        })
                .onError(
                        IllegalArgumentException.class,
                        (_, _, response) -> slow.promise().then(response.status(400)::text));
        SimulatedPeer client = send(get("/fails"));
        assertThat(state()).isEqualTo(FAILING);
        slow.resolve("late");
        world.advance(STEP);
        assertThat(state()).isEqualTo(IDLE);
        assertThat(client.receivedText()).startsWith("HTTP/1.1 400 ").endsWith("late");
    }

    @Clause("H-5")
    @Test
    void streamedResponse_isResponding_untilItsEnd() {
        send(get("/stream"));
        assertThat(state()).isEqualTo(RESPONDING);
        Promise<?> _ = Objects.requireNonNull(stream).end();
        assertThat(state()).isEqualTo(IDLE);
    }

    @Clause("H-5")
    @Test
    void handlerThatFailsInTheMiddle_isClosing_andLosesItsExchangeAtOnce() {
        SimulatedPeer client = send(get("/stream"));
        Response known = Objects.requireNonNull(response);
        List<Boolean> truncated = new ArrayList<>();
        known.onComplete(() -> truncated.add(known.isTruncated()));
        slow.reject(new IllegalStateException("in the middle"));
        world.advance(STEP);
        assertThat(state()).isEqualTo(CLOSING);
        assertThat(Objects.requireNonNull(stream).isOpen()).isFalse();
        assertThat(truncated).containsExactly(true);
        client.halfClose();
        world.advance(STEP);
        assertThat(state()).isEqualTo(CLOSED);
    }

    @Clause("H-5")
    @Test
    void responseBeforeTheBody_isResponded_untilTheBodyIsDropped() {
        SimulatedPeer client =
                send("POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
        assertThat(state()).isEqualTo(RESPONDED);
        client.send("cd");
        world.advance(STEP);
        assertThat(state()).isEqualTo(IDLE);
    }

    @Clause("H-5")
    @Test
    void upgrade_isUpgraded_untilTheStreamCloses() {
        SimulatedPeer client =
                send(
                        """
                        GET /socket HTTP/1.1\r
                        Host: localhost\r
                        Connection: Upgrade\r
                        Upgrade: websocket\r
                        Sec-WebSocket-Version: 13\r
                        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                        \r
                        """);
        assertThat(state()).isEqualTo(UPGRADED);
        client.reset();
        world.advance(STEP);
        assertThat(state()).isEqualTo(CLOSED);
    }

    @Clause("H-5")
    @Test
    void lastResponse_isClosing_untilTheClientEnds() {
        SimulatedPeer client = send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assertThat(state()).isEqualTo(CLOSING);
        client.halfClose();
        world.advance(STEP);
        assertThat(state()).isEqualTo(CLOSED);
    }

    @Clause("H-5")
    @Test
    void clientThatResets_whileHandling_isClosed_andTheResponseIsDiscarded() {
        SimulatedPeer client = send(SLOW);
        client.reset();
        world.advance(STEP);
        assertThat(state()).isEqualTo(CLOSED);
        slow.resolve("nobody reads it");
        world.advance(STEP);
        assertThat(client.receivedText()).isEmpty();
    }

    @Clause("H-3")
    @Test
    void timeouts_closeIdleConnections_andThoseThatReadAHead() {
        send(get("/"));
        world.advance(HttpConfig.DEFAULT.idleTimeout().plus(STEP));
        assertThat(state()).isEqualTo(CLOSING);
        SimulatedPeer client = send(get("/"));
        client.send("GET / HT");
        world.advance(HttpConfig.DEFAULT.headerTimeout().plus(STEP).plus(STEP));
        assertThat(state()).isEqualTo(CLOSING);
        assertThat(client.receivedText()).contains("HTTP/1.1 408 ");
    }

    @Clause("H-3")
    @Test
    void bodyTimeout_doesNotCount_onceABodyInPiecesIsComplete() {
        SimulatedPeer client =
                send("POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
        client.send("cd");
        world.advance(HttpConfig.DEFAULT.bodyTimeout().multipliedBy(3));
        assertThat(state()).isEqualTo(HANDLING);
        slow.resolve("late");
        world.advance(STEP);
        assertThat(client.receivedText()).startsWith("HTTP/1.1 200 ").endsWith("late");
    }

    @Clause("H-5")
    @Test
    void drainByAHandler_thatHasResponded_closesItsConnection() {
        server.get(
                "/bye",
                (_, response) -> {
                    Promise<?> sent = response.text("bye");
                    Promise<?> _ = server.drain(Duration.ofHours(1));
                    return sent;
                });
        SimulatedPeer client = send(get("/bye"));
        assertThat(client.receivedText()).endsWith("bye");
        assertThat(state()).isNotEqualTo(IDLE);
        assertThat(Objects.requireNonNull(connection).stream().isOpen()).isFalse();
    }
}
