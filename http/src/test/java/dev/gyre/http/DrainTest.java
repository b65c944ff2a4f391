package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.io.CloseReason;
import dev.gyre.testkit.SimulatedWorld;

import net.jqwik.api.Example;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// How a server ends.
@On("simulated")
class DrainTest {
    private static final Duration DEADLINE = Duration.ofSeconds(2);

    private static final String UPGRADE =
            """
            GET /talk HTTP/1.1\r
            Host: localhost\r
            Connection: Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            \r
            """;

    /// A closing frame of a client's, without a code, masked with zeros.
    private static final byte[] CLOSE = {(byte) 0x88, (byte) 0x80, 0, 0, 0, 0};

    @Clause("H-5")
    @Example
    void drain_withASocketOfWhichTheUserIsToldTheEnd_isResolvedWhenThePeerHasClosed() {
        try (var world = SimulatedWorld.seed(1)) {
            List<String> ends = new ArrayList<>();
            HttpServer server =
                    HttpServer.on(world.loop())
                            .webSocket(
                                    "/talk",
                                    socket -> socket.onClose((code, _) -> ends.add("" + code)))
                            .listen(80);
            var client = world.connect(80).send(UPGRADE);
            world.run();
            assertThat(server.connections()).as("the socket counts").isEqualTo(1);

            Promise<@Nullable Void> drained = server.drain(Duration.ofHours(1));
            client.send(CLOSE).halfClose();
            world.run();

            assertThat(drained.isSettled()).as("LoopServer.add is told of the end").isTrue();
            assertThat(ends).hasSize(1);
            assertThat(server.connections()).isZero();
        }
    }

    @Clause({"S-1", "N-4"})
    @Example
    void shutdown_inTheMiddleOfAResponseThatEndsWithTheConnection_resetsTheClient() {
        try (var world = SimulatedWorld.seed(4)) {
            HttpServer.on(world.loop())
                    .get(
                            "/",
                            (_, response) -> {
                                response.stream().write("part");
                                return Promise.resolved(world.loop(), null);
                            })
                    .listen(80);
            var client = world.connect(80).send("GET / HTTP/1.0\r\n\r\n");
            world.advance(Duration.ofMillis(10));
            assertThat(client.receivedText()).endsWith("part");

            world.loop().submit(() -> world.loop().shutdown(DEADLINE));
            world.advance(DEADLINE.multipliedBy(2));

            assertThat(client.isReset()).as("%s", client).isTrue();
            assertThat(client.isEnded()).as("%s", client).isFalse();
        }
    }

    @Clause("H-5")
    @Example
    void drain_withAnIdlePeerThatDoesNotRead_waitsForNobody() {
        try (var world = SimulatedWorld.seed(3)) {
            HttpServer server =
                    HttpServer.on(world.loop())
                            .get("/", (_, response) -> response.text("hello"))
                            .listen(80);
            var idle = world.connect(80).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            var silent = world.connect(80);
            world.advance(Duration.ofSeconds(1));
            idle.pauseReading();
            silent.pauseReading();
            assertThat(server.connections()).isEqualTo(2);
            assertThat(server.activeConnections()).as("connections with something to do").isZero();

            Promise<@Nullable Void> drained = server.drain(Duration.ofHours(1));
            world.advance(Duration.ofMillis(600));
            assertThat(drained.isSettled()).as("nobody was asked for anything").isTrue();
            assertThat(world.loop().metrics().streamsClosed(CloseReason.ABORTED)).isZero();
            idle.resumeReading();
            world.advance(Duration.ofMillis(100));
            assertThat(idle.receivedText()).as("and nothing was reset").endsWith("hello");
        }
    }

