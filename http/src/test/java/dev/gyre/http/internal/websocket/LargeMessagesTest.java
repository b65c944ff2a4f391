package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.http.SlowConsumerPolicy;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.WebSocketMessage;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.io.Buffer;
import dev.gyre.io.StreamConfig;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/// Messages above 1 MiB: sent in fragments, as fast as the peer reads them.
@On("simulated")
class LargeMessagesTest {
    private static final int MIB = 1 << 20;
    private static final WebSocketConfig CONFIG = WebSocketConfig.DEFAULT.withMaxMessage(8 * MIB);

    private static ServerSide server(WebSocketConfig config) {
        return ServerSide.of(config, false, StreamConfig.DEFAULT, _ -> {});
    }

    private static byte[] noise(int length) {
        byte[] noise = new byte[length];
        new Random(3).nextBytes(noise);
        return noise;
    }

    /// Joins the fragments of messages, in words.
    private static List<String> messages(ServerSide server) {
        List<String> found = new ArrayList<>();
        ByteBuffer from = ByteBuffer.wrap(server.peer.received());
        int opcode = 0;
        byte[] message = {};
        while (from.hasRemaining()) {
            int first = from.get() & 0xff;
            int code = from.get() & 0x7f;
            long length =
                    code == 126 ? from.getShort() & 0xffff : code == 127 ? from.getLong() : code;
            byte[] payload = new byte[(int) length];
            from.get(payload);
            if ((first & 0x08) != 0) {
                found.add(Frames.describe(first, payload));
                continue;
            }
            opcode = (first & 0x0f) == 0 ? opcode : first & 0x0f;
            message = Frames.join(message, payload);
            if ((first & 0x80) != 0) {
                found.add(Frames.describe(0x80 | opcode, message));
                message = new byte[0];
            }
        }
        return found;
    }

    private static HeapBudget heap(ServerSide server) {
        return HeapBudget.of(server.world.loop());
    }

    @Clause("K-1")
    @Test
    void send_ofALargeMessage_waitsOnTheHeap_andKeepsTheStreamBelowItsMarks() {
        try (ServerSide server = server(CONFIG)) {
            server.peer.pauseReading();
            List<String> writable = new ArrayList<>();
            server.socket.onWritable(() -> writable.add("writable"));
            byte[] noise = noise(8 * MIB);
            byte[] mine = noise.clone();
            assertThat(server.socket.send(mine)).isFalse();
            Arrays.fill(mine, (byte) 0); // It belongs to the caller again.
            server.world.run();
            assertThat(server.stream.pending()).isLessThan(256 << 10);
            assertThat(heap(server).usedBytes()).isBetween(7L * MIB, 8L * MIB);
            assertThat(server.socket.send("behind it")).isFalse();
            server.peer.resumeReading();
            server.world.run();
            assertThat(messages(server))
                    .containsExactly(Frames.binary(noise), Frames.text("behind it"));
            assertThat(writable).containsExactly("writable");
            assertThat(heap(server).usedBytes()).isZero();
            assertThat(server.socket.send("again")).isTrue();
        }
    }

    @Clause("K-1")
    @Test
    void send_ofTheSameMessageToMany_holdsNoHeapForEach() {
        try (ServerSide server = server(CONFIG)) {
            server.peer.pauseReading();
            byte[] noise = noise(8 * MIB);
            assertThat(server.socket.send(WebSocketMessage.binary(noise))).isFalse();
            assertThat(heap(server).usedBytes()).isZero();
            server.peer.resumeReading();
            server.world.run();
            assertThat(messages(server)).containsExactly(Frames.binary(noise));
        }
    }

    @Clause("K-1")
    @Test
    void ping_whileALargeMessageIsSent_isAnsweredBetweenItsFragments() {
        // A client reads on while its output is congested.
        try (ServerSide client = ServerSide.asClient(CONFIG, _ -> {})) {
            client.peer.pauseReading();
            client.socket.send(new byte[8 * MIB]);
            client.world.run();
            client.peer.send(Frames.frame(0x80 | Frames.PING, Frames.utf8("there?"), false));
            client.world.run();
            client.peer.resumeReading();
            client.world.run();
            List<String> frames = client.answers();
            int pong = frames.indexOf("pong " + hex("there?"));
            assertThat(pong).isBetween(1, frames.size() - 2);
        }
    }

    private static String hex(String text) {
        return java.util.HexFormat.of().formatHex(Frames.utf8(text));
    }

