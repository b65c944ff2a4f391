package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopGroup;
import dev.gyre.PerLoop;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.io.DrainReport;
import dev.gyre.io.ListenerConfig;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/// A server on the loops of a group, in a simulated world.
@On("simulated")
class HttpServerGroupTest {
    private static final InetSocketAddress ADDRESS =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 80);

    private final SimulatedWorld world = SimulatedWorld.seed(3);
    private final LoopGroup group = world.group(2);
    private HttpServerGroup server = HttpServer.on(group);

    /// The loops that called the handler of `/`.
    private final Set<EventLoop> used = new HashSet<>();

    @AfterEach
    void close() {
        world.close();
    }

    private void listen() {
        listen(ListenerConfig.DEFAULT);
    }

    private void listen(ListenerConfig config) {
        server.get(
                        "/",
                        (request, response) -> {
                            used.add(request.loop());
                            return response.text("hello");
                        })
                .listen(ADDRESS, config);
        group.start();
    }

    private SimulatedPeer connect() {
        SimulatedPeer peer = world.connect(80);
        world.run();
        return peer;
    }

    private String get(SimulatedPeer peer, String path) {
        int before = peer.received().length;
        peer.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
        world.run();
        return new String(peer.received(), ISO_8859_1).substring(before);
    }

    /// Returns a peer of each loop.
    private List<SimulatedPeer> connectToBoth() {
        List<SimulatedPeer> peers = new ArrayList<>();
        for (EventLoop each : group.loops()) {
            SimulatedPeer found = null;
            while (found == null) {
                used.clear();
                SimulatedPeer peer = connect();
                get(peer, "/");
                found = used.contains(each) ? peer : null;
            }
            peers.add(found);
        }
        return peers;
    }

    private <T> T outcome(CompletableFuture<T> future) {
        assertThat(future).isDone();
        return future.join();
    }

    @Clause("G-2")
    @Test
    void oneDefinition_servesAllLoops() {
        listen();
        for (int i = 0; i < 20; i++) {
            assertThat(get(connect(), "/")).startsWith("HTTP/1.1 200 ").endsWith("hello");
        }
        assertThat(used).containsExactlyInAnyOrderElementsOf(group.loops());
        assertThat(server.connections()).isEqualTo(20);
        assertThat(server.address()).isEqualTo(ADDRESS);
        assertThat(server.uri()).hasToString("http://localhost:80/");
        assertThat(server.group()).isSameAs(group);
    }

    @Clause("G-1")
    @Test
    void methodsOfTheDefinition_applyToAllLoops(@TempDir Path files) throws IOException {
        Files.writeString(files.resolve("a.txt"), "from a file");
        server.use(
                        (request, response, next) ->
                                next.handle(request, response.header("X-Used", "yes")))
                .any("/any", (_, response) -> response.text("any"))
                .blockingGet("/blocking", (_, response) -> response.text("blocking"))
                .route("/api", api -> api.get("/x", (_, response) -> response.text("in a group")))
                .host("b", b -> b.get("/", (_, response) -> response.text("host b")))
                .onError(IllegalStateException.class, (e, _, response) -> response.text("mapped"))
                .onStatus(404, (_, response) -> response.text("missing"))
                .get(
                        "/fails",
                        (_, _) -> {
                            throw new IllegalStateException();
                        })
                .files("/files", files)
                .errorFormat(ErrorFormat.TEXT)
                .maxBody(10)
                .timeout(Duration.ofSeconds(3))
                .get("/slow", (request, _) -> Promise.delay(request.loop(), Duration.ofHours(1)))
                .jsonMapper(JsonMapper.writeOnly())
                .idleTimeout(Duration.ofSeconds(50))
                .health("/up")
                .health("/health", loop -> Promise.resolved(loop, loop.isLoopThread()));
        listen();
        for (SimulatedPeer peer : connectToBoth()) {
            assertThat(get(peer, "/any")).contains("X-Used: yes").endsWith("any");
            assertThat(get(peer, "/blocking")).endsWith("blocking");
            assertThat(get(peer, "/api/x")).endsWith("in a group");
            assertThat(get(peer, "/fails")).endsWith("mapped");
            assertThat(get(peer, "/none")).startsWith("HTTP/1.1 404").endsWith("missing");
            assertThat(get(peer, "/up")).startsWith("HTTP/1.1 200");
            assertThat(get(peer, "/health")).startsWith("HTTP/1.1 200");
            int before = peer.received().length;
            peer.send("GET /slow HTTP/1.1\r\nHost: b\r\n\r\n");
            world.advance(Duration.ofSeconds(4));
            assertThat(new String(peer.received(), ISO_8859_1).substring(before))
                    .startsWith("HTTP/1.1 503");
        }
        assertThat(server.rejectedFileRequests()).isZero();
    }

    @Clause("G-1")
    @Test
    void lambdaThatDefinesRoutes_isCalledOncePerLoop() {
        List<RouteGroup> called = new ArrayList<>();
        server.route("/a", called::add);
        assertThat(called).hasSize(2).doesNotHaveDuplicates();
    }

    @Clause("G-1")
    @Test
    void invalidDefinition_throwsAtTheCall_andIsNotKept() {
        assertThatThrownBy(() -> server.get("no slash", (_, response) -> response.text("")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must begin with a slash");
        listen();
        assertThatThrownBy(() -> server.get("/", (_, response) -> response.text("")))
                .isInstanceOf(IllegalArgumentException.class);
        killOneLoop();
        for (SimulatedPeer peer : connectToBoth()) {
            assertThat(get(peer, "/")).endsWith("hello");
        }
    }

    @Clause("G-1")
    @Test
    void definitionOfAGroupThatRuns_appliesToAllLoops() {
        listen();
        List<SimulatedPeer> peers = connectToBoth();
        server.get("/later", (_, response) -> response.text("later"));
        for (SimulatedPeer peer : peers) {
            assertThat(get(peer, "/later")).endsWith("later");
        }
    }

    /// Ends a loop with an error. An error that a handler throws becomes a response.
    private static Promise<?> kill(EventLoop loop, Duration delay) {
        loop.after(
                delay,
                _ -> {
                    throw new InternalError("as the test wants");
                });
        return Promise.delay(loop, Duration.ofHours(1));
    }

    private void killOneLoop() {
        server.get("/kill", (request, _) -> kill(request.loop(), Duration.ZERO));
        SimulatedPeer victim = connect();
        victim.send("GET /kill HTTP/1.1\r\nHost: a\r\n\r\n");
        world.run();
        assertThat(victim.isClosed()).isTrue();
    }

    @Clause("G-1")
    @Test
    void loopThatFails_losesItsConnectionsOnly_andItsSuccessorHasTheDefinition() {
        PerLoop<List<String>> notes = group.perLoop(_ -> new ArrayList<>());
        server.get(
                "/notes",
                (request, response) -> {
                    List<String> own = notes.get(request.loop());
                    own.add("x");
                    return response.text("notes " + own.size());
                });
        listen();
        List<SimulatedPeer> peers = connectToBoth();
        peers.forEach(peer -> assertThat(get(peer, "/notes")).endsWith("notes 1"));
        List<EventLoop> before = group.loops();
        killOneLoop();
        int dead = group.loops().get(0) == before.get(0) ? 1 : 0;
        assertThat(peers.get(dead).isClosed()).isTrue();
        assertThat(get(peers.get(1 - dead), "/notes")).endsWith("notes 2");
        List<SimulatedPeer> later = connectToBoth();
        assertThat(get(later.get(dead), "/notes")).as("new state").endsWith("notes 1");
        assertThat(get(later.get(1 - dead), "/notes")).endsWith("notes 3");
    }

    @Clause("G-3")
    @Test
    void maxConnections_isThatOfTheGroup() {
        listen(ListenerConfig.DEFAULT.withMaxConnections(10));
        List<SimulatedPeer> peers = new ArrayList<>();
        for (int i = 0; i < 13; i++) {
            peers.add(world.connect(80));
        }
        peers.forEach(peer -> peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
        world.run();
        assertThat(peers).filteredOn(peer -> peer.received().length > 0).hasSize(10);
        assertThat(used).hasSize(2);
        peers.stream()
                .filter(peer -> peer.received().length > 0)
                .limit(3)
                .toList()
                .forEach(SimulatedPeer::close);
        world.run();
        assertThat(peers).filteredOn(peer -> peer.received().length > 0).hasSize(13);
    }

    @Clause("G-1")
    @Test
    void drain_finishesRequestsOnAllLoops_afterTheDelay() {
        server = HttpServer.on(group, HttpConfig.DEFAULT.withDrainDelay(Duration.ofSeconds(5)));
        server.health("/health")
                .get(
                        "/slow",
                        (request, response) ->
                                Promise.delay(request.loop(), Duration.ofSeconds(20))
                                        .then(_ -> response.text("done")));
        listen();
        List<SimulatedPeer> slow = connectToBoth();
        List<SimulatedPeer> idle = connectToBoth();
        slow.forEach(peer -> peer.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"));
        world.advance(Duration.ofMillis(10));
        CompletableFuture<DrainReport> drained =
                server.drain(Duration.ofSeconds(60)).toCompletableFuture();
        world.advance(Duration.ofSeconds(1));
        idle.forEach(
                peer -> {
                    peer.send("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
                    world.advance(Duration.ofMillis(10));
                    assertThat(new String(peer.received(), ISO_8859_1)).contains("503", "draining");
                });
        int open = server.connections();
        world.advance(Duration.ofSeconds(5));
        assertThat(idle).allMatch(SimulatedPeer::isClosed);
        assertThat(slow).noneMatch(SimulatedPeer::isClosed);
        assertThat(drained).isNotDone();
        world.advance(Duration.ofSeconds(20));
        slow.forEach(
                peer -> {
                    assertThat(new String(peer.received(), ISO_8859_1)).endsWith("done");
                    assertThat(peer.isClosed()).isTrue();
                });
        assertThat(outcome(drained)).isEqualTo(new DrainReport(open, 0));
        assertThat(server.drain(Duration.ZERO)).isSameAs(drained);
        assertThatThrownBy(() -> server.listen(81))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("shut down");
    }

    @Clause("G-1")
    @Test
    void shutdownOfTheGroup_acceptsDuringTheDrainDelay() {
        server = HttpServer.on(group, HttpConfig.DEFAULT.withDrainDelay(Duration.ofSeconds(5)));
        server.health("/health");
        listen();
        CompletableFuture<?> ended = group.shutdown(Duration.ofSeconds(60)).toCompletableFuture();
        world.advance(Duration.ofSeconds(1));
        SimulatedPeer checker = world.connect(80);
        checker.send("GET /health HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofSeconds(1));
        assertThat(new String(checker.received(), ISO_8859_1)).contains("503", "draining");
        assertThat(ended).isNotDone();
        world.advance(Duration.ofSeconds(5));
        assertThat(ended).isDone();
        assertThat(group.isTerminated()).isTrue();
    }

    @Clause("G-1")
    @Test
    void drain_resetsAtTheDeadline_andReportsIt() {
        server.get("/never", (request, _) -> Promise.delay(request.loop(), Duration.ofHours(1)));
        listen();
        List<SimulatedPeer> stuck = connectToBoth();
        SimulatedPeer idle = connect();
        stuck.forEach(peer -> peer.send("GET /never HTTP/1.1\r\nHost: a\r\n\r\n"));
        world.advance(Duration.ofMillis(10));
        int open = server.connections();
        CompletableFuture<DrainReport> drained =
                server.drain(Duration.ofSeconds(2)).toCompletableFuture();
        world.advance(Duration.ofSeconds(1));
        assertThat(idle.isClosed()).isTrue();
        assertThat(drained).isNotDone();
        world.advance(Duration.ofSeconds(2));
        assertThat(outcome(drained)).isEqualTo(new DrainReport(open - 2, 2));
        assertThat(stuck).allMatch(SimulatedPeer::isClosed);
        assertThatThrownBy(() -> server.drain(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Clause("G-1")
    @Test
    void loopThatFailsWhileDraining_doesNotHoldTheDrain() {
        server.get("/never", (request, _) -> Promise.delay(request.loop(), Duration.ofHours(1)))
                .get("/kill", (request, _) -> kill(request.loop(), Duration.ofSeconds(1)));
        listen();
        List<SimulatedPeer> peers = connectToBoth();
        peers.get(0).send("GET /kill HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofMillis(10));
        CompletableFuture<DrainReport> drained =
                server.drain(Duration.ofSeconds(60)).toCompletableFuture();
        world.advance(Duration.ofSeconds(5));
        assertThat(drained).isDone();
        assertThat(group.isTerminated()).isFalse();
    }

    @Clause("G-1")
    @Test
    void close_resetsTheConnectionsOfAllLoops() {
        listen();
        List<SimulatedPeer> peers = connectToBoth();
        server.close();
        world.run();
        assertThat(peers).allMatch(SimulatedPeer::isClosed);
        assertThat(server.connections()).isZero();
    }

    @Clause("G-1")
    @Test
    void methodOnALoopThread_throws() {
        List<Throwable> thrown = new ArrayList<>();
        server.get(
                "/define",
                (_, response) -> {
                    try {
                        server.get("/x", (_, other) -> other.text("x"));
                    } catch (IllegalStateException e) {
                        thrown.add(e);
                    }
                    return response.text("tried");
                });
        listen();
        assertThat(get(connect(), "/define")).endsWith("tried");
        assertThat(thrown).hasSize(1).first().asString().contains("loop thread");
    }

    @Clause("G-1")
    @Test
    void addressOfAServerThatDoesNotListen_throws() {
        assertThatThrownBy(server::address)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("call listen first");
    }

    @Clause("G-1")
    @Test
    void webSocketGroup_reachesTheSocketsOfAllLoops() {
        WebSocketGroup chat = new WebSocketGroup();
        Set<EventLoop> loops = new HashSet<>();
        server.webSocket(
                "/chat",
                socket -> {
                    loops.add(socket.loop());
                    chat.add(socket);
                    socket.onText(chat::broadcast);
                });
        listen();
        List<SimulatedPeer> peers = new ArrayList<>();
        while (loops.size() < 2) {
            SimulatedPeer peer = connect();
            peer.send(
                    """
                    GET /chat HTTP/1.1\r
                    Host: a\r
                    Connection: Upgrade\r
                    Upgrade: websocket\r
                    Sec-WebSocket-Version: 13\r
                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                    \r
                    """);
            world.run();
            peers.add(peer);
        }
        assertThat(chat.size()).isEqualTo(peers.size());
        // A masked frame with the key zero.
        peers.get(0).send(new byte[] {(byte) 0x81, (byte) 0x82, 0, 0, 0, 0, 'h', 'i'});
        world.run();
        for (SimulatedPeer peer : peers) {
            assertThat(new String(peer.received(), ISO_8859_1)).endsWith("\u0081\u0002hi");
        }
    }

    /// Connects clients to one loop, and waits until some of them have moved to the other.
    private List<SimulatedPeer> rebalanced() {
        listen(ListenerConfig.DEFAULT.withRebalanceInterval(Duration.ofSeconds(1)));
        List<SimulatedPeer> peers = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            used.clear();
            SimulatedPeer peer = connect();
            assertThat(get(peer, "/")).endsWith("hello");
            if (used.contains(group.loops().getFirst())) {
                peers.add(peer);
            } else {
                peer.close();
            }
        }
        world.advance(Duration.ofSeconds(5));
        EventLoop other = group.loops().get(1);
        assertThat(other.metrics().streamsMovedIn()).isBetween(1L, (long) peers.size());
        assertThat(other.metrics().streams()).isGreaterThan(peers.size() / 2 - 5);
        return peers;
    }

    @Test
    @Clause("G-4")
    void rebalancing_ofIdleConnections_servesThemOnTheOtherLoop() {
        List<SimulatedPeer> peers = rebalanced();
        used.clear();
        for (SimulatedPeer peer : peers) {
            assertThat(get(peer, "/")).endsWith("hello");
        }
        assertThat(used).hasSize(2);
        assertThat(server.connections()).isEqualTo(peers.size());
        peers.forEach(SimulatedPeer::close);
        world.run();
        assertThat(server.connections()).isZero();
    }

    @Test
    @Clause("G-4")
    void drain_withMovedConnections_closesThem() {
        List<SimulatedPeer> peers = rebalanced();
        var drained = server.drain(Duration.ofSeconds(1)).toCompletableFuture();
        world.advance(Duration.ofSeconds(2));
        assertThat(drained).isDone();
        assertThat(peers).allMatch(SimulatedPeer::isEnded);
    }

    @Clause("G-1")
    @Test
    void definitionThatThrowsOnOneLoop_isNotKept() {
        int[] calls = {0};
        assertThatThrownBy(
                        () ->
                                server.route(
                                        "/b",
                                        _ -> {
                                            if (++calls[0] == 2) {
                                                throw new IllegalStateException("second loop");
                                            }
                                        }))
                .hasMessage("second loop");
        server.get("/later", (_, response) -> response.text("later"));
        listen();
        killOneLoop();
        for (SimulatedPeer peer : connectToBoth()) {
            assertThat(get(peer, "/later")).endsWith("later");
        }
        assertThat(calls[0]).isEqualTo(2);
    }

    @Clause("G-1")
    @Test
    void methodInsideADefinition_throws() {
        assertThatThrownBy(
                        () ->
                                server.route(
                                        "/api",
                                        _ -> server.get("/x", (_, response) -> response.text(""))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("methods of the RouteGroup");
        listen();
        assertThat(get(connect(), "/")).endsWith("hello");
    }

    @Clause("G-1")
    @Test
    void loopThatFailsDuringTheDrainDelay_keepsTheDelayAndTheDeadlineOfTheOthers() {
        server = HttpServer.on(group, HttpConfig.DEFAULT.withDrainDelay(Duration.ofSeconds(5)));
        server.get(
                        "/slow",
                        (request, response) ->
                                Promise.delay(request.loop(), Duration.ofSeconds(20))
                                        .then(_ -> response.text("done")))
                .get("/kill", (request, _) -> kill(request.loop(), Duration.ofSeconds(1)));
        listen();
        List<SimulatedPeer> peers = connectToBoth();
        peers.get(0).send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
        peers.get(1).send("GET /kill HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofMillis(10));
        CompletableFuture<DrainReport> drained =
                server.drain(Duration.ofSeconds(60)).toCompletableFuture();
        world.advance(Duration.ofSeconds(2));
        assertThat(peers.get(1).isClosed()).as("its loop has failed").isTrue();
        SimulatedPeer late = world.connect(80).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofSeconds(1));
        assertThat(new String(late.received(), ISO_8859_1)).endsWith("hello");
        world.advance(Duration.ofSeconds(20));
        assertThat(new String(peers.get(0).received(), ISO_8859_1)).endsWith("done");
        assertThat(outcome(drained).reset()).isZero();
    }
}
