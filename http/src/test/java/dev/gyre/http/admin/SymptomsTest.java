package dev.gyre.http.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.http.HttpConfig;
import dev.gyre.metrics.ConnectionInfo;

import org.junit.jupiter.api.Test;

import java.net.Socket;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;

/// The rows of the table in `docs/guide/debugging.md` that have no section of their own. Those with
/// one are in [IncidentsTest].
final class SymptomsTest extends IncidentFixture {
    private static String peerOf(Socket client) {
        return "127.0.0.1:" + client.getLocalPort();
    }

    /// Row "connections stay in WRITING".
    @Test
    @Clause("V-7")
    void clientThatDoesNotRead_isListedWithItsPendingOutput_andTimesOut() {
        SocketAddress server =
                listen(
                        server(HttpConfig.DEFAULT.withWriteTimeout(Duration.ofSeconds(2)))
                                .get("/large", (_, response) -> response.send(new byte[4 << 20])));
        Socket client = connect(server);
        send(client, request("GET", "/large"));

        await(
                "a connection that writes",
                () -> !connections("?state=writing&peer=" + peerOf(client)).isEmpty());
        await(
                "closed for the timeout",
                () -> metric("gyre_connections_closed_total", "reason=\"write_timeout\"") == 1);
    }

    /// Row "connections stay in WRITING": how to confirm it.
    @Test
    @Clause("V-7")
    void pendingOutput_isTheFirstOfTheConnectionsSortedByIt() {
        SocketAddress server =
                listen(
                        server(HttpConfig.DEFAULT)
                                .get("/large", (_, response) -> response.send(new byte[4 << 20])));
        Socket reads = connect(server);
        send(reads, request("GET", "/"));
        assertThat(receive(reads)).isNotEmpty();
        Socket client = connect(server);
        send(client, request("GET", "/large"));
        await(
                "pending output",
                () -> number(connections("?sort=pending").getFirst(), "pending") > 0);

        String first = connections("?sort=pending&limit=1").getFirst();
        assertThat(first)
                .contains('"' + peerOf(client) + '"', "GET /large, responding")
                .contains("\"output\":\"BACKPRESSURED\"")
                .doesNotContain("\"nextTimeoutSeconds\":null");
    }

    /// Row "random resets".
    @Test
    @Clause("V-2")
    void closedConnections_areCountedByReason() throws Exception {
        SocketAddress server =
                listen(server(HttpConfig.DEFAULT.withIdleTimeout(Duration.ofMillis(100))));
        try (Socket client = connect(server)) {
            send(client, request("GET", "/"));
            assertThat(receive(client)).isNotEmpty();
            assertThat(client.getInputStream().read()).as("the end").isNegative();
        }
        await(
                "closed for the timeout",
                () -> metric("gyre_connections_closed_total", "reason=\"idle_timeout\"") == 1);
        assertThat(read("/loops")).contains("\"closed\":{\"IDLE_TIMEOUT\":1}");
    }

    /// Row "400 responses".
    @Test
    @Clause("V-5")
    void malformedRequests_areCountedByStatusWithoutARoute() {
        SocketAddress server = listen(server(HttpConfig.DEFAULT));
        Socket client = connect(server);
        send(client, "GET / HTTP/1.1\r\nHost : a\r\n\r\n");
        assertThat(receive(client)).isNotEmpty();

        List<String> counts =
                read("/metrics")
                        .lines()
                        .filter(line -> line.startsWith("gyre_http_requests_rejected_total"))
                        .toList();
        assertThat(counts).hasSize(1);
        assertThat(counts.getFirst())
                .contains("http_response_status_code=\"400\"")
                .doesNotContain("http_route")
                .endsWith(" 1");
    }

    /// Row "CPU is used, little throughput".
    /// Asks the loops, because the admin address lists connections once per second.
    private long received() {
        return group.loops().stream()
                .flatMap(loop -> loop.connections().toCompletableFuture().join().stream())
                .mapToLong(ConnectionInfo::received)
                .sum();
    }

    @Test
    @Clause("V-1")
    void smallPackets_areManyIoCallbacksPerRequest() {
        SocketAddress server = listen(server(HttpConfig.DEFAULT));
        Socket client = connect(server);
        String request = request("GET", "/");
        for (int i = 0; i < request.length(); i++) {
            send(client, request.substring(i, i + 1));
            int sent = i + 1;
            if (sent < request.length()) {
                await("a byte received", () -> received() == sent);
            }
        }
        assertThat(receive(client)).isNotEmpty();

        String text = read("/metrics");
        double callbacks =
                metricIn(text, "gyre_loop_callback_duration_seconds_count", "kind=\"io\"");
        assertThat(callbacks / metricIn(text, "gyre_http_requests_total"))
                .isGreaterThanOrEqualTo(request.length());
    }

    /// Row "timers fire late".
    @Test
    @Clause("V-1")
    void timersBehindASlowCallback_areLate() {
        group.start();
        var loop = group.loops().getFirst();
        Duration slow = Duration.ofMillis(30);
        loop.submit(
                () -> {
                    loop.after(Duration.ofMillis(1), _ -> {});
                    long begin = System.nanoTime();
                    while (System.nanoTime() - begin < slow.toNanos()) {
                        Thread.onSpinWait();
                    }
                });

        String lateness = "gyre_loop_timer_lateness_seconds";
        await("a timer", () -> metric(lateness + "_count", "incident-0") == 1);
        String text = read("/metrics");
        assertThat(metricIn(text, lateness + "_bucket", "incident-0", "le=\"0.025\"")).isZero();
        assertThat(metricIn(text, lateness + "_sum", "incident-0")).isGreaterThan(0.025);
    }
}