    @Clause("K-1")
    @Test
    void send_whenTheHeapBudgetIsUsedUp_closesWith1013() {
        try (ServerSide server = server(CONFIG)) {
            long others = heap(server).limitBytes() - MIB;
            assertThat(heap(server).tryAcquire(others)).isTrue();
            assertThat(server.socket.send(new byte[8 * MIB])).isFalse();
            assertThat(server.socket.isOpen()).isFalse();
            server.world.run();
            assertThat(server.answers()).last().isEqualTo("close 1013");
            assertThat(heap(server).usedBytes()).isEqualTo(others);
        }
    }

    @Clause("K-1")
    @Test
    void send_ignoringFalse_beyondOutputLimitAndOneMessage_closesWith1013() {
        StreamConfig streams = StreamConfig.DEFAULT.withOutputLimit(2 * MIB);
        try (ServerSide server = server(CONFIG.withStreams(streams))) {
            server.peer.pauseReading();
            server.socket.send(new byte[8 * MIB]);
            server.socket.send(new byte[2 * MIB]);
            assertThat(server.socket.isOpen()).as("10 MiB wait").isTrue();
            server.socket.send(new byte[MIB]);
            assertThat(server.socket.isOpen()).isFalse();
            assertThat(heap(server).usedBytes()).isZero();
            server.peer.resumeReading();
            server.world.run();
            assertThat(server.events).containsExactly("closed 1013");
        }
    }

    @Clause("K-1")
    @Test
    void send_ofEncodedMessages_ignoringFalse_isLimitedToo() {
        StreamConfig streams = StreamConfig.DEFAULT.withOutputLimit(2 * MIB);
        try (ServerSide server = server(CONFIG.withStreams(streams))) {
            server.peer.pauseReading();
            WebSocketMessage message = WebSocketMessage.binary(new byte[8 * MIB]);
            server.socket.send(message);
            assertThat(server.socket.isOpen()).isTrue();
            server.socket.send(message);
            assertThat(server.socket.isOpen()).as("16 MiB would wait").isFalse();
        }
    }

    @Clause("K-1")
    @Test
    void message_thatIsDelivered_hasReleasedItsHeapBeforeTheCallback() {
        for (int opcode : new int[] {Frames.BINARY, Frames.TEXT}) {
            List<Long> used = new ArrayList<>();
            try (ServerSide server = server(CONFIG)) {
                server.socket.onBinary(_ -> used.add(heap(server).usedBytes()));
                server.socket.onText(_ -> used.add(heap(server).usedBytes()));
                server.send(Frames.part(opcode, new byte[3000]));
                assertThat(heap(server).usedBytes()).isPositive();
                server.send(Frames.frame(Frames.CONTINUATION, new byte[3000]));
                assertThat(used).as("an echo needs as much").containsExactly(0L);
            }
        }
    }

    @Clause("K-1")
    @Test
    void reset_whileALargeMessageIsSent_releasesItsMemory() {
        try (ServerSide server = server(CONFIG)) {
            server.peer.pauseReading();
            server.socket.send(new byte[8 * MIB]);
            server.world.run();
            server.peer.reset();
            server.world.run();
            assertThat(server.events).containsExactly("closed 1006");
            assertThat(heap(server).usedBytes()).isZero();
        }
    }

    @Clause("K-1")
    @Test
    void policyDrop_whileALargeMessageIsSent_dropsOthers() {
        try (ServerSide server = server(CONFIG.withSlowConsumerPolicy(SlowConsumerPolicy.DROP))) {
            server.peer.pauseReading();
            server.socket.send(new byte[8 * MIB]);
            assertThat(server.socket.send("lost")).isFalse();
            assertThat(server.socket.dropped()).isOne();
            server.peer.resumeReading();
            server.world.run();
            assertThat(messages(server)).containsExactly(Frames.binary(new byte[8 * MIB]));
        }
    }

    @Clause("K-1")
    @Test
    void close_whileALargeMessageIsSent_waitsAsLongAsThePeerReads() {
        try (ServerSide server = server(CONFIG)) {
            server.peer.pauseReading();
            server.socket.send(new byte[8 * MIB]);
            server.socket.close(1001, "");
            int pauses = 0;
            while (heap(server).usedBytes() > 0) {
                server.world.advance(Duration.ofSeconds(3));
                server.peer.resumeReading();
                server.world.advance(Duration.ofNanos(100_000));
                server.peer.pauseReading();
                pauses++;
            }
            assertThat(pauses).as("of 3 seconds, longer than the close timeout").isGreaterThan(3);
            server.peer.resumeReading();
            server.world.advance(Duration.ofSeconds(1));
            assertThat(messages(server))
                    .containsExactly(Frames.binary(new byte[8 * MIB]), "close 1001");
            server.send(Frames.close(1001, ""));
            assertThat(server.events).containsExactly("closed 1001");
        }
    }