    @Clause("H-5")
    @Example
    void busy_countsWhatIsUnderWay() {
        try (var world = SimulatedWorld.seed(4)) {
            Deferred<String> slow = world.loop().deferred();
            HttpServer server =
                    HttpServer.on(world.loop())
                            .get("/slow", (_, response) -> slow.promise().then(response::text))
                            .webSocket("/talk", _ -> {})
                            .listen(80);
            var _ = world.connect(80);
            var _ = world.connect(80).send("GET /sl");
            var _ = world.connect(80).send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
            var _ = world.connect(80).send(UPGRADE);
            world.advance(Duration.ofSeconds(1));
            assertThat(server.connections()).isEqualTo(4);
            assertThat(server.activeConnections()).isEqualTo(3);
            slow.resolve("done");
            world.advance(Duration.ofSeconds(1));
            assertThat(server.activeConnections()).isEqualTo(2);
        }
    }

    /// By themselves simulated peers do not close when the other end does.
    @Clause("H-5")
    @Example
    void drain_ofAPeerThatWasJustAnswered_doesNotWaitLongForItsEnd() {
        try (var world = SimulatedWorld.seed(5)) {
            Deferred<String> slow = world.loop().deferred();
            HttpServer server =
                    HttpServer.on(world.loop())
                            .get("/slow", (_, response) -> slow.promise().then(response::text))
                            .get("/last", (_, response) -> response.text("at once"))
                            .listen(80);
            String last = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
            var answered = world.connect(80).send(last);
            var waiting = world.connect(80).send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
            var beginning = world.connect(80).send("GET /last HT");
            world.advance(Duration.ofMillis(10));
            Promise<@Nullable Void> drained = server.drain(Duration.ofHours(1));
            world.advance(Duration.ofSeconds(1));
            assertThat(server.connections()).as("who was answered before is gone").isEqualTo(2);

            slow.resolve("done");
            beginning.send("TP/1.1\r\nHost: a\r\n\r\n");
            world.advance(Duration.ofMillis(400));
            assertThat(drained.isSettled()).as("a request may be under way still").isFalse();
            world.advance(Duration.ofMillis(200));
            assertThat(drained.isSettled()).as("after half a second").isTrue();
            assertThat(answered.receivedText()).endsWith("at once");
            assertThat(waiting.receivedText()).endsWith("done");
            assertThat(beginning.receivedText()).endsWith("at once");
            assertThat(world.loop().metrics().streamsClosed(CloseReason.ABORTED)).isZero();
        }
    }

    @Clause("H-5")
    @Example
    void drain_ofAPeerThatTakesItsAnswerSlowly_givesItTheUsualTime() {
        byte[] large = new byte[60_000]; // Written at once, and more than the kernel takes.
        try (var world = SimulatedWorld.seed(6)) {
            world.socketBuffers(1 << 12);
            Deferred<byte[]> slow = world.loop().deferred();
            HttpServer server =
                    HttpServer.on(world.loop())
                            .get("/slow", (_, response) -> slow.promise().then(response::send))
                            .listen(80);
            var client = world.connect(80).send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
            world.advance(Duration.ofMillis(10));
            Promise<@Nullable Void> drained = server.drain(Duration.ofHours(1));
            client.pauseReading();
            slow.resolve(large);
            world.advance(Duration.ofSeconds(4));
            client.resumeReading();
            world.advance(Duration.ofMillis(100));
            assertThat(client.isReset()).isFalse();
            assertThat(client.received()).hasSizeGreaterThan(large.length);
            assertThat(drained.isSettled()).isFalse();
            world.advance(Duration.ofMillis(500));
            assertThat(drained.isSettled()).as("all of it is with the kernel").isTrue();
        }
    }

    @Clause("H-5")
    @Example
    void drain_withAPeerThatDoesNotClose_cutsItOffAtTheDeadline() {
        try (var world = SimulatedWorld.seed(2)) {
            HttpServer server =
                    HttpServer.on(world.loop()).webSocket("/talk", socket -> {}).listen(80);
            var client = world.connect(80).send(UPGRADE);
            world.run();

            Promise<@Nullable Void> drained = server.drain(DEADLINE);
            world.advance(DEADLINE.minusMillis(1));
            assertThat(drained.isSettled()).as("it has time until the deadline").isFalse();
            world.advance(Duration.ofMillis(2));

            assertThat(drained.isSettled()).as("LoopServer.cut aborts sockets too").isTrue();
            assertThat(client.isClosed()).isTrue();
        }
    }
}
