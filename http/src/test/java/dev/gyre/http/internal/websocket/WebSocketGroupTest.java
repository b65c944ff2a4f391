package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.http.SlowConsumerPolicy;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.WebSocketGroup;
import dev.gyre.http.WebSocketMessage;
import dev.gyre.io.Listener;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

@On("simulated")
class WebSocketGroupTest {
    private final SimulatedWorld world = SimulatedWorld.seed(5);
    private WebSocketGroup group = new WebSocketGroup();
    private final List<WebSocket> sockets = new ArrayList<>();
    private final List<SimulatedPeer> peers = new ArrayList<>();
    private final List<Integer> ends = new ArrayList<>();

    @BeforeEach
    void listen() {
        WebSocketConfig config = WebSocketConfig.DEFAULT;
        Listener.tcp(
                world.loop(),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 80),
                stream -> {
                    // Every other one compresses.
                    String extensions = sockets.size() % 2 == 0 ? null : ServerSide.COMPRESSED;
                    new WebSocketProtocol(stream, config, true, extensions, null, "/")
                            .begin(
                                    stream,
                                    socket -> {
                                        sockets.add(socket);
                                        group.add(socket);
                                        socket.onText(text -> group.broadcast(text));
                                        socket.onClose((code, _) -> ends.add(code));
                                    });
                });
    }

    @AfterEach
    void close() {
        world.close();
    }

    private void join(int count) {
        for (int i = 0; i < count; i++) {
            peers.add(world.connect(80));
            world.run(); // Before the next, which might overtake it.
        }
    }

    private void onLoop(Runnable task) {
        List<Throwable> failures = new ArrayList<>();
        world.loop()
                .submit(
                        () -> {
                            try {
                                task.run();
                            } catch (Throwable e) {
                                failures.add(e);
                            }
                        });
        world.run();
        assertThat(failures).isEmpty();
    }

    private List<String> heard(int peer) {
        return Frames.describe(peers.get(peer).received());
    }

    @Clause("K-1")
    @Test
    void broadcast_isHeardByAll() {
        join(5);
        assertThat(group.size()).isEqualTo(5);
        String told = "all hear the same, and this is long enough to be compressed ".repeat(3);
        peers.get(2).send(Frames.frame(Frames.TEXT, told));
        world.run();
        for (int i = 0; i < 5; i++) {
            String packed = i % 2 == 0 ? "" : "packed ";
            assertThat(heard(i)).as("peer %d", i).containsExactly(packed + Frames.text(told));
        }
    }

    @Clause("K-1")
    @Test
    void message_isEncodedAndCompressedOnce() {
        join(4);
        EncodedMessage message = (EncodedMessage) WebSocketMessage.text("abc ".repeat(100));
        onLoop(() -> assertThat(group.broadcast(message)).isEqualTo(4));
        assertThat(heard(0)).hasSize(1);
        WebSocketScratch bench = WebSocketScratch.of(world.loop());
        assertThat(message.frame()).isSameAs(message.frame());
        assertThat(message.compressedFrame(bench)).isSameAs(message.compressedFrame(bench));
        assertThat(message.compressedFrame(bench).length).isLessThan(50);
    }

    @Clause("K-1")
    @Test
    void socket_thatIsClosedByEitherSide_leaves() {
        join(3);
        peers.get(0).send(Frames.close(1000, ""));
        world.run();
        assertThat(group.size()).isEqualTo(2);
        sockets.get(1).close();
        assertThat(group.size()).as("as soon as its closing begins").isOne();
        peers.get(2).reset();
        world.run();
        assertThat(group.size()).isZero();
        assertThat(group.broadcast("nobody")).isZero();
        assertThat(group.add(sockets.get(0))).as("a closed socket stays out").isFalse();
    }

    @Clause("K-1")
    @Test
    void socket_thatDoesNotKeepUp_goes_andTheOthersHearEachMessageOnce() {
        group = new WebSocketGroup(SlowConsumerPolicy.CLOSE, 10_000);
        join(6);
        peers.get(0).pauseReading();
        peers.get(4).pauseReading();
        String line = "y".repeat(50);
        int count = 4000;
        for (int i = 0; i < count; i++) {
            group.broadcast(line);
            if (i % 100 == 0) {
                world.run();
            }
        }
        world.run();
        assertThat(group.size()).isEqualTo(4);
        assertThat(ends).containsExactly(1013, 1013);
        for (int each : new int[] {1, 2, 3, 5}) {
            assertThat(heard(each)).as("peer %d", each).hasSize(count);
        }
    }

    @Clause("K-1")
    @Test
    void socket_thatDoesNotKeepUp_holdsNoMoreThanTheGroupAllows() {
        join(2);
        peers.get(0).pauseReading();
        WebSocketMessage message = WebSocketMessage.binary(noise(100_000));
        for (int i = 0; i < 40; i++) {
            group.broadcast(message);
            world.run();
        }
        assertThat(ends).as("above 1 MiB, of 4 MB").containsExactly(1013);
        assertThat(group.size()).isOne();
        assertThat(heard(1)).hasSize(40);
    }

    @Clause("K-1")
    @Test
    void messages_forManyThatDoNotKeepUp_areOneMemoryForAll_andArriveInOrder() {
        join(3);
        peers.forEach(SimulatedPeer::pauseReading);
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 900; i++) {
            byte[] message = noise(1000);
            message[0] = (byte) i;
            message[1] = (byte) (i >> 8);
            group.broadcast(WebSocketMessage.binary(message));
            expected.add(Frames.binary(message));
            world.run();
        }
        assertThat(world.loop().metrics().bufferMemory())
                .as("copies of 2.7 MB that wait: up to the streams' marks, and no more")
                .isLessThan(1_000_000);
        sockets.get(0).send("to one alone");
        peers.forEach(SimulatedPeer::resumeReading);
        world.run();
        assertThat(heard(1)).isEqualTo(expected);
        assertThat(heard(2)).isEqualTo(expected);
        expected.add(Frames.text("to one alone"));
        assertThat(heard(0)).isEqualTo(expected);
        assertThat(ends).isEmpty();
    }

    @Clause("K-1")
    @Test
    void close_ofOneThatDoesNotKeepUp_comesBehindWhatWasBroadcast() {
        join(1);
        peers.get(0).pauseReading();
        onLoop(
                () -> {
                    for (int i = 0; i < 500; i++) {
                        group.broadcast(WebSocketMessage.binary(noise(1000)));
                    }
                    sockets.get(0).close(1001, "");
                });
        peers.get(0).resumeReading();
        world.run();
        assertThat(heard(0)).hasSize(501).last().isEqualTo("close 1001");
    }

    @Clause("K-1")
    @Test
    void socket_thatDoesNotKeepUp_inAGroupThatDrops_missesSome_andStays() {
        group = new WebSocketGroup(SlowConsumerPolicy.DROP, 200_000);
        join(2);
        peers.get(0).pauseReading();
        WebSocketMessage message = WebSocketMessage.binary(noise(100_000));
        for (int i = 0; i < 40; i++) {
            group.broadcast(message);
            world.run();
        }
        assertThat(sockets.get(0).dropped()).isBetween(1L, 39L);
        peers.get(0).resumeReading();
        world.run();
        assertThat(heard(0)).hasSize(40 - (int) sockets.get(0).dropped());
        assertThat(heard(1)).hasSize(40);
        group.broadcast("again");
        world.run();
        assertThat(heard(0)).last().isEqualTo(Frames.text("again"));
    }

    @Clause("K-1")
    @Test
    void message_longerThanTheLimit_isSentToWhoKeepsUp() {
        group = new WebSocketGroup(SlowConsumerPolicy.CLOSE, 1);
        join(1);
        group.broadcast("longer than one byte");
        world.run();
        assertThat(heard(0)).containsExactly(Frames.text("longer than one byte"));
    }

    @Clause("K-1")
    @Test
    void group_inWhichMessagesWait_isRefused() {
        assertThatThrownBy(() -> new WebSocketGroup(SlowConsumerPolicy.WAIT, 1000))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not WAIT");
    }

    private static byte[] noise(int length) {
        byte[] made = new byte[length];
        new Random(1).nextBytes(made);
        return made;
    }

    @Clause("K-1")
    @Test
    void remove_sendsOut_andAddAgainLetsIn() {
        join(2);
        WebSocket socket = sockets.get(0);
        assertThat(group.add(socket)).as("it is in").isFalse();
        assertThat(group.remove(socket)).isTrue();
        assertThat(group.remove(socket)).isFalse();
        group.broadcast("a");
        world.run();
        assertThat(heard(0)).isEmpty();
        assertThat(heard(1)).containsExactly(Frames.text("a"));
        assertThat(group.add(socket)).isTrue();
        List<WebSocket> all = new ArrayList<>();
        onLoop(
                () ->
                        group.forEach(
                                each -> {
                                    all.add(each);
                                    group.remove(each);
                                }));
        assertThat(all).containsExactlyInAnyOrderElementsOf(sockets);
        assertThat(group.size()).isZero();
    }
}
