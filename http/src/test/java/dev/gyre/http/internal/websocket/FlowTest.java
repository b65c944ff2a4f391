package dev.gyre.http.internal.websocket;

import static dev.gyre.http.internal.websocket.Frames.PING;
import static dev.gyre.http.internal.websocket.Frames.TEXT;
import static dev.gyre.http.internal.websocket.Frames.close;
import static dev.gyre.http.internal.websocket.Frames.deflated;
import static dev.gyre.http.internal.websocket.Frames.frame;
import static dev.gyre.http.internal.websocket.Frames.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.http.SlowConsumerPolicy;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.WebSocketMessage;
import dev.gyre.io.Buffer;
import dev.gyre.io.StreamConfig;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/// How fast, and what goes wrong on this side: peers that do not keep up, pauses, callbacks that throw, misuse.
@On("simulated")
class FlowTest {
    private static final int MANY = 2000;
    private static final String LINE = "x".repeat(1000);

    private static ServerSide slow(SlowConsumerPolicy policy) {
        WebSocketConfig config = WebSocketConfig.DEFAULT.withSlowConsumerPolicy(policy);
        ServerSide server = ServerSide.of(config, false, StreamConfig.DEFAULT, socket -> {});
        server.peer.pauseReading();
        return server;
    }

    private static ServerSide server(Consumer<WebSocket> opened) {
        return ServerSide.of(WebSocketConfig.DEFAULT, false, StreamConfig.DEFAULT, opened);
    }

    @Clause("K-1")
    @Test
    void slowPeer_thatIsWaitedFor_getsEverything() {
        try (ServerSide server = slow(SlowConsumerPolicy.WAIT)) {
            List<String> told = new ArrayList<>();
            server.socket.onWritable(() -> told.add("writable"));
            boolean more = true;
            for (int i = 0; i < MANY; i++) {
                more = server.socket.send(LINE);
            }
            assertThat(more).as("send says no above the high-water mark").isFalse();
            server.world.run();
            assertThat(told).isEmpty();
            server.peer.resumeReading();
            server.world.run();
            assertThat(server.answers()).hasSize(MANY).containsOnly(text(LINE));
            assertThat(told).containsExactly("writable");
            assertThat(server.socket.dropped()).isZero();
        }
    }

    @Clause("K-1")
    @Test
    void slowPeer_whoseMessagesAreDropped_missesSome_andHearsLaterOnes() {
        try (ServerSide server = slow(SlowConsumerPolicy.DROP)) {
            for (int i = 0; i < MANY; i++) {
                server.socket.send(LINE);
                server.world.run();
            }
            long dropped = server.socket.dropped();
            assertThat(dropped).isBetween(1L, MANY - 1L);
            assertThat(server.stream.pending()).isLessThan(100_000);
            server.peer.resumeReading();
            server.world.run();
            assertThat(server.answers()).hasSize((int) (MANY - dropped)).containsOnly(text(LINE));
            assertThat(server.socket.send("again")).isTrue();
            server.world.run();
            assertThat(server.answers()).last().isEqualTo(text("again"));
        }
    }

    @Clause("K-1")
    @Test
    void slowPeer_thatIsClosed_isTold1013() {
        try (ServerSide server = slow(SlowConsumerPolicy.CLOSE)) {
            for (int i = 0; i < MANY; i++) {
                server.socket.send(LINE);
            }
            assertThat(server.socket.isOpen()).isFalse();
            server.peer.resumeReading();
            server.world.run();
            assertThat(server.answers()).last().isEqualTo("close 1013");
            assertThat(server.events).containsExactly("closed 1013");
        }
    }

