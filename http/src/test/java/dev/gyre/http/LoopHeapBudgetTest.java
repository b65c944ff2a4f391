package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopOverloadedException;
import dev.gyre.Outcome;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.http.internal.memory.HeapBudget;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// All servers, clients and WebSockets of a loop share one budget of the heap.
@On("simulated")
class LoopHeapBudgetTest {
    private static final int MIB = 1 << 20;
    private static final int MEMORY = 4 * MIB;
    private static final String UPGRADE =
            """
            GET /socket HTTP/1.1
            Host: a
            Upgrade: websocket
            Connection: Upgrade
            Sec-WebSocket-Version: 13
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==

            """
                    .replace("\n", "\r\n");

    private final SimulatedWorld world =
            SimulatedWorld.seed(5, LoopConfig.DEFAULT.withBufferMemory(MEMORY));
    private final HeapBudget budget = HeapBudget.of(world.loop());
    private final HttpClient client = HttpClient.on(world.loop());
    private final Deferred<@Nullable Void> goOn = world.loop().deferred();

    LoopHeapBudgetTest() {
        serve(80);
        serve(81);
    }

    private void serve(int port) {
        HttpServer.on(world.loop())
                .post("/", (request, response) -> request.body().bytes().then(response::send))
                .webSocket("/socket", _ -> {})
                .listen(port);
    }

    @AfterEach
    void close() {
        client.close();
        world.close();
    }

    private SimulatedPeer connect(int port, String head) {
        SimulatedPeer peer = world.connect(port);
        peer.send(head);
        world.advance(Duration.ofMillis(5));
        return peer;
    }

    private void send(SimulatedPeer peer, int bytes) {
        for (int left = bytes; left > 0 && peer.isOpen(); left -= 64 << 10) {
            peer.send(new byte[Math.min(left, 64 << 10)]);
            world.advance(Duration.ofMillis(20));
        }
    }

    /// Uploads all of a body of 1 MiB but its last byte.
    private SimulatedPeer upload(int port) {
        SimulatedPeer peer =
                connect(port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + MIB + "\r\n\r\n");
        send(peer, MIB - 1);
        return peer;
    }

    /// Serves blocking handlers that stream.
    private void serveBlocking() {
        HttpServer.on(world.loop(), HttpConfig.DEFAULT.withMaxBody(64 * MIB))
                .blocking(
                        "GET",
                        "/out",
                        (request, response) -> {
                            EventLoop loop = request.loop();
                            ResponseStream out = response.stream();
                            for (int i = 0; i < 64; i++) {
                                out.write(new byte[64 << 10]);
                                // Lets the loop write it.
                                loop.call(() -> Promise.delay(loop, Duration.ofMillis(1))).get();
                            }
                            out.end();
                        })
                .blocking(
                        "GET",
                        "/fail",
                        (_, response) -> {
                            response.stream().write(new byte[10 << 10]);
                            throw new HttpException(400, "handler");
                        })
                .blocking(
                        "POST",
                        "/in",
                        (request, response) -> {
                            InputStream in = request.body().stream();
                            goOn.promise().await(); // Reads nothing before.
                            response.text("" + in.readAllBytes().length);
                        })
                .listen(82);
    }

