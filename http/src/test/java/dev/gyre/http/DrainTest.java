package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.Promise;
import dev.gyre.io.CloseReason;
import dev.gyre.testkit.SimulatedWorld;

import net.jqwik.api.Example;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// How a server ends.
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
            assertThat(server.busy()).as("connections with something to do").isZero();

            Promise<@Nullable Void> drained = server.drain(Duration.ofHours(1));
            world.advance(Duration.ofMillis(100));
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
            assertThat(server.busy()).isEqualTo(3);
            slow.resolve("done");
            world.advance(Duration.ofSeconds(1));
            assertThat(server.busy()).isEqualTo(2);
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