    @Clause("K-1")
    @Test
    void pings_ofAPeerThatReadsNoAnswers_doNotFillTheMemory() {
        try (ServerSide server = server(socket -> {})) {
            server.peer.pauseReading();
            byte[] ping = frame(PING, "x".repeat(100));
            byte[][] thousand = new byte[1000][];
            Arrays.fill(thousand, ping);
            byte[] all = Frames.join(thousand);
            for (int i = 0; i < 100; i++) {
                server.peer.send(all);
                server.world.run();
                assertThat(server.stream.pending())
                        .as("what waits to be sent after %d pings", 1000 * (i + 1))
                        .isLessThan(200_000);
            }
            assertThat(server.peer.unsentBytes()).as("held back at the peer").isPositive();
            server.peer.resumeReading();
            server.world.run();
            assertThat(server.answers()).hasSize(100_000);
        }
    }

    @Clause("K-1")
    @Test
    void pings_ofAServerThatReadsNoAnswers_areAnsweredAtLastWithTheLatest() {
        try (ServerSide client = ServerSide.asClient(WebSocketConfig.DEFAULT, socket -> {})) {
            client.peer.pauseReading();
            int count = 20_000;
            for (int i = 0; i < count; i++) {
                client.peer.send(Frames.frame(0x80 | PING, Frames.utf8("number " + i), false));
                if (i % 1000 == 0) {
                    client.world.run();
                }
            }
            client.world.run();
            assertThat(client.peer.unsentBytes()).as("a client goes on reading").isZero();
            assertThat(client.stream.pending()).isLessThan(100_000);
            client.peer.resumeReading();
            client.world.run();
            assertThat(client.answers())
                    .hasSizeLessThan(count)
                    .last()
                    .isEqualTo(
                            Frames.describe(
                                    0x80 | Frames.PONG, Frames.utf8("number " + (count - 1))));
        }
    }

    @Clause("K-1")
    @Test
    void messages_thatInflateToMuch_areEchoedAsFastAsThePeerReads() {
        byte[] packed = frame(0xc1, deflated(new byte[200_000]), true);
        byte[][] many = new byte[200][];
        Arrays.fill(many, packed);
        WebSocketConfig config = WebSocketConfig.DEFAULT;
        try (ServerSide server =
                ServerSide.of(
                        config,
                        true,
                        StreamConfig.DEFAULT,
                        socket ->
                                socket.onText(text -> socket.send("y".repeat(20_000) + noise())))) {
            server.peer.pauseReading();
            server.send(many);
            assertThat(server.stream.pending())
                    .as("of 40 MB that arrived as 45 KB")
                    .isLessThan(400_000);
            server.peer.resumeReading();
            server.world.run();
            assertThat(server.answers()).hasSize(200);
        }
    }