    @Clause("K-1")
    @Test
    void close_behindALargeMessage_thatIsReadAfterTheCloseTimeout_isSent() {
        try (ServerSide server = server(CONFIG)) {
            server.peer.pauseReading();
            server.socket.send(new byte[8 * MIB]);
            server.world.run();
            server.socket.close(1001, "");
            server.world.advance(Duration.ofSeconds(20));
            assertThat(server.events).isEmpty();
            server.peer.resumeReading();
            server.world.advance(Duration.ofSeconds(1));
            assertThat(messages(server))
                    .containsExactly(Frames.binary(new byte[8 * MIB]), "close 1001");
            server.world.advance(Duration.ofSeconds(6));
            assertThat(server.events)
                    .as("the close timeout starts with the close frame")
                    .containsExactly("closed 1006");
        }
    }

    @Clause("K-1")
    @Test
    void close_whileALargeMessageIsNotRead_isLostAfterTheWriteTimeout() {
        try (ServerSide server = server(CONFIG)) {
            server.peer.pauseReading();
            server.socket.send(new byte[8 * MIB]);
            server.world.run();
            server.socket.close(1001, "");
            server.world.advance(Duration.ofSeconds(61));
            assertThat(server.events).containsExactly("closed 1006");
            assertThat(heap(server).usedBytes()).isZero();
        }
    }

    @Clause("K-1")
    @Test
    void close_whileALargeMessageIsNotRead_withoutAWriteTimeout_isLostAfterTheCloseTimeout() {
        WebSocketConfig config =
                CONFIG.withStreams(StreamConfig.DEFAULT.withWriteTimeout(Duration.ZERO));
        try (ServerSide client = ServerSide.asClient(config, _ -> {})) {
            client.peer.pauseReading();
            client.socket.send(new byte[8 * MIB]);
            client.world.run();
            client.socket.close(1001, "");
            client.world.advance(Duration.ofSeconds(6));
            assertThat(client.events).containsExactly("closed 1006");
        }
    }

    @Clause("K-1")
    @Test
    void ping_whileTheCloseFrameWaits_isAnswered() {
        try (ServerSide client = ServerSide.asClient(CONFIG, _ -> {})) {
            client.peer.pauseReading();
            client.socket.send(new byte[8 * MIB]);
            client.world.run();
            client.socket.close(1001, "");
            client.peer.send(Frames.frame(0x80 | Frames.PING, new byte[] {7}, false));
            client.world.advance(Duration.ofSeconds(1));
            client.peer.resumeReading();
            client.world.run();
            assertThat(client.answers()).contains("pong 07").last().isEqualTo("close 1001");
        }
    }

    @Clause("K-1")
    @Test
    void close_ofThePeer_whileOursWaits_isAnswered() {
        try (ServerSide client = ServerSide.asClient(CONFIG, _ -> {})) {
            client.peer.pauseReading();
            client.socket.send(new byte[8 * MIB]);
            client.world.run();
            client.socket.close(1001, "");
            client.peer.send(Frames.frame(0x88, Frames.closeContent(1000, ""), false));
            client.world.run();
            assertThat(client.events).containsExactly("closed 1000");
            client.peer.resumeReading();
            client.world.run();
            assertThat(client.answers()).last().isEqualTo("close 1000");
        }
    }

    @Clause("K-1")
    @Test
    void sendOfABuffer_ofAnySize_isNotCopiedThroughTheHeap() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (boolean masks : new boolean[] {false, true}) {
            try (ServerSide side = masks ? ServerSide.asClient(CONFIG, _ -> {}) : server(CONFIG)) {
                for (int length : new int[] {0, 1, 7, 125, 126, 70_000, MIB, MIB}) {
                    byte[] noise = noise(length);
                    Buffer buffer = Buffer.allocate(length + 3).put(new byte[3]).put(noise);
                    buffer.skip(3);
                    side.peer.takeReceived();
                    long before = threads.getCurrentThreadAllocatedBytes();
                    side.socket.send(buffer);
                    assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                            .as("heap used to send %d bytes", length)
                            .isLessThan(64 << 10);
                    assertThat(buffer.readable()).isZero();
                    side.world.run();
                    assertThat(side.answers()).containsExactly(Frames.binary(noise));
                }
            }
        }
    }
}
