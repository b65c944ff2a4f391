package dev.gyre.http.internal.websocket;

import static dev.gyre.http.internal.websocket.Frames.BINARY;
import static dev.gyre.http.internal.websocket.Frames.CONTINUATION;
import static dev.gyre.http.internal.websocket.Frames.TEXT;
import static dev.gyre.http.internal.websocket.Frames.close;
import static dev.gyre.http.internal.websocket.Frames.deflated;
import static dev.gyre.http.internal.websocket.Frames.frame;
import static dev.gyre.http.internal.websocket.Frames.part;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.StreamConfig;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// What a loop holds and does for messages: of those that are not whole, and of those that become large.
@On("simulated")
class HeldMessagesTest {
    private static final int PACKED = 0x40;
    private static final int LAST = 0x80;
    private static final byte[] MEGABYTE = deflated(new byte[1 << 20]);

    private static ServerSide server() {
        return ServerSide.echo(WebSocketConfig.DEFAULT, true);
    }

    private static WebSocketScratch bench(ServerSide server) {
        return WebSocketScratch.of(server.world.loop());
    }

    @Clause("K-1")
    @Test
    void message_thatIsNotWhole_holdsWhatWasSent_notWhatComesOfIt() {
        try (ServerSide server = server()) {
            server.send(frame(PACKED | BINARY, MEGABYTE, true));
            assertThat(bench(server).heap.usedBytes())
                    .isBetween((long) MEGABYTE.length, 4L * MEGABYTE.length);
        }
    }

    @Clause("K-1")
    @Test
    void messages_thatAreNotWhole_aboveTheShareOfAll_closeWith1013() {
        try (ServerSide server = server()) {
            WebSocketScratch bench = bench(server);
            long others = bench.heap.limitBytes() - 4000;
            assertThat(bench.heap.tryAcquire(others)).isTrue();
            server.send(part(BINARY, new byte[3000]));
            assertThat(server.answers()).isEmpty();
            server.send(part(CONTINUATION, new byte[3000]));
            assertThat(server.answers()).containsExactly("close 1013");
            assertThat(bench.heap.usedBytes()).as("what the others hold").isEqualTo(others);
        }
    }

    @Clause("K-1")
    @Test
    void message_thatIsDelivered_orWhoseSocketIsGone_holdsNothing() {
        byte[] begun = part(BINARY, new byte[3000]);
        try (ServerSide server = server()) {
            server.send(begun);
            assertThat(bench(server).heap.usedBytes()).isPositive();
            server.send(frame(CONTINUATION, new byte[100]));
            assertThat(server.answers()).hasSize(1);
            assertThat(bench(server).heap.usedBytes()).as("delivered").isZero();
            server.send(begun, close(1000, ""));
            assertThat(bench(server).heap.usedBytes()).as("closed").isZero();
        }
        try (ServerSide server = server()) {
            server.send(begun);
            server.peer.reset();
            server.world.run();
            assertThat(bench(server).heap.usedBytes()).as("reset").isZero();
        }
        try (ServerSide server = server()) {
            server.send(begun, frame(TEXT, "another inside it"));
            assertThat(bench(server).heap.usedBytes()).as("refused").isZero();
        }
    }

    @Clause("K-1")
    @Test
    void longMessages_useMemoryAgain_thatIsDroppedWhenNobodyDoes() {
        try (ServerSide server = server()) {
            byte[] one = frame(LAST | PACKED | TEXT, MEGABYTE, true);
            server.send(one);
            int kept = bench(server).arrays.pooledBytes();
            assertThat(kept).isPositive();
            for (int i = 0; i < 10; i++) {
                server.send(one);
            }
            assertThat(server.answers()).hasSize(11);
            assertThat(bench(server).arrays.pooledBytes()).isEqualTo(kept);
            server.world.advance(Duration.ofSeconds(25));
            assertThat(bench(server).arrays.pooledBytes()).isZero();
        }
    }

    @Clause("K-1")
    @Test
    void messages_thatBecomeLarge_leaveOthersTheirTurn() {
        byte[][] large = new byte[20][];
        Arrays.fill(large, frame(LAST | PACKED | BINARY, MEGABYTE, true));
        List<String> order = new ArrayList<>();
        try (ServerSide server =
                ServerSide.of(
                        WebSocketConfig.DEFAULT,
                        true,
                        StreamConfig.DEFAULT,
                        socket ->
                                socket.onBinary(
                                        _ -> {
                                            if (order.isEmpty()) {
                                                socket.loop().submit(() -> order.add("another"));
                                            }
                                            order.add("large");
                                        }))) {
            server.send(large);
            assertThat(order).hasSize(21);
            assertThat(order.indexOf("another"))
                    .as("what came after the first of 20 that arrived together: %s", order)
                    .isBetween(1, 3);
        }
    }
}