    /// What cannot be compressed.
    private static String noise() {
        StringBuilder made = new StringBuilder();
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            made.append((char) (' ' + random.nextInt(90)));
        }
        return made.toString();
    }

    @Clause("K-1")
    @Test
    void pause_insideACallback_holdsBackWhatHasArrived() {
        List<String> got = new ArrayList<>();
        try (ServerSide server =
                server(
                        socket ->
                                socket.onText(
                                        text -> {
                                            got.add(text);
                                            socket.pause();
                                        }))) {
            server.send(frame(TEXT, "one"), frame(TEXT, "two"), frame(TEXT, "three"));
            assertThat(got).containsExactly("one");
            server.socket.resume();
            server.world.run();
            assertThat(got).containsExactly("one", "two");
            server.socket.resume();
            server.world.run();
            assertThat(got).containsExactly("one", "two", "three");
        }
    }

    @Clause("K-1")
    @Test
    void callback_thatThrows_costsItsSocket_andTheLoopHearsOfIt() {
        try (ServerSide server =
                server(
                        socket ->
                                socket.onText(
                                        text -> {
                                            throw new IllegalStateException("of " + text);
                                        }))) {
            server.peer.send(frame(TEXT, "this"));
            server.peer.send(frame(TEXT, "that"));
            assertThatThrownBy(server.world::run)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("of this");
            server.world.run();
            assertThat(server.answers()).containsExactly("close 1011");
            assertThat(server.events).containsExactly("closed 1011");
            assertThat(server.peer.isEnded()).as("an end, and no reset").isTrue();
        }
    }

    @Clause("K-1")
    @Test
    void pings_areAnswered_andTold() {
        List<String> told = new ArrayList<>();
        try (ServerSide server =
                server(
                        socket -> {
                            socket.onPing(ping -> told.add("ping " + ping.readable()));
                            socket.onPong(pong -> told.add("pong " + pong.readable()));
                            socket.ping((byte) 1, (byte) 2);
                        })) {
            server.send(frame(PING, "abc"), frame(Frames.PONG, ""));
            assertThat(told).containsExactly("ping 3", "pong 0");
            assertThat(server.answers()).containsExactly("ping 0102", "pong 616263");
        }
    }

    @Clause("K-1")
    @Test
    void buffer_ofAMessage_isRefusedAfterItsCallback() {
        List<Buffer> kept = new ArrayList<>();
        try (ServerSide server = server(socket -> socket.onBinary(kept::add))) {
            server.send(frame(Frames.BINARY, "abc"));
            assertThatThrownBy(() -> kept.getFirst().get())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("released");
        }
    }

    @Clause("K-1")
    @Test
    void messages_thatNobodyWants_areDropped() {
        try (ServerSide server = server(socket -> {})) {
            server.send(frame(TEXT, "a"), frame(Frames.BINARY, "b"), close(1000, ""));
            assertThat(server.answers()).containsExactly("close 1000");
        }
    }

    @Clause("K-1")
    @Test
    void send_whileTheLoopEnds_saysNo_andThrowsNothing() {
        List<Boolean> sent = new ArrayList<>();
        try (ServerSide server =
                server(
                        socket ->
                                socket.onText(
                                        text -> {
                                            socket.loop().shutdown(Duration.ofSeconds(1));
                                            socket.loop()
                                                    .defer(() -> sent.add(socket.send("late")));
                                        }))) {
            server.send(frame(TEXT, "x"), frame(PING, ""));
            assertThat(sent).containsExactly(false);
            assertThat(server.events).containsExactly("closed 1006");
        }
    }

    @Clause("K-1")
    @Test
    void misuse_isRefusedAtOnce_andSaysTheValue() {
        try (ServerSide server = server(socket -> {})) {
            WebSocket socket = server.socket;
            for (int code : new int[] {0, 999, 1004, 1005, 1006, 1015, 2999, 5000}) {
                assertThatThrownBy(() -> socket.close(code, ""))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("not " + code);
            }
            assertThatThrownBy(() -> socket.close(1000, "é".repeat(62)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("124");
            assertThatThrownBy(() -> socket.ping(new byte[126]))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("126");
            assertThat(socket.isOpen()).isTrue();
        }
    }

    @Clause("K-1")
    @Test
    void send_ofAllSortsAndSizes_arrives() {
        for (int length :
                new int[] {0, 1, 125, 126, 21_845, 21_846, 65_535, 65_536, 65_550, 300_000}) {
            byte[] bytes = new byte[length];
            Arrays.fill(bytes, (byte) 7);
            String ascii = "a".repeat(length);
            String other = "ä€".repeat(length / 2);
            try (ServerSide server = server(socket -> {})) {
                Buffer buffer = Buffer.allocate(length + 1).put(bytes);
                server.socket.send(bytes);
                server.socket.send(buffer);
                server.socket.send(ascii);
                server.socket.send(other);
                server.socket.send(WebSocketMessage.text(ascii));
                server.socket.send(WebSocketMessage.binary(bytes));
                server.world.advance(Duration.ofMillis(10));
                assertThat(buffer.readable()).isZero();
                assertThat(server.answers())
                        .as("six messages of %d", length)
                        .containsExactly(
                                Frames.binary(bytes),
                                Frames.binary(bytes),
                                text(ascii),
                                text(other),
                                text(ascii),
                                Frames.binary(bytes));
            }
        }
    }
}
