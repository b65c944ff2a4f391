package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.testkit.SimulatedWorld;

import net.jqwik.api.Example;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// How a server ends that has WebSockets.
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
