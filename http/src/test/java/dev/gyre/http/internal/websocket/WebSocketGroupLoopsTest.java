package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.LoopOverloadedException;
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
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;

/// A group with members on several loops. Each loop has a world of its own, so a test decides when
/// each of them runs.
@On("simulated")
class WebSocketGroupLoopsTest {
    /// It limits the loop's share of the heap.
    private static final int BUFFER_MEMORY = 4 << 20;

    private WebSocketGroup group = new WebSocketGroup();
    private final List<Side> sides = new ArrayList<>();

    /// A loop with members.
    private final class Side {
        final SimulatedWorld world;
        final List<WebSocket> sockets = new ArrayList<>();
        final List<SimulatedPeer> peers = new ArrayList<>();
        final List<Integer> ends = new ArrayList<>();

        Side(int members) {
            world =
                    SimulatedWorld.seed(
                            sides.size(), LoopConfig.DEFAULT.withBufferMemory(BUFFER_MEMORY));
            sides.add(this);
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
                                    .begin(stream, this::join));
            for (int i = 0; i < members; i++) {
                peers.add(world.connect(80));
                world.run();
            }
        }

        private void join(WebSocket socket) {
            sockets.add(socket);
            group.add(socket);
            socket.onText(text -> group.broadcast(text));
            socket.onClose((code, _) -> ends.add(code));
        }

        List<String> heard(int peer) {
            return Frames.describe(peers.get(peer).received());
        }

