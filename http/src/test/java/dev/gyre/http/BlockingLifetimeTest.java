package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

/// Blocking handlers that run on after their response, or beside callbacks on the loop.
@On("simulated")
class BlockingLifetimeTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final SimulatedWorld world = SimulatedWorld.seed(16);
    private final HttpServer server = HttpServer.on(world.loop());
    private final List<String> seen = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        world.close();
    }

    /// Lets the thread of a blocking handler wait.
    private static void pause(EventLoop loop, Duration time) throws Exception {
        loop.call(() -> Promise.delay(loop, time)).get();
    }

    private static String get(String target, String cookie) {
        return "GET " + target + " HTTP/1.1\r\nHost: a\r\nCookie: " + cookie + "\r\n\r\n";
    }

    // ------------------------------------------------------------------ after the response

    @Test
    @Clause("H-6")
    void handler_whoseMiddlewareResponds_neverSeesTheNextRequest() {
        server.use(
                        (request, response, next) -> {
                            Promise<?> result = next.handle(request, response);
                            return request.path().equals("/slow") ? response.text("now") : result;
                        })
                .blocking(
                        "GET",
                        "/slow",
                        (request, _) -> {
                            pause(request.loop(), SECOND);
                            seen.add(request.header("Cookie") + " " + request.remoteAddress());
                        })
                .get("/who", (request, response) -> response.text("" + request.remoteAddress()))
                .listen(80);
        SimulatedPeer first = world.connect(80).send(get("/who", "first"));
        world.advance(Duration.ofMillis(100));
        String address = body(first);
        first.takeReceived();
        first.send(get("/slow", "first"));
        world.advance(Duration.ofMillis(100));
        assertThat(first.receivedText()).endsWith("now");
        SimulatedPeer second = world.connect(80).send(get("/who", "second"));
        world.advance(SECOND.multipliedBy(2));
        assertThat(body(second)).isNotEqualTo(address);
        assertThat(seen).containsExactly("first " + address);
    }

    @Test
    @Clause("H-8")
    void body_readAfterTheTimeout_failsForTheHandlerOnly() {
        server.blocking(
                        "POST",
                        "/",
                        (request, _) -> {
                            pause(request.loop(), SECOND.multipliedBy(2));
                            for (Supplier<Promise<?>> read :
                                    List.<Supplier<Promise<?>>>of(
                                            () -> request.body().bytes(),
                                            () -> request.body().form())) {
                                try {
                                    Promise<?> promise = read.get();
                                    pause(request.loop(), SECOND);
                                    promise.await();
                                } catch (CompletionException | IllegalStateException e) {
                                    seen.add("failed");
                                }
                            }
                        })
                .timeout(SECOND)
                .listen(80);
        try (LogCapture log = new LogCapture()) {
            SimulatedPeer client =
                    world.connect(80)
                            .send(
                                    """
                                    POST / HTTP/1.1
                                    Host: a
                                    Content-Type: application/x-www-form-urlencoded
                                    Content-Length: 70000

                                    """
                                            .replace("\n", "\r\n"));
            world.advance(SECOND.multipliedBy(10));
            assertThat(client.receivedText()).startsWith("HTTP/1.1 503 ");
            assertThat(seen).containsExactly("failed", "failed");
            assertThat(log.messages()).isEmpty();
        }
    }

    private static String body(SimulatedPeer peer) {
        String text = peer.receivedText();
        return text.substring(text.indexOf("\r\n\r\n") + 4);
    }

    @Test
    @Clause("H-6")
    void body_readAfterTheTimeoutOfTheRoute_failsInsteadOfBeingEmpty() {
        server.blocking(
                        "PUT",
                        "/document",
                        (request, response) -> {
                            pause(request.loop(), SECOND.multipliedBy(2));
                            try {
                                seen.add("read " + request.body().bytes().await().length);
                            } catch (Exception e) {
                                seen.add(e.toString());
                            }
                            response.text("stored");
                        })
                .timeout(SECOND)
                .listen(80);
        SimulatedPeer peer =
                world.connect(80)
                        .send(
                                "PUT /document HTTP/1.1\r\nHost: a\r\n"
                                        + "Content-Length: 100000\r\n\r\nabc");
        world.advance(Duration.ofSeconds(3));
        assertThat(peer.receivedText()).startsWith("HTTP/1.1 503 ");
        assertThat(seen).hasSize(1);
        assertThat(seen.getFirst()).contains("the response was sent before the body was read");
    }

    @Test
    @Clause("H-6")
    void body_readAfterTheResponse_failsInsteadOfBeingEmpty() {
        server.blocking(
                        "PUT",
                        "/document",
                        (request, response) -> {
                            response.status(202).send();
                            pause(request.loop(), SECOND);
                            try {
                                seen.add("read " + request.body().text().await().length());
                            } catch (Exception e) {
                                seen.add(e.toString());
                            }
                        })
                .listen(80);
        SimulatedPeer peer =
                world.connect(80)
                        .send(
                                "PUT /document HTTP/1.1\r\nHost: a\r\n"
                                        + "Content-Length: 6\r\n\r\nabc");
        world.advance(Duration.ofMillis(100));
        peer.send("def");
        world.advance(Duration.ofSeconds(3));
        assertThat(peer.receivedText()).startsWith("HTTP/1.1 202 ");
        assertThat(seen).hasSize(1);
        assertThat(seen.getFirst()).contains("the response was sent before the body was read");
    }

    @Test
    @Clause("H-7")
    void cancellation_firstUsedAfterTheTimeout_isCancelled() {
        server.blocking(
                        "GET",
                        "/slow",
                        (request, _) -> {
                            pause(request.loop(), SECOND.multipliedBy(2));
                            seen.add("cancelled: " + request.cancellation().isCancelled());
                        })
                .timeout(SECOND)
                .listen(80);
        SimulatedPeer peer = world.connect(80).send(get("/slow", "a"));
        world.advance(Duration.ofSeconds(3));
        assertThat(peer.receivedText()).startsWith("HTTP/1.1 503 ");
        assertThat(seen).containsExactly("cancelled: true");
    }

    // ------------------------------------------------------------------ beside the loop

    @Test
    @Clause("H-8")
    void keepAliveComment_whileALargeEventWaitsForTheClient_isNotWrittenIntoIt() {
        String data = "a".repeat(4 << 20);
        server.blocking(
                        "GET",
                        "/events",
                        (_, response) -> {
                            EventStream events = response.events().keepAlive(SECOND);
                            seen.add("sent " + events.send(data));
                            events.close();
                        })
                .listen(80);
        SimulatedPeer peer = world.connect(80).pauseReading().send(get("/events", "a"));
        world.advance(Duration.ofSeconds(4));
        assertThat(seen).isEmpty();
        peer.resumeReading();
        world.run();
        assertThat(seen).containsExactly("sent true");
        assertThat(peer.receivedText()).endsWith("\r\n0\r\n\r\n").doesNotContain("\r\n:\n\n");
    }

    @Test
    @Clause("H-8")
    void handler_thatWaitsForItsClient_resumesAlsoIfACallbackWroteMeanwhile() {
        server.blocking(
                        "GET",
                        "/",
                        (request, response) -> {
                            ResponseStream out = response.stream();
                            EventLoop loop = request.loop();
                            loop.submit(
                                    () -> loop.after(SECOND, _ -> seen.add("" + out.write("b"))));
                            for (int i = 0; i < 64; i++) {
                                out.write(new byte[64 << 10]);
                            }
                            out.end();
                            seen.add("ended");
                        })
                .listen(80);
        SimulatedPeer peer = world.connect(80).pauseReading().send(get("/", "a"));
        world.advance(SECOND.multipliedBy(2));
        assertThat(seen).containsExactly("false");
        peer.resumeReading();
        world.run();
        assertThat(seen).containsExactly("false", "ended");
        assertThat(peer.receivedText()).endsWith("\r\n0\r\n\r\n");
    }

    // ------------------------------------------------------------------ during an error response

    @Test
    @Clause("H-7")
    void lateResponse_whileAnErrorHandlerWorks_isDiscarded() {
        server.blocking(
                        "POST",
                        "/slow",
                        (request, response) -> {
                            pause(request.loop(), SECOND.multipliedBy(2));
                            response.text("late");
                        })
                .onStatus(
                        503,
                        (request, response) ->
                                Promise.delay(request.loop(), SECOND.multipliedBy(2))
                                        .then(_ -> response.text("busy")))
                .timeout(SECOND)
                .listen(80);
        try (LogCapture log = new LogCapture()) {
            SimulatedPeer peer = world.connect(80).send(get("/slow", "a").replace("GET", "POST"));
            world.advance(Duration.ofMillis(2_500));
            assertThat(peer.receivedText()).isEmpty();
            world.advance(SECOND);
            assertThat(peer.receivedText()).startsWith("HTTP/1.1 503 ").endsWith("busy");
            assertThat(log.messages()).isEmpty();
        }
    }
}
