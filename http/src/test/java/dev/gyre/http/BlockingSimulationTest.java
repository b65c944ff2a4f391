package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.testkit.Faults;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;
import dev.gyre.testkit.SimulationError;
import dev.gyre.testkit.Trace;

import org.junit.jupiter.api.Test;

import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;

/// Blocking handlers in a simulated world: they wait for bodies, promises and slow clients, and the
/// same seed gives the same run.
class BlockingSimulationTest {
    private static final int SEEDS = 100;
    private static final int PORT = 80;
    private static final Duration LONG = Duration.ofSeconds(30);

    private static String post(String target, String body) {
        return head(target, body.length()) + body;
    }

    private static String head(String target, int length) {
        return "POST " + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + "\r\n\r\n";
    }

    private static String get(String target) {
        return "GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
    }

    // ------------------------------------------------------------------ a service with a database

    /// Stands for a database behind JDBC: its calls block, and it is not confined to a thread.
    private static final class Orders {
        private final Map<Integer, String> rows = new TreeMap<>();

        synchronized int insert(String order) {
            rows.put(rows.size() + 1, order);
            return rows.size();
        }

        synchronized String all() {
            return rows.values().toString();
        }
    }

    private static void serve(SimulatedWorld world, Orders orders) {
        HttpServer.on(world.loop(), HttpConfig.DEFAULT.withClock(() -> Instant.EPOCH))
                .blocking(
                        "POST",
                        "/orders",
                        (request, response) -> {
                            String order = request.body().text().await();
                            int id = orders.insert(order);
                            response.status(201)
                                    .header("Location", "/orders/" + id)
                                    .text("order " + id + ": " + order);
                        })
                .blocking(
                        "PUT",
                        "/orders",
                        (request, response) -> {
                            try (InputStream lines = request.body().stream()) {
                                new String(lines.readAllBytes(), UTF_8)
                                        .lines()
                                        .forEach(orders::insert);
                            }
                            ResponseStream out = response.stream();
                            out.write(orders.all());
                            out.end();
                        })
                .listen(PORT);
    }

