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
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.Listener;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// What a loop holds and does for messages: of those that are not whole, and of those that become large.
class HeldMessagesTest {
    private static final int PACKED = 0x40;
    private static final int LAST = 0x80;
    private static final byte[] MEGABYTE = deflated(new byte[1 << 20]);

    private static ServerSide server() {
        return ServerSide.echo(WebSocketConfig.DEFAULT, true);
    }

    private static Workbench bench(ServerSide server) {
        return Workbench.of(server.world.loop());
    }

    @Clause("K-1")
    @Test
    void message_thatIsNotWhole_holdsWhatWasSent_notWhatComesOfIt() {
        try (ServerSide server = server()) {
            server.send(frame(PACKED | BINARY, MEGABYTE, true));
            assertThat(bench(server).share.takenBytes())
                    .isBetween((long) MEGABYTE.length, 4L * MEGABYTE.length);
        }
    }

    @Clause("K-1")
    @Test
    void messages_thatAreNotWhole_aboveTheShareOfAll_closeWith1013() {
        try (ServerSide server = server()) {
            Workbench bench = bench(server);
            long others = bench.share.limitBytes() - 4000;
            assertThat(bench.share.take(others)).isTrue();
            server.send(part(BINARY, new byte[3000]));
            assertThat(server.answers()).isEmpty();
            server.send(part(CONTINUATION, new byte[3000]));
            assertThat(server.answers()).containsExactly("close 1013");
            assertThat(bench.share.takenBytes()).as("what the others hold").isEqualTo(others);
        }
    }

    @Clause("K-1")
    @Test
    void message_thatIsDelivered_orWhoseSocketIsGone_holdsNothing() {
        byte[] begun = part(BINARY, new byte[3000]);
        try (ServerSide server = server()) {
            server.send(begun);
            assertThat(bench(server).share.takenBytes()).isPositive();
            server.send(frame(CONTINUATION, new byte[100]));
            assertThat(server.answers()).hasSize(1);
            assertThat(bench(server).share.takenBytes()).as("delivered").isZero();
            server.send(begun, close(1000, ""));
            assertThat(bench(server).share.takenBytes()).as("closed").isZero();
        }
        try (ServerSide server = server()) {
            server.send(begun);
            server.peer.reset();
            server.world.run();
            assertThat(bench(server).share.takenBytes()).as("reset").isZero();
        }
        try (ServerSide server = server()) {
            server.send(begun, frame(TEXT, "another inside it"));
            assertThat(bench(server).share.takenBytes()).as("refused").isZero();
        }
    }

    @Clause("K-1")
    @Test
    void longMessages_useMemoryAgain_thatIsDroppedWhenNobodyDoes() {
        try (ServerSide server = server()) {
            byte[] one = frame(LAST | PACKED | TEXT, MEGABYTE, true);
            server.send(one);
            int kept = bench(server).arrays.keptBytes();
            assertThat(kept).isPositive();
            for (int i = 0; i < 10; i++) {
                server.send(one);
            }
            assertThat(server.answers()).hasSize(11);
            assertThat(bench(server).arrays.keptBytes()).isEqualTo(kept);
            server.world.advance(Duration.ofSeconds(25));
            assertThat(bench(server).arrays.keptBytes()).isZero();
        }
    }

    @Clause("K-1")
    @Test
    void messages_thatBecomeLarge_leaveOthersTheirTurn() {
        byte[][] large = new byte[20][];
        Arrays.fill(large, frame(LAST | PACKED | BINARY, MEGABYTE, true));
        List<String> order = new ArrayList<>();
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            Listener.tcp(
                    world.loop(),
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 80),
                    stream ->
                            new WebSocketProtocol(
                                            stream,
                                            WebSocketConfig.DEFAULT,
                                            true,
                                            ServerSide.COMPRESSED,
                                            null,
                                            "/")
                                    .begin(
                                            stream,
                                            socket ->
                                                    socket.onText(order::add)
                                                            .onBinary(_ -> order.add("large"))));
            SimulatedPeer greedy = world.connect(80);
            world.run();
            SimulatedPeer modest = world.connect(80);
            world.run();
            greedy.send(Frames.join(large));
            modest.send(frame(TEXT, "small"));
            world.run();
            assertThat(order).hasSize(21).contains("small");
            assertThat(order.indexOf("small")).as("before the last: %s", order).isLessThan(20);
        }
    }
}
