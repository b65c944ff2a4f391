package dev.gyre.cli.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.Timer;
import dev.gyre.http.EventStream;
import dev.gyre.http.PrometheusText;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.http.ServerSentEvent;
import dev.gyre.http.WebSocket;
import dev.gyre.metrics.LoopMetrics;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;

/// The demo site, served without a directory: a page that shows the features of a server, and its
/// endpoints.
public final class Demo {
    private static final long MAX_BYTES = 1L << 40;
    private static final long MAX_MILLIS = 60_000;
    private static final Duration TICK = Duration.ofSeconds(1);

    /// The place of the link to the dashboard in the page.
    private static final String DASHBOARD = "<!-- dashboard -->";

    private final WebServer web;
    private final byte[] page;

    private Demo(WebServer web) {
        this.web = web;
        page = page();
    }

    private static byte[] page() {
        try (InputStream page = Demo.class.getResourceAsStream("welcome.html")) {
            return Objects.requireNonNull(page, "welcome.html is in the jar").readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Adds the routes to a server.
    public static void addTo(WebServer web) {
        Demo demo = new Demo(web);
        web.server()
                .get("/", demo::welcome)
                .get("/plaintext", (_, response) -> response.text("Hello, World!"))
                .get("/json", (_, response) -> response.json(Map.of("message", "Hello, World!")))
                .any("/echo", BodyEcho::respond)
                .get("/large", Demo::large)
                .get("/slow", Demo::slow)
                .get("/events", demo::events)
                .get("/metrics", PrometheusText.handler(web.group(), web.metrics()))
                .webSocket("/ws/echo", Demo::echo);
    }

    private Promise<?> welcome(Request request, Response response) {
        return response.type("text/html; charset=utf-8")
                .header("Cache-Control", "no-cache")
                .send(linked(page, web.dashboard()));
    }

    private static byte[] linked(byte[] page, @Nullable String url) {
        if (url == null) {
            return page;
        }
        String link = "<p><a href=\"%s\">Dashboard of this server</a></p>".formatted(url);
        return new String(page, UTF_8).replace(DASHBOARD, link).getBytes(UTF_8);
    }

    private static Promise<?> large(Request request, Response response) {
        return LargeBody.respond(
                request.queryLong("bytes", 1 << 20, 0, MAX_BYTES), request, response);
    }

    private static Promise<?> slow(Request request, Response response) {
        long millis = request.queryLong("ms", 1_000, 0, MAX_MILLIS);
        return Promise.delay(request.loop(), Duration.ofMillis(millis), request.cancellation())
                .then(_ -> response.text("responded after " + millis + " ms, without a thread\n"));
    }

    private Promise<?> events(Request request, Response response) {
        EventLoop loop = request.loop();
        EventStream events = response.events();
        send(events, loop);
        Timer ticks = loop.every(TICK, _ -> send(events, loop));
        events.onClose(ticks::cancel);
        return events.closed();
    }

    /// Sends one event. A slow client may miss none, but receives them late.
    private void send(EventStream events, EventLoop loop) {
        String figures =
                """
                {"loop":"%s","connections":%d,"requests":%d,"ticks":%d}\
                """
                        .formatted(
                                loop.config().name(),
                                web.sum(LoopMetrics::streams),
                                web.requests(),
                                loop.metrics().ticks());
        boolean _ = events.send(ServerSentEvent.of(figures).withType("tick"));
    }

    private static void echo(WebSocket socket) {
        socket.onText(text -> pauseUnless(socket, socket.send(text)))
                .onBinary(bytes -> pauseUnless(socket, socket.send(bytes)))
                .onWritable(socket::resume);
    }

    private static void pauseUnless(WebSocket socket, boolean writable) {
        if (!writable) {
            socket.pause();
        }
    }
}
