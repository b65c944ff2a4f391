package dev.gyre.cli.serve;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.EventStream;
import dev.gyre.http.HttpServer;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.WebSocket;
import dev.gyre.metrics.LoopMetrics;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/// What is served when there is no directory: a page that shows what a server can do, and what it shows.
public final class Demo {
    private static final long MOST_BYTES = 1L << 40;
    private static final long MOST_MILLIS = 60_000;
    private static final Duration TICK = Duration.ofSeconds(1);

    private final ServerLoops loops;
    private final Exposition metrics;
    private final byte[] page;

    public Demo(ServerLoops loops) {
        this.loops = loops;
        metrics = new Exposition(loops);
        page = page();
    }

    private static byte[] page() {
        try (InputStream page = Demo.class.getResourceAsStream("welcome.html")) {
            return Objects.requireNonNull(page, "welcome.html is in the jar").readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Gives a server its routes.
    public void addTo(HttpServer server) {
        server.get("/", this::welcome)
                .get("/plaintext", (_, response) -> response.text("Hello, World!"))
                .get("/json", (_, response) -> response.json(Map.of("message", "Hello, World!")))
                .any("/echo", BodyEcho::answer)
                .get("/large", Demo::large)
                .get("/slow", Demo::slow)
                .get("/events", this::events)
                .get("/metrics", this::metrics)
                .webSocket("/ws/echo", Demo::echo);
    }

    private Promise<?> welcome(Request request, Response response) {
        return response.type("text/html; charset=utf-8")
                .header("Cache-Control", "no-cache")
                .send(page);
    }

    private static Promise<?> large(Request request, Response response) {
        return LargeContent.answer(
                request.query("bytes", 1 << 20, 0, MOST_BYTES), request, response);
    }

    private static Promise<?> slow(Request request, Response response) {
        long millis = request.query("ms", 1_000, 0, MOST_MILLIS);
        return Promise.delay(request.loop(), Duration.ofMillis(millis), request.cancellation())
                .then(_ -> response.text("waited " + millis + " ms, without a thread\n"));
    }

    private Promise<?> metrics(Request request, Response response) {
        return response.type(Exposition.TYPE)
                .header("Cache-Control", "no-store")
                .text(metrics.text());
    }

    // ------------------------------------------------------------------ what goes on

    private Promise<?> events(Request request, Response response) {
        EventLoop loop = request.loop();
        EventStream events = response.events();
        tell(events, loop);
        Timer ticks = loop.every(TICK, _ -> tell(events, loop));
        events.onClose(ticks::cancel);
        return events.closed();
    }

    /// A peer that does not keep up loses nothing by it but time: an event is as good as the one before.
    private void tell(EventStream events, EventLoop loop) {
        String figures =
                """
                {"loop":"%s","connections":%d,"requests":%d,"ticks":%d}\
                """
                        .formatted(
                                loop.config().name(),
                                loops.sum(LoopMetrics::streams),
                                loops.requests(),
                                loop.metrics().ticks());
        boolean _ = events.send("tick", null, figures);
    }

    private static void echo(WebSocket socket) {
        socket.onText(text -> goOn(socket, socket.send(text)))
                .onBinary(content -> goOn(socket, socket.send(content)))
                .onWritable(socket::resume);
    }

    private static void goOn(WebSocket socket, boolean keepsUp) {
        if (!keepsUp) {
            socket.pause();
        }
    }
}
