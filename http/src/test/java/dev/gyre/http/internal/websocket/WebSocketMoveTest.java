package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.LoopTerminatedException;
import dev.gyre.conformance.On;
import dev.gyre.http.HttpServer;
import dev.gyre.http.HttpServerGroup;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.http.WebSocketGroup;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.io.ListenerConfig;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/// Sockets of a server that move between the loops of its group, in a simulated world.
@On("simulated")
class WebSocketMoveTest {
    private static final String UPGRADE =
            """
            GET /chat HTTP/1.1\r
            Host: a\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover; \
            server_no_context_takeover\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            \r
            """;

    private final SimulatedWorld world = SimulatedWorld.seed(7);
    private final LoopGroup group = world.group(2);
    private final HttpServerGroup server = HttpServer.on(group);
    private final List<String> events = new ArrayList<>();
    private WebSocket socket;
    private SimulatedPeer peer;
    private int headBytes;

    /// The loop of the socket, and the other one.
    private EventLoop from;

    private EventLoop to;

    @BeforeEach
    void connect() {
        server.webSocket(
                "/chat",
                WebSocketConfig.DEFAULT.withPingInterval(Duration.ofSeconds(10)),
                made -> {
                    socket = made;
                    made.onText(this::text).onClose((code, _) -> event("closed " + code));
                });
        server.listen(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 80),
                ListenerConfig.DEFAULT);
        group.start();
        peer = world.connect(80);
        peer.send(UPGRADE);
        world.run();
        assertThat(socket).isNotNull();
        headBytes = peer.received().length;
        from = socket.loop();
        to = group.loops().get(group.loops().indexOf(from) == 0 ? 1 : 0);
    }

    @AfterEach
    void close() {
        world.close();
    }

    private void text(String text) {
        event(text.length() > 50 ? text.length() + " characters" : text);
        socket.send(text);
    }

    private void event(String what) {
        events.add(what + (to.isLoopThread() ? " on the target" : " on the old loop"));
    }

    private List<String> heard() {
        byte[] all = peer.received();
        return Frames.describe(Arrays.copyOfRange(all, headBytes, all.length));
    }

    private void move() {
        from.submit(() -> socket.moveTo(to, _ -> event("moved")));
        world.run();
        assertThat(socket.loop()).isSameAs(to);
    }

    @Test
    @Clause("G-4")
    void moveTo_idleSocket_continuesOnTheTarget() {
        move();
        peer.send(Frames.frame(Frames.TEXT, "hello"));
        world.run();
        assertThat(events).containsExactly("moved on the target", "hello on the target");
        assertThat(heard()).containsExactly(Frames.text("hello"));
        peer.send(Frames.close(1000, "bye"));
        world.run();
        assertThat(events).endsWith("closed 1000 on the target");
        var active = server.activeConnections().toCompletableFuture();
        peer.close();
        world.run();
        assertThat(active).as("closing").isCompletedWithValue(1);
        active = server.activeConnections().toCompletableFuture();
        world.run();
        assertThat(active).isCompletedWithValue(0);
        assertThat(server.connections()).isZero();
    }

    @Test
    @Clause("G-4")
    void moveTo_inTheMiddleOfAMessage_completesItOnTheTarget() {
        peer.send(Frames.part(Frames.TEXT, "one "));
        world.run();
        assertThat(HeapBudget.of(from).usedBytes()).isPositive();
        move();
        assertThat(HeapBudget.of(from).usedBytes()).isZero();
        assertThat(HeapBudget.of(to).usedBytes()).isPositive();
        peer.send(Frames.frame(Frames.CONTINUATION, "message"));
        world.run();
        assertThat(events).contains("one message on the target");
        assertThat(HeapBudget.of(to).usedBytes()).isZero();
    }

    @Test
    @Clause("G-4")
    void moveTo_withMessagesThatWait_sendsThemInOrder() {
        peer.pauseReading();
        String large = "x".repeat(3 << 20) + new Random(1).nextInt();
        from.submit(
                () -> {
                    socket.send(large.getBytes(StandardCharsets.US_ASCII));
                    socket.send("last");
                    socket.moveTo(to, _ -> socket.send("after"));
                });
        world.run();
        assertThat(HeapBudget.of(from).usedBytes()).isZero();
        peer.resumeReading();
        world.run();
        List<String> all = heard();
        assertThat(all.getLast()).isEqualTo(Frames.text("after"));
        assertThat(all.get(all.size() - 2)).isEqualTo(Frames.text("last"));
        assertThat(HeapBudget.of(to).usedBytes()).isZero();
    }

    @Test
    @Clause("G-4")
    void moveTo_compressedSocket_continuesOnTheTarget() {
        move();
        String text = "abc ".repeat(100);
        peer.send(
                Frames.frame(0x80 | 0x40 | Frames.TEXT, Frames.deflated(Frames.utf8(text)), true));
        world.run();
        assertThat(events).endsWith("400 characters on the target");
        assertThat(heard()).containsExactly("packed " + Frames.text(text));
    }

    @Test
    @Clause("G-4")
    void pings_afterAMove_areSentByTheTarget() {
        world.advance(Duration.ofSeconds(6));
        move();
        world.advance(Duration.ofSeconds(5));
        assertThat(heard()).containsExactly(Frames.describe(0x80 | Frames.PING, new byte[0]));
        world.advance(Duration.ofSeconds(11));
        assertThat(events).endsWith("closed 1006 on the target");
    }

    @Test
    @Clause("G-4")
    void moveTo_memberOfAGroup_leavesItUntilAddedAgain() {
        WebSocketGroup chat = new WebSocketGroup();
        from.submit(
                () -> {
                    chat.add(socket);
                    socket.moveTo(to, chat::add);
                    assertThat(chat.size()).isZero();
                });
        world.run();
        assertThat(chat.size()).isEqualTo(1);
        chat.broadcast("to all");
        world.run();
        assertThat(heard()).containsExactly(Frames.text("to all"));
    }

    @Test
    @Clause("G-4")
    void drain_afterAMove_closesTheSocketOnItsLoop() {
        move();
        var drained = server.drain(Duration.ofSeconds(1)).toCompletableFuture();
        world.run();
        assertThat(heard()).hasSize(1);
        assertThat(heard().getFirst()).contains("1001");
        peer.send(Frames.close(1001, ""));
        world.run();
        world.advance(Duration.ofSeconds(2));
        assertThat(drained).isDone();
        assertThat(events).contains("closed 1001 on the target");
    }

    @Test
    @Clause("G-4")
    void anyCall_whileMoving_throws() {
        List<Throwable> thrown = new ArrayList<>();
        from.submit(
                () -> {
                    socket.moveTo(to);
                    for (Runnable call :
                            List.<Runnable>of(
                                    () -> socket.send("x"),
                                    () -> socket.close(),
                                    () -> socket.moveTo(to))) {
                        try {
                            call.run();
                        } catch (IllegalStateException e) {
                            thrown.add(e);
                        }
                    }
                });
        world.run();
        assertThat(thrown).hasSize(3);
        assertThat(thrown.getFirst()).hasMessageContaining("moving to another loop");
        peer.send(Frames.frame(Frames.TEXT, "still open"));
        world.run();
        assertThat(events).containsExactly("still open on the target");
    }

    @Test
    @Clause("G-4")
    void moveTo_badInput_throwsAndTheSocketStays() {
        from.submit(
                () -> {
                    assertThatThrownBy(() -> socket.moveTo(null))
                            .isInstanceOf(NullPointerException.class);
                    EventLoop closed = EventLoop.open();
                    closed.close();
                    assertThatThrownBy(() -> socket.moveTo(closed))
                            .isInstanceOf(LoopTerminatedException.class);
                    socket.moveTo(from, _ -> event("own"));
                    socket.close();
                    assertThatThrownBy(() -> socket.moveTo(to))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("closed or closing");
                });
        world.run();
        assertThat(heard()).hasSize(1);
    }

    @Test
    @Clause("G-4")
    void moveTo_backAndForthUnderLoad_keepsTheOrder() {
        Random random = new Random(5);
        List<String> sent = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            String text = "message " + i;
            sent.add(Frames.text(text));
            byte[] frame = Frames.frame(Frames.TEXT, text);
            int cut = random.nextInt(frame.length);
            peer.send(Arrays.copyOf(frame, cut));
            if (random.nextBoolean()) {
                world.run();
            }
            EventLoop at = socket.loop();
            EventLoop next = group.loops().get(random.nextInt(2));
            at.submit(
                    () -> {
                        if (socket.loop() == at) {
                            socket.moveTo(next);
                        }
                    });
            if (random.nextBoolean()) {
                world.run();
            }
            peer.send(Arrays.copyOfRange(frame, cut, frame.length));
            world.run();
        }
        assertThat(heard()).isEqualTo(sent);
    }
}
