package dev.gyre.http.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopOverloadedException;
import dev.gyre.PerLoop;
import dev.gyre.Promise;
import dev.gyre.http.HttpClient;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.io.Buffer;
import dev.gyre.io.GroupListener;
import dev.gyre.io.Listener;
import dev.gyre.io.Stream;
import dev.gyre.io.StreamConfig;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/// Ten incidents, and what `docs/guide/debugging.md` tells an operator to look at. Each test names
/// the section that it confirms.
final class IncidentsTest extends IncidentFixture {
    private static void block(CountDownLatch released) {
        try {
            released.await();
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    /// Section "A callback blocks".
    @Test
    @Clause("V-3")
    void stalledHandler_isReportedWithItsRouteAndStackWhileItRuns() {
        CountDownLatch released = new CountDownLatch(1);
        SocketAddress server =
                listen(
                        server(HttpConfig.DEFAULT)
                                .get(
                                        "/report/{id}",
                                        (_, response) -> {
                                            block(released);
                                            return response.text("done");
                                        }));
        Socket client = connectTo("incident-0", server);
        Socket other = connectTo("incident-1", server);
        try {
            send(client, request("GET", "/report/7"));
            await("a stall", () -> read("/stalls").contains("\"ended\":false"));

            assertThat(read("/stalls"))
                    .contains("\"loop\":\"incident-0\"", "GET /report/{id}", "IncidentsTest.block");
            String loop = loop("incident-0");
            assertThat(loop).contains("\"running\":{\"kind\":\"io\"", "GET /report/{id}");
            assertThat(read("/connections")).contains("\"notResponding\":[\"incident-0\"]");
            send(other, request("GET", "/"));
            assertThat(receive(other)).as("other loops go on").isEqualTo("incident-1");
            assertThat(log.messages())
                    .anyMatch(
                            line ->
                                    line.matches(
                                            "(?s)loop incident-0 blocked for .*\\(limit 250 ms\\)"
                                                    + " in .*IncidentsTest\\.block.*IO.*GET"
                                                    + " /report.*"));
        } finally {
            released.countDown();
        }
        assertThat(receive(client)).isEqualTo("done");
        await("its end", () -> read("/stalls").contains("\"ended\":true"));
        await(
                "a line about its end",
                () ->
                        log.messages().stream()
                                .anyMatch(line -> line.startsWith("loop incident-0 ran again")));
        String slow = "gyre_loop_callback_duration_seconds";
        String[] labels = {"loop=\"incident-0\"", "kind=\"io\""};
        String[] short_ = {labels[0], labels[1], "le=\"0.1\""};
        String text = read("/metrics");
        assertThat(metricIn(text, slow + "_count", labels))
                .isGreaterThan(metricIn(text, slow + "_bucket", short_));
    }

    /// Section "Slow clients".
    @Test
    @Clause("V-2")
    void slowLoris_isListedAsReadingHeads_andClosedForTheHeaderTimeout() throws Exception {
        SocketAddress server =
                listen(server(HttpConfig.DEFAULT.withHeaderTimeout(Duration.ofSeconds(1))));
        List<Thread> attackers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            attackers.add(
                    Thread.startVirtualThread(
                            () -> {
                                while (!Thread.currentThread().isInterrupted()) {
                                    attack(server);
                                }
                            }));
        }
        try {
            await(
                    "connections that read a head",
                    () -> connections("?activity=reading").size() >= 3);
            assertThat(connections("?activity=reading").toString())
                    .doesNotContain("\"activity\":\"idle\"");
            await(
                    "closed for the timeout",
                    () -> metric("gyre_connections_closed_total", "reason=\"header_timeout\"") > 5);
        } finally {
            attackers.forEach(Thread::interrupt);
        }
    }

    /// Sends a part of a head, and waits for the end of the connection.
    private void attack(SocketAddress server) {
        try (Socket client = connect(server)) {
            send(client, "GET / HTTP/1.1\r\nHost:");
            while (client.getInputStream().read() >= 0) {
                Thread.onSpinWait();
            }
        } catch (IOException | RuntimeException _) {
            Thread.onSpinWait(); // A reset is an end, too.
        }
    }

    /// Section "Descriptors exhausted".
    @Test
    @Clause("V-2")
    void descriptorExhaustion_countsShedConnections_andIsLoggedWithItsEnd() throws Exception {
        try (SimulatedWorld world = SimulatedWorld.seed(3);
                AdminServer admin = AdminServer.of(world.loop()).listen(ANY_PORT)) {
            HttpServer server = HttpServer.on(world.loop()).listen(80);
            world.descriptorLimit(world.openDescriptors() + 20);
            for (int i = 0; i < 30; i++) {
                world.connect(80);
            }
            world.advance(Duration.ofSeconds(3));

            String text = read(admin, "/metrics");
            assertThat(metricIn(text, "gyre_connections_shed_total")).isPositive();
            assertThat(metricIn(text, "gyre_exhaustions_total")).isEqualTo(1);
            assertThat(number(read(admin, "/loops"), "exhaustions")).isEqualTo(1);
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .contains("has stopped accepting: EMFILE", "ulimit -n");

            world.descriptorLimit(1_000);
            world.advance(Duration.ofSeconds(10));
            world.connect(80);
            world.advance(Duration.ofSeconds(1));
            assertThat(log.messages()).hasSize(2);
            assertThat(log.messages().getLast()).startsWith("Descriptors are available again");
            server.close();
        }
    }

    /// Section "A hot client".
    @Test
    @Clause("V-7")
    void hotClient_isTheFirstOfTheConnectionsSortedByBytes() {
        SocketAddress server =
                listen(
                        server(HttpConfig.DEFAULT)
                                .get("/page", (_, response) -> response.send(new byte[4_096])));
        for (int i = 0; i < 5; i++) {
            Socket quiet = connect(server);
            send(quiet, request("GET", "/page"));
            assertThat(receive(quiet)).hasSize(4_096);
        }
        Socket hot = connect(server);
        for (int i = 0; i < 50; i++) {
            send(hot, request("GET", "/page"));
            assertThat(receive(hot)).hasSize(4_096);
        }

        String peer = "\"peer\":\"127.0.0.1:" + hot.getLocalPort() + '"';
        for (String order : List.of("received", "sent")) {
            List<String> first = connections("?limit=1&sort=" + order);
            assertThat(first).as("sorted by %s", order).hasSize(1);
            assertThat(first.getFirst()).contains(peer);
            List<String> all = connections("?sort=" + order);
            assertThat(number(all.getFirst(), order))
                    .as("much more than the second")
                    .isGreaterThan(10 * number(all.get(1), order));
        }
    }

    /// Section "Leaked buffers".
    @Test
    @Clause("V-1")
    void leakedBuffers_stayInTheBufferBytesWhenTheClientsHaveLeft() throws Exception {
        List<Buffer> leaked = new CopyOnWriteArrayList<>();
        SocketAddress server =
                listen(
                        server(HttpConfig.DEFAULT)
                                .get(
                                        "/leak",
                                        (request, response) -> {
                                            leaked.add(Buffer.acquire(request.loop(), 64 << 10));
                                            return response.text("done");
                                        }));
        double before = bufferBytesAfter("/", server);
        double after = bufferBytesAfter("/leak", server);

        assertThat(leaked).hasSize(10);
        assertThat(after - before).isGreaterThanOrEqualTo(10 * (64 << 10));
        leaked.forEach(Buffer::release);
        await("the memory returns", () -> metric("gyre_loop_buffer_bytes") <= before);
    }

    /// Returns the memory in use after ten clients have come and gone.
    private double bufferBytesAfter(String path, SocketAddress server) throws IOException {
        for (int i = 0; i < 10; i++) {
            try (Socket client = connect(server)) {
                send(client, request("GET", path));
                assertThat(receive(client)).isNotEmpty();
            }
        }
        await("no connections", () -> metric("gyre_connections") == 0);
        return metric("gyre_loop_buffer_bytes");
    }

    /// Section "Memory limit".
    @Test
    @Clause("V-2")
    void memoryLimit_isTheReasonOfCloses_andPendingOutputNamesTheSlowReaders() {
        List<Stream> streams = new CopyOnWriteArrayList<>();
        StreamConfig config = SMALL_SOCKETS.streams().withOutputLimit(1L << 30);
        GroupListener listener =
                Listener.on(group, ANY_PORT, SMALL_SOCKETS.withStreams(config), streams::add);
        group.start();
        for (int i = 0; i < 4; i++) {
            connect(listener.address());
        }
        await("accepted", () -> streams.size() == 4);
        byte[] chunk = new byte[256 << 10];
        broadcast(streams, chunk);
        await(
                "pending output",
                () -> number(connections("?sort=pending").getFirst(), "pending") > 100_000);
        assertThat(connections("?sort=pending").getFirst())
                .contains("\"output\":\"BACKPRESSURED\"");
        assertThat(metric("gyre_loop_buffer_limit_bytes")).isEqualTo(2.0 * BUFFER_MEMORY);

        await(
                "closed for the limit",
                () -> {
                    broadcast(streams, chunk);
                    return metric("gyre_connections_closed_total", "reason=\"memory_limit\"") > 0;
                });
        assertThat(read("/loops")).contains("\"MEMORY_LIMIT\":");
    }

    /// Ignores that `write` returns false, which is the bug.
    private static void broadcast(List<Stream> streams, byte[] chunk) {
        for (Stream each : streams) {
            each.loop().submit(() -> each.write(chunk));
        }
    }

    /// Section "A dead upstream".
    @Test
    @Clause("V-5")
    void deadUpstream_showsAsActiveRequestsOfItsRouteOnAnIdleLoop() throws Exception {
        try (ServerSocket upstream = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            URI uri = URI.create("http://127.0.0.1:" + upstream.getLocalPort() + "/");
            PerLoop<HttpClient> clients = group.perLoop(HttpClient::on);
            SocketAddress server =
                    listen(
                            server(HttpConfig.DEFAULT)
                                    .get(
                                            "/prices/{id}",
                                            (request, response) ->
                                                    clients.get(request.loop())
                                                            .get(uri)
                                                            .then(_ -> response.text("done"))));
            for (int i = 0; i < 3; i++) {
                send(connect(server), request("GET", "/prices/" + i));
            }
            String active = "http_server_active_requests";
            await(
                    "active requests",
                    () ->
                            read("/metrics").contains(active + '{')
                                    && metric(active, "http_request_method=\"GET\"") == 3);
            await("connections that wait", () -> connections("?activity=handling").size() == 3);

            assertThat(connections("?activity=handling"))
                    .allMatch(each -> each.contains("GET /prices/{id}"));
            await("idle loops", () -> metric("gyre_loop_utilization") < 0.5);
        }
    }

    /// Section "Too many tasks".
    @Test
    @Clause("V-1")
    void tooManyTasks_fillTheQueueAndAreRejected() {
        CountDownLatch released = new CountDownLatch(1);
        group.start();
        EventLoop loop = group.loops().getFirst();
        loop.submit(() -> block(released));
        try {
            assertThatThrownBy(
                            () -> {
                                for (int i = 0; i <= 2 * MAX_QUEUED_TASKS; i++) {
                                    loop.submit(() -> {});
                                }
                            })
                    .isInstanceOf(LoopOverloadedException.class);

            String figures = loop("incident-0");
            assertThat(number(figures, "queuedTasks")).isBetween(999.0, 1_001.0);
            assertThat(number(figures, "tasksRejected")).isPositive();
            assertThat(metric("gyre_loop_tasks_rejected_total", "incident-0")).isPositive();
            assertThat(metric("gyre_loop_tasks_rejected_total", "incident-1")).isZero();
        } finally {
            released.countDown();
        }
        await("an empty queue", () -> metric("gyre_loop_queued_tasks") == 0);
        assertThat(metric("gyre_loop_task_delay_seconds_count", "incident-0")).isPositive();
    }

    /// Section "A timer storm".
    @Test
    @Clause("V-1")
    void timerStorm_countsCallbacksOfTimersWithoutRequests() {
        listen(server(HttpConfig.DEFAULT));
        EventLoop loop = group.loops().getFirst();
        loop.submit(
                () -> {
                    for (int i = 0; i < 500; i++) {
                        loop.every(Duration.ofMillis(1), _ -> {});
                    }
                });

        String callbacks = "gyre_loop_callback_duration_seconds_count";
        await("timers", () -> metric(callbacks, "incident-0", "kind=\"timer\"") > 10_000);
        String text = read("/metrics");
        assertThat(metricIn(text, callbacks, "incident-0", "kind=\"io\"")).isLessThan(100);
        assertThat(metricIn(text, "gyre_http_requests_total")).isZero();
        assertThat(metricIn(text, "gyre_loop_timer_lateness_seconds_count", "incident-0"))
                .isPositive();
    }

    /// Section "Unhandled rejections".
    @Test
    @Clause("V-1")
    void unhandledRejections_areCountedAndLoggedWithTheirReason() {
        SocketAddress server =
                listen(
                        server(HttpConfig.DEFAULT)
                                .get(
                                        "/order",
                                        (request, response) -> {
                                            Promise<?> _ =
                                                    Promise.rejected(
                                                            request.loop(),
                                                            new IOException("no stock"));
                                            return response.text("ordered");
                                        }));
        Socket client = connect(server);
        send(client, request("GET", "/order"));
        assertThat(receive(client)).isEqualTo("ordered");

        await("a count", () -> metric("gyre_loop_unhandled_rejections_total") == 1);
        await("a line", () -> log.messages().stream().anyMatch(line -> line.contains("rejection")));
    }
}
