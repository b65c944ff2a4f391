package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.LogCapture;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.StreamConfig;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What becomes of answers whose handlers write on although the connection bears no more: they are cut off, and all who
/// look at them see it.
@On("simulated")
class OutputLimitTest {
    private static final int PORT = 80;
    private static final int LIMIT_BYTES = 1 << 20;
    private static final int MANY = 1_000;

    private final SimulatedWorld world = SimulatedWorld.seed(5);
    private final HttpServer server = HttpServer.on(world.loop());
    private final List<String> said = new ArrayList<>();

    @AfterEach
    void close() {
        world.close();
    }

    private void listen(int limitBytes) {
        server.use(
                (request, response, next) -> {
                    response.onComplete(
                            () ->
                                    said.add(
                                            "done "
                                                    + request.path()
                                                    + " "
                                                    + response.status()
                                                    + " cut off "
                                                    + response.isTruncated()));
                    return next.handle(request, response);
                });
        server.listen(
                new InetSocketAddress(PORT),
                ListenerConfig.DEFAULT.withStreams(
                        StreamConfig.DEFAULT.withOutputLimit(limitBytes)));
    }

    private SimulatedPeer ask(String target) {
        SimulatedPeer peer = world.connect(PORT).pauseReading();
        peer.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofMillis(10));
        return peer;
    }

    private void writeOn(ResponseStream out) {
        out.onClose(() -> said.add("closed"));
        boolean open = true;
        for (int i = 0; i < MANY; i++) {
            boolean goOn = out.write(new byte[10_000]);
            if (open && !out.isOpen()) {
                said.add("over, and goes on " + goOn);
                open = false;
            }
        }
        out.end();
    }

    private void assertCutOffAndWarned(String target, LogCapture log) {
        assertThat(said)
                .as(target)
                .containsExactly(
                        "closed",
                        "done " + target + " 200 cut off true",
                        "over, and goes on false");
        assertThat(log.messages()).as("once for the loop").hasSize(1);
        assertThat(log.messages().getFirst())
                .contains("GET /", "onWritable", "StreamConfig.outputLimit", "once per loop");
        assertThat(log.levels()).containsExactly("WARNING");
        assertThat(server.connections()).as(target).isZero();
    }

    @Test
    @Clause("H-3")
    void answer_writtenOnPastTheLimit_isCutOff_andNotTakenForWhole() {
        server.get(
                        "/at-once",
                        (_, response) -> {
                            writeOn(response.stream());
                            return response.isCommitted() ? null : response.text("never");
                        })
                .get(
                        "/length",
                        (_, response) -> {
                            String all = "" + 10_000L * MANY;
                            writeOn(response.header("Content-Length", all).stream());
                            return Promise.resolved(world.loop(), "");
                        })
                .get(
                        "/later",
                        (_, response) -> {
                            ResponseStream out = response.stream();
                            world.loop().after(Duration.ofMillis(1), _ -> writeOn(out));
                            return Promise.resolved(world.loop(), "");
                        });
        listen(LIMIT_BYTES);
        try (LogCapture log = new LogCapture()) {
            for (String target : List.of("/at-once", "/length", "/later")) {
                SimulatedPeer peer = ask(target);
                assertCutOffAndWarned(target, log);
                peer.resumeReading();
                world.advance(Duration.ofMillis(10));
                assertThat(peer.isOpen()).isFalse();
                assertThat(peer.receivedText()).doesNotContain("\r\n0\r\n\r\n");
                said.clear();
            }
        }
        SimulatedPeer other = world.connect(PORT);
        other.send("GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofMillis(10));
        assertThat(other.receivedText()).startsWith("HTTP/1.1 404 ");
    }

    @Test
    @Clause("H-3")
    void events_sentAsLongAsTheStreamIsOpen_comeToAnEnd() {
        server.get(
                "/events",
                (_, response) -> {
                    EventStream events = response.events();
                    int sent = 0;
                    while (events.isOpen() && sent < 1_000_000) {
                        events.send("x".repeat(100));
                        sent++;
                    }
                    said.add("less than without a limit " + (sent < 1_000_000));
                    return events.closed();
                });
        listen(LIMIT_BYTES);
        try (LogCapture log = new LogCapture()) {
            ask("/events");
            assertThat(log.messages()).hasSize(1);
        }
        assertThat(said)
                .containsExactly("done /events 200 cut off true", "less than without a limit true");
    }

    @Test
    @Clause("H-3")
    void answer_whoseEndIsTooMuch_isCutOff() {
        server.get(
                        "/stream",
                        (_, response) -> {
                            ResponseStream out = response.stream();
                            for (int i = 0; i < 5; i++) {
                                out.write(new byte[8_000]);
                            }
                            return out.end();
                        })
                .get("/whole", (_, response) -> response.send(new byte[40_000]))
                .get("/long", (_, response) -> response.send(new byte[100_000]));
        listen(20_000);
        for (String target : List.of("/stream", "/whole", "/long")) {
            try (LogCapture log = new LogCapture()) {
                ask(target);
                assertThat(log.messages()).hasSize(target.equals("/stream") ? 1 : 0);
            }
            // What was never handed to the connection was not begun.
            assertThat(said.removeFirst())
                    .startsWith("done " + target)
                    .doesNotContain("200 cut off false");
            assertThat(said).isEmpty();
            assertThat(server.connections()).as(target).isZero();
        }
    }
}