        void onLoop(Runnable task) {
            world.loop().submit(task);
            world.run();
        }
    }

    @AfterEach
    void close() {
        sides.forEach(side -> side.world.close());
    }

    private void runAll() {
        sides.forEach(side -> side.world.run());
    }

    /// Returns a message of which three fill the queue of a loop.
    private static WebSocketMessage large() {
        return WebSocketMessage.binary(new byte[BUFFER_MEMORY / 4 / 3 - 100]);
    }

    @Clause("G-1")
    @Test
    void broadcast_onOneLoop_servesItsMembersAtOnce_andThoseOfOthersSoon() {
        Side here = new Side(2);
        Side there = new Side(3);
        assertThat(group.size()).isEqualTo(5);
        List<Integer> writable = new ArrayList<>();
        here.onLoop(() -> writable.add(group.broadcast("to all")));
        assertThat(writable).as("members of the publisher's loop").containsExactly(2);
        assertThat(here.heard(1)).containsExactly(Frames.text("to all"));
        assertThat(there.heard(2)).as("its loop has not run").isEmpty();
        there.world.run();
        for (int i = 0; i < 3; i++) {
            assertThat(there.heard(i)).containsExactly(Frames.text("to all"));
        }
    }

    @Clause("G-1")
    @Test
    void broadcast_onAThreadOfNoLoop_reachesAll() {
        Side one = new Side(1);
        Side two = new Side(1);
        assertThat(group.broadcast("hello")).isZero();
        runAll();
        assertThat(one.heard(0)).containsExactly(Frames.text("hello"));
        assertThat(two.heard(0)).containsExactly(Frames.text("hello"));
    }

    @Clause("G-1")
    @Test
    void message_isEncodedAndCompressedOnceForAllLoops() {
        Side here = new Side(1);
        Side there = new Side(1);
        EncodedMessage message = (EncodedMessage) WebSocketMessage.text("abc ".repeat(100));
        here.onLoop(() -> group.broadcast(message));
        byte[] compressed = message.compressedFrame(WebSocketScratch.of(there.world.loop()));
        long worked = WebSocketScratch.of(there.world.loop()).workedBytes();
        there.world.run();
        assertThat(there.heard(0)).containsExactly("packed " + Frames.text("abc ".repeat(100)));
        assertThat(WebSocketScratch.of(there.world.loop()).workedBytes()).isEqualTo(worked);
        assertThat(message.compressedFrame(WebSocketScratch.of(here.world.loop())))
                .isSameAs(compressed);
    }

    @Clause("G-1")
    @Test
    void broadcasts_ofEachPublisher_arriveInOrder_whateverLoopsRunWhen() {
        for (int seed = 0; seed < 100; seed++) {
            checkOrder(new Random(seed));
            sides.forEach(side -> side.world.close());
            sides.clear();
            group = new WebSocketGroup();
        }
    }

    private void checkOrder(Random random) {
        int loops = 2 + random.nextInt(3);
        for (int i = 0; i < loops; i++) {
            new Side(1 + random.nextInt(2));
        }
        int publishers = loops + 1; // The last one is the test's own thread.
        int[] sent = new int[publishers];
        for (int i = 0; i < 60; i++) {
            int from = random.nextInt(publishers);
            int count = 1 + random.nextInt(4);
            Runnable publish =
                    () -> {
                        for (int j = 0; j < count; j++) {
                            group.broadcast(from + " " + sent[from]++);
                        }
                    };
            if (from == loops) {
                publish.run();
            } else if (random.nextBoolean()) {
                sides.get(from).world.loop().submit(publish);
            } else {
                sides.get(from).onLoop(publish);
            }
            if (random.nextInt(3) == 0) {
                sides.get(random.nextInt(loops)).world.run();
            }
        }
        runAll();
        runAll(); // For broadcasts of loops that ran late.
        for (Side side : sides) {
            for (int peer = 0; peer < side.peers.size(); peer++) {
                Map<String, Integer> next = new HashMap<>();
                for (String heard : side.heard(peer)) {
                    byte[] text = HexFormat.of().parseHex(heard.substring("text ".length()));
                    String[] words = new String(text, UTF_8).split(" ", -1);
                    int expected = next.merge(words[0], 1, Integer::sum) - 1;
                    assertThat(Integer.parseInt(words[1])).isEqualTo(expected);
                }
                for (int from = 0; from < publishers; from++) {
                    assertThat(next.getOrDefault("" + from, 0)).isEqualTo(sent[from]);
                }
            }
        }
    }

    @Clause("G-1")
    @Test
    void publisher_thatContinuesOnAnotherLoop_keepsItsOrder() {
        Side there = new Side(1);
        there.world.loop().submit(() -> group.broadcast("last"));
        int more = 3_000; // More than a loop delivers per tick.
        for (int i = 0; i < more; i++) {
            group.broadcast("" + i);
        }
        there.world.run();
        assertThat(there.heard(0)).hasSize(more + 1).last().isEqualTo(Frames.text("last"));
    }

    @Clause("G-1")
    @Test
    void loopThatDoesNotKeepUp_inAGroupThatCloses_losesItsMembers_behindWhatWaited() {
        Side busy = new Side(2);
        Side other = new Side(1);
        WebSocketMessage large = large();
        int count = 0;
        while (group.dropped() == 0) {
            group.broadcast(large);
            other.world.run();
            count++;
        }
        group.broadcast("after the gap");
        assertThat(count).as("the queue is limited").isEqualTo(4);
        assertThat(group.dropped()).as("none passes the gap").isEqualTo(2);
        runAll();
        assertThat(busy.ends).containsExactly(1013, 1013);
        assertThat(other.ends).isEmpty();
        assertThat(other.heard(0)).hasSize(5).last().isEqualTo(Frames.text("after the gap"));
        assertThat(busy.heard(0)).doesNotContain(Frames.text("after the gap"));
        assertThat(group.size()).isOne();
    }

    @Clause("G-1")
    @Test
    void loopThatDoesNotKeepUp_inAGroupThatDrops_missesMessages_andReceivesLaterOnes() {
        group = new WebSocketGroup(SlowConsumerPolicy.DROP, Integer.MAX_VALUE);
        Side busy = new Side(1);
        WebSocketMessage large = large();
        for (int i = 0; i < 10; i++) {
            group.broadcast(large);
        }
        assertThat(group.dropped()).isEqualTo(7);
        busy.world.run();
        assertThat(busy.sockets.get(0).dropped()).isEqualTo(7);
        group.broadcast("again");
        busy.world.run();
        assertThat(busy.heard(0)).hasSize(4).last().isEqualTo(Frames.text("again"));
        assertThat(group.dropped()).isEqualTo(7);
    }

    @Clause("G-1")
    @Test
    void messageLongerThanTheQueueOfALoop_isDelivered() {
        group = new WebSocketGroup(SlowConsumerPolicy.DROP, Integer.MAX_VALUE);
        Side there = new Side(1);
        GroupInbox inbox = new GroupInbox(1);
        List<String> delivered = new ArrayList<>();
        assertThat(inbox.offer(there.world.loop(), () -> delivered.add("a"), 1000)).isTrue();
        assertThat(inbox.offer(there.world.loop(), () -> delivered.add("b"), 1)).isFalse();
        there.world.run();
        assertThat(inbox.offer(there.world.loop(), () -> delivered.add("c"), 1000)).isTrue();
        there.world.run();
        assertThat(delivered).containsExactly("a", "c");
    }

    @Clause("G-1")
    @Test
    void deliveryThatThrows_doesNotStopLaterOnes() {
        Side there = new Side(0);
        GroupInbox inbox = new GroupInbox(1 << 20);
        List<String> delivered = new ArrayList<>();
        inbox.offer(
                there.world.loop(),
                () -> {
                    throw new IllegalStateException("as the test wants");
                },
                1);
        inbox.offer(there.world.loop(), () -> delivered.add("later"), 1);
        there.world.run();
        assertThat(delivered).containsExactly("later");
    }

    @Clause("G-1")
    @Test
    void loopThatTerminates_takesItsMembersWithIt() {
        Side here = new Side(1);
        Side there = new Side(2);
        there.world.loop().close();
        assertThat(group.size()).isOne();
        group.broadcast("still here");
        group.forEach(socket -> socket.send("one by one"));
        here.world.run();
        assertThat(here.heard(0))
                .containsExactly(Frames.text("still here"), Frames.text("one by one"));
    }

    @Clause("G-1")
    @Test
    void forEach_callsOnEachLoop_inOrderWithBroadcasts() {
        Side here = new Side(1);
        Side there = new Side(1);
        List<WebSocket> called = new ArrayList<>();
        group.broadcast("before");
        group.forEach(
                socket -> {
                    assertThat(socket.loop().isLoopThread()).isTrue();
                    called.add(socket);
                    socket.send("meanwhile");
                    group.remove(socket);
                });
        group.broadcast("after");
        assertThat(called).isEmpty();
        runAll();
        assertThat(called).containsExactly(here.sockets.get(0), there.sockets.get(0));
        assertThat(there.heard(0)).containsExactly(Frames.text("before"), Frames.text("meanwhile"));
        assertThat(group.size()).isZero();
    }

    @Clause("G-1")
    @Test
    void forEach_beyondTheQueueOfALoop_throws_andCallsTheOthers() {
        group = new WebSocketGroup(SlowConsumerPolicy.DROP, Integer.MAX_VALUE);
        var _ = new Side(1); // It is busy.
        Side other = new Side(1);
        WebSocketMessage large = large();
        while (group.dropped() == 0) {
            group.broadcast(large);
            other.world.run();
        }
        List<WebSocket> called = new ArrayList<>();
        assertThatThrownBy(
                        () -> {
                            for (int i = 0; i < 10; i++) { // Each one occupies 64 bytes.
                                group.forEach(called::add);
                            }
                        })
                .isInstanceOf(LoopOverloadedException.class)
                .hasMessageContaining("retry later");
        other.world.run();
        assertThat(called).isNotEmpty().containsOnly(other.sockets.get(0));
    }

    @Clause("G-1")
    @Test
    void deliverAll_whileOthersPublishWithoutEnd_deliversThePresentOnesOnly() {
        Side there = new Side(0);
        GroupInbox inbox = new GroupInbox(1 << 20);
        int[] delivered = {0};
        Runnable publishing =
                new Runnable() {
                    @Override
                    public void run() {
                        if (++delivered[0] < 10_000) {
                            inbox.offer(there.world.loop(), this, 1);
                        }
                    }
                };
        inbox.offer(there.world.loop(), publishing, 1);
        inbox.offer(there.world.loop(), publishing, 1);
        inbox.deliverAll();
        assertThat(delivered[0]).isEqualTo(2);
        there.world.run();
        assertThat(delivered[0]).isGreaterThanOrEqualTo(10_000);
    }
}