    @Test
    @Clause({"H-3", "H-8"})
    void streams_ofBlockingHandlers_countWhileTheirClientsDoNotRead() {
        serveBlocking();
        List<SimulatedPeer> peers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            SimulatedPeer peer = world.connect(82);
            peer.pauseReading();
            peer.send("GET /out HTTP/1.1\r\nHost: a\r\n\r\n");
            peers.add(peer);
        }
        world.advance(Duration.ofSeconds(1));
        assertThat(budget.usedBytes()).isBetween(8L * (32 << 10), 8L * (64 << 10));
        peers.getFirst().reset();
        peers.forEach(SimulatedPeer::resumeReading);
        world.advance(Duration.ofSeconds(10));
        assertThat(budget.usedBytes()).isZero();
        assertThat(peers.getLast().received().length).isGreaterThan(4 * MIB);
    }

    @Test
    @Clause({"H-3", "H-8"})
    void stream_ofABlockingHandler_withoutMemory_isSentInSmallerPieces() {
        serveBlocking();
        long rest = budget.limitBytes() - budget.usedBytes();
        assertThat(budget.tryAcquire(rest)).isTrue();
        SimulatedPeer peer = connect(82, "GET /out HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofSeconds(10));
        assertThat(peer.received().length).isGreaterThan(4 * MIB);
        assertThat(budget.usedBytes()).isEqualTo(rest);
        budget.release(rest);
        connect(82, "GET /fail HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofSeconds(1));
        assertThat(budget.usedBytes()).as("after a handler that failed").isZero();
    }

    @Test
    @Clause({"H-3", "H-8"})
    void body_thatABlockingHandlerHasNotRead_counts_orIs503() {
        serveBlocking();
        String head = "POST /in HTTP/1.1\r\nHost: a\r\nContent-Length: " + MIB + "\r\n\r\n";
        SimulatedPeer unread = connect(82, head);
        send(unread, MIB);
        assertThat(budget.usedBytes()).isBetween(64L << 10, 256L << 10);
        SimulatedPeer gone = connect(82, head);
        send(gone, MIB / 2);
        long both = budget.usedBytes();
        gone.reset();
        world.advance(Duration.ofSeconds(1));
        assertThat(budget.usedBytes()).isLessThan(both);
        long rest = budget.limitBytes() - budget.usedBytes();
        assertThat(budget.tryAcquire(rest)).isTrue();
        SimulatedPeer refused = connect(82, head);
        send(refused, 128 << 10);
        assertThat(refused.receivedText()).startsWith("HTTP/1.1 503 ");
        budget.release(rest);
        goOn.resolve(null);
        world.advance(Duration.ofSeconds(10));
        assertThat(unread.receivedText()).endsWith("" + MIB);
        assertThat(budget.usedBytes()).isZero();
    }

    @Test
    @Clause("H-3")
    void bodies_ofTwoServersOnOneLoop_areLimitedTogether() {
        SimulatedPeer first = upload(80);
        List<SimulatedPeer> held = List.of(first, upload(80), upload(81), upload(81));
        assertThat(held).allMatch(SimulatedPeer::isOpen);
        assertThat(budget.usedBytes()).isEqualTo(MEMORY);
        for (int port : new int[] {80, 81}) {
            SimulatedPeer refused = upload(port);
            world.advance(Duration.ofSeconds(1));
            assertThat(refused.receivedText()).startsWith("HTTP/1.1 503 ");
        }
        first.reset();
        world.advance(Duration.ofSeconds(1));
        assertThat(budget.usedBytes()).isEqualTo(MEMORY - MIB);
        assertThat(upload(81).isOpen()).as("in place of one of the other server").isTrue();
    }

    @Test
    @Clause("K-1")
    void messages_ofAWebSocket_areLimitedTogetherWithBodies() {
        for (int i = 0; i < MEMORY / MIB; i++) {
            assertThat(upload(80).isOpen()).isTrue();
        }
        SimulatedPeer socket = connect(81, UPGRADE);
        assertThat(socket.takeReceived()).asString().startsWith("HTTP/1.1 101 ");
        byte fragment = 0x02;
        byte masked = (byte) 0x81;
        socket.send(new byte[] {fragment, masked, 0, 0, 0, 0, 'x'});
        world.advance(Duration.ofMillis(20));
        byte[] close = socket.received();
        assertThat((close[2] << 8) | (close[3] & 0xff)).as("close code").isEqualTo(1013);
    }

    @Test
    void response_ofAClient_countsUntilItIsComplete_orLost() {
        ScriptedPeer peer = new ScriptedPeer(world.loop());
        String body = "x".repeat(MIB / 2);
        String head = "HTTP/1.1 200 OK\r\nContent-Length: " + MIB + "\r\n\r\n";
        peer.replyAndEnd(head + body);
        Promise<ClientResponse> lost = get(peer);
        world.run();
        assertThat(lost.outcome()).isInstanceOf(Outcome.Rejected.class);
        assertThat(budget.usedBytes()).as("after the loss").isZero();

        peer.reply(head + body + body, false, head.length() + body.length());
        Promise<ClientResponse> complete = get(peer);
        for (int i = 0; i < 10_000 && budget.usedBytes() == 0; i++) {
            world.advance(Duration.ofNanos(10_000));
        }
        assertThat(budget.usedBytes()).isBetween(1L, (long) MIB);
        world.advance(Duration.ofSeconds(1));
        assertThat(complete.outcome()).isInstanceOf(Outcome.Resolved.class);
        assertThat(budget.usedBytes()).as("after the response").isZero();
    }

    @Test
    void response_ofAClient_beyondTheBudget_isRejectedWithTheRemedy() {
        ScriptedPeer peer = new ScriptedPeer(world.loop());
        assertThat(budget.tryAcquire(budget.limitBytes())).isTrue();
        peer.reply("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
        Promise<ClientResponse> rejected = get(peer);
        world.advance(Duration.ofSeconds(1));
        assertThat(((Outcome.Rejected<ClientResponse>) rejected.outcome()).reason())
                .isInstanceOf(LoopOverloadedException.class)
                .hasMessageContaining("heap budget of " + budget.limitBytes() + " bytes")
                .hasMessageContaining("ClientRequest.onData");
        assertThat(budget.usedBytes()).isEqualTo(budget.limitBytes());
    }

    private Promise<ClientResponse> get(ScriptedPeer peer) {
        Promise<ClientResponse> promise = client.get(peer.uri("/"));
        promise.then(_ -> null, _ -> null); // Counts as handled.
        return promise;
    }
}