    /// What three clients do and see, each with a part of its request held back.
    private static Trace run(long seed, List<String> seen) {
        try (SimulatedWorld world = SimulatedWorld.seed(seed)) {
            serve(world, new Orders());
            world.faults(Faults.all());
            List<SimulatedPeer> peers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                peers.add(world.connect(PORT).send(head("/orders", 6) + "or"));
            }
            world.advance(Duration.ofMillis(5));
            peers.forEach(peer -> peer.send("der" + peers.indexOf(peer)));
            SimulatedPeer uploads = world.connect(PORT);
            String lines = "line\n".repeat(20_000);
            uploads.send(post("/orders", lines).replace("POST", "PUT"));
            peers.add(uploads);
            world.advance(LONG);
            peers.forEach(peer -> seen.add(peer.receivedText()));
            return world.trace();
        }
    }

    @Test
    @Clause({"H-8", "B-6"})
    void handlersWithADatabase_underFaults_areServedTheSameWayForTheSameSeed() {
        int whole = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            List<String> first = new ArrayList<>();
            List<String> second = new ArrayList<>();
            Trace trace = run(seed, first);
            assertThat(run(seed, second)).as("seed %d", seed).isEqualTo(trace);
            assertThat(second).as("seed %d", seed).isEqualTo(first);
            for (String each : first) {
                // Faults may reset a connection, but never mix responses up.
                if (each.contains("\r\n\r\norder ")) {
                    assertThat(each).startsWith("HTTP/1.1 201 ").containsPattern(": order[012]$");
                    whole++;
                }
            }
        }
        assertThat(whole).as("orders served").isGreaterThan(SEEDS);
    }

    // ------------------------------------------------------------------ what handlers wait for

    @Test
    @Clause("H-8")
    void handler_thatWaitsForItsBody_getsItWhenItHasArrived() {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            List<String> steps = new CopyOnWriteArrayList<>();
            HttpServer.on(world.loop())
                    .blocking(
                            "POST",
                            "/",
                            (request, response) -> {
                                steps.add("begun at " + world.elapsed().toSeconds());
                                byte[] body = request.body().bytes().await();
                                steps.add("read at " + world.elapsed().toSeconds());
                                response.send(body);
                            })
                    .listen(PORT);
            SimulatedPeer peer = world.connect(PORT).send(head("/", 4) + "ab");
            world.advance(Duration.ofSeconds(3));
            assertThat(steps).containsExactly("begun at 0");
            peer.send("cd");
            world.run();
            assertThat(steps).containsExactly("begun at 0", "read at 3");
            assertThat(peer.receivedText()).endsWith("abcd");
        }
    }

    @Test
    @Clause("H-8")
    void handler_thatWritesMoreThanTheClientReads_waitsForIt() {
        try (SimulatedWorld world = SimulatedWorld.seed(2)) {
            List<Integer> written = new CopyOnWriteArrayList<>();
            HttpServer.on(world.loop())
                    .blocking(
                            "GET",
                            "/",
                            (_, response) -> {
                                ResponseStream out = response.stream();
                                for (int i = 0; i < 64; i++) {
                                    assertThat(out.write(new byte[64 << 10])).isTrue();
                                    written.add(i);
                                }
                                out.end();
                            })
                    .listen(PORT);
            SimulatedPeer peer = world.connect(PORT).pauseReading().send(get("/"));
            world.run();
            assertThat(written).isNotEmpty().hasSizeLessThan(32);
            peer.resumeReading();
            world.run();
            assertThat(written).hasSize(64);
            assertThat(peer.received()).hasSizeGreaterThan(64 * (64 << 10));
            assertThat(peer.receivedText()).endsWith("\r\n0\r\n\r\n");
        }
    }

    @Test
    @Clause({"H-8", "P-4"})
    void handler_thatWaitsForPromises_waitsInSimulatedTime() {
        try (SimulatedWorld world = SimulatedWorld.seed(3)) {
            List<String> steps = new CopyOnWriteArrayList<>();
            HttpServer.on(world.loop())
                    .blocking(
                            "GET",
                            "/",
                            (request, response) -> {
                                var loop = request.loop();
                                loop.call(() -> Promise.delay(loop, Duration.ofHours(1))).get();
                                steps.add("waited for " + world.elapsed().toHours() + " h");
                                List<Promise<?>> never = new ArrayList<>();
                                loop.call(
                                                () -> {
                                                    never.add(loop.deferred().promise());
                                                    return Promise.resolved(loop, "made");
                                                })
                                        .join();
                                assertThatThrownBy(
                                                () -> never.getFirst().await(Duration.ofHours(2)))
                                        .isInstanceOf(TimeoutException.class);
                                steps.add("timed out at " + world.elapsed().toHours() + " h");
                                response.text("done");
                            })
                    .listen(PORT);
            SimulatedPeer peer = world.connect(PORT).send(get("/"));
            world.advance(Duration.ofMinutes(179));
            assertThat(steps).containsExactly("waited for 1 h");
            world.advance(Duration.ofMinutes(2));
            assertThat(steps).containsExactly("waited for 1 h", "timed out at 3 h");
            assertThat(peer.receivedText()).endsWith("done");
        }
    }

    // ------------------------------------------------------------------ ends

    @Test
    @Clause("H-8")
    void handler_thatBlocksForEver_isReportedWithItsStackAndARemedy() {
        System.setProperty("gyre.workerMillis", "200");
        CountDownLatch never = new CountDownLatch(1);
        try (SimulatedWorld world = SimulatedWorld.seed(4)) {
            HttpServer.on(world.loop()).blocking("GET", "/", (_, _) -> never.await()).listen(PORT);
            world.connect(PORT).send(get("/"));
            assertThatThrownBy(world::run)
                    .isInstanceOf(SimulationError.class)
                    .hasMessageContaining("has not returned for 200 ms")
                    .hasMessageContaining("CountDownLatch.await")
                    .hasMessageContaining("Promise.await")
                    .hasMessageContaining("gyre.workerMillis")
                    .hasMessageContaining("seed 4");
        } finally {
            System.clearProperty("gyre.workerMillis");
            never.countDown();
        }
    }

    @Test
    @Clause("H-8")
    void handlersThatWait_whenTheWorldIsClosed_end() {
        List<String> ends = new CopyOnWriteArrayList<>();
        try (SimulatedWorld world = SimulatedWorld.seed(5)) {
            HttpServer.on(world.loop())
                    .blocking(
                            "POST",
                            "/await",
                            (request, _) -> {
                                try {
                                    request.body().bytes().await();
                                } finally {
                                    ends.add("await");
                                }
                            })
                    .blocking(
                            "POST",
                            "/stream",
                            (request, _) -> {
                                try {
                                    request.body().stream().readAllBytes();
                                } finally {
                                    ends.add("stream");
                                }
                            })
                    .listen(PORT);
            world.connect(PORT).send(head("/await", 10));
            world.connect(PORT).send(head("/stream", 10));
            world.run();
            assertThat(ends).isEmpty();
        }
        assertThat(ends).containsExactlyInAnyOrder("await", "stream");
    }

    @Test
    @Clause("H-8")
    void handler_whoseClientLeaves_endsItsRead() {
        try (SimulatedWorld world = SimulatedWorld.seed(6)) {
            List<String> ends = new CopyOnWriteArrayList<>();
            HttpServer.on(world.loop())
                    .blocking(
                            "POST",
                            "/",
                            (request, response) -> {
                                try {
                                    request.body().stream().readAllBytes();
                                } catch (java.io.IOException e) {
                                    ends.add(e.getMessage() + " " + request.path());
                                    response.text("nobody reads this");
                                }
                            })
                    .listen(PORT);
            SimulatedPeer peer = world.connect(PORT).send(head("/", 10) + "abc");
            world.run();
            peer.reset();
            world.run();
            assertThat(ends).hasSize(1);
            assertThat(ends.getFirst()).contains("incomplete", "RESET").endsWith(" /");
        }
    }

    @Test
    @Clause("H-8")
    void manyHandlersAtATime_takeTurns() {
        try (SimulatedWorld world = SimulatedWorld.seed(7)) {
            List<Integer> running = new ArrayList<>(); // Not for threads that run at a time.
            HttpServer.on(world.loop())
                    .blocking(
                            "POST",
                            "/",
                            (request, response) -> {
                                running.add(running.size());
                                String body = request.body().text().await();
                                running.add(running.size());
                                response.text(body);
                            })
                    .listen(PORT);
            SimulatedPeer[] peers = new SimulatedPeer[50];
            Arrays.setAll(peers, _ -> world.connect(PORT).send(head("/", 2) + "a"));
            world.run();
            for (SimulatedPeer peer : peers) {
                peer.send("b");
            }
            world.run();
            assertThat(running).hasSize(100);
            assertThat(peers).allMatch(peer -> peer.receivedText().endsWith("ab"));
        }
    }
}
