package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.LoopGroup;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

class PrometheusTextTest {
    private static final Duration STEP = Duration.ofSeconds(1);

    /// Returns the text after requests with a route, without one, and with a failure.
    private static String textOf(SimulatedWorld world) {
        HttpMetrics metrics = HttpMetrics.create();
        HttpServer.on(world.loop())
                .use(metrics)
                .get("/a\"b\\c/{id}", (_, response) -> response.text("hello"))
                .get(
                        "/broken",
                        (_, _) -> {
                            throw new HttpException(502, "no upstream");
                        })
                .listen(80);
        for (String path : new String[] {"/a%22b%5Cc/7", "/a%22b%5Cc/8", "/missing", "/broken"}) {
            world.connect(80).send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
        }
        world.advance(STEP);
        return PrometheusText.of(world.loop(), metrics).text();
    }

    @Test
    @Clause("V-5")
    void text_ofRequests_hasTheNamesOfOpenTelemetry() {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            assertThat(textOf(world).lines())
                    .contains(
                            "# TYPE http_server_request_duration_seconds histogram",
                            "http_server_request_duration_seconds_bucket{http_request_method=\"GET\","
                                + "http_response_status_code=\"404\",url_scheme=\"http\",le=\"+Inf\"}"
                                + " 1",
                            "http_server_request_duration_seconds_count{http_request_method=\"GET\","
                                + "http_route=\"/broken\",http_response_status_code=\"502\",url_scheme=\"http\",error_type=\"502\"}"
                                + " 1",
                            "http_server_active_requests{http_request_method=\"GET\","
                                    + "url_scheme=\"http\"} 0");
        }
    }

    @Test
    @Clause("V-5")
    void labelValues_withQuotesAndBackslashes_areEscaped() {
        try (SimulatedWorld world = SimulatedWorld.seed(2)) {
            assertThat(textOf(world))
                    .contains(
                            "http_server_response_body_size_bytes_sum{http_request_method=\"GET\","
                                    + "http_route=\"/a\\\"b\\\\c/{id}\",");
        }
    }

    @Test
    @Clause("V-5")
    void buckets_ofAHistogram_areCumulativeAndEndWithTheCount() {
        try (SimulatedWorld world = SimulatedWorld.seed(3)) {
            world.loop().after(Duration.ofMillis(1), _ -> {});
            world.advance(STEP);
            String text = PrometheusText.of(world.loop(), null).text();
            String prefix =
                    "gyre_loop_callback_duration_seconds_bucket{loop=\"%s\",kind=\"timer\","
                            .formatted(world.loop().config().name());
            long[] counts =
                    text.lines()
                            .filter(line -> line.startsWith(prefix))
                            .mapToLong(line -> Long.parseLong(line.split("} ", -1)[1]))
                            .toArray();
            assertThat(counts).hasSize(20).isSorted();
            assertThat(counts[counts.length - 1]).isEqualTo(1);
            assertThat(text).contains("le=\"0.00001\"}").doesNotContain("http_server");
        }
    }

    private static void requireTool(String name) {
        boolean found = Files.isExecutable(Path.of("/usr/bin", name));
        assumeTrue(
                found || System.getenv("CI") != null,
                "no " + name + " (apt-get install prometheus)");
    }

    @Test
    @Clause("V-5")
    void text_checkedByPromtool_hasNoFindings() throws Exception {
        requireTool("promtool");
        Process promtool =
                new ProcessBuilder("promtool", "check", "metrics")
                        .redirectErrorStream(true)
                        .start();
        try (SimulatedWorld world = SimulatedWorld.seed(4)) {
            promtool.getOutputStream().write(textOf(world).getBytes(UTF_8));
        }
        promtool.getOutputStream().close();
        String findings = new String(promtool.getInputStream().readAllBytes(), UTF_8);
        assertThat(findings).isEmpty();
        assertThat(promtool.waitFor()).isZero();
    }

    /// A Prometheus server that scrapes one target, with a port and a directory of its own.
    private record Scraper(Process process, URI uri) implements AutoCloseable {
        static Scraper start(Path directory, InetSocketAddress target) throws IOException {
            Path config = directory.resolve("prometheus.yml");
            Files.writeString(
                    config,
                    """
                    global: {scrape_interval: 1s, scrape_timeout: 1s}
                    scrape_configs: [{job_name: gyre, static_configs: [{targets: ["127.0.0.1:%d"]}]}]
                    """
                            .formatted(target.getPort()));
            Process process =
                    new ProcessBuilder(
                                    "prometheus",
                                    "--config.file=" + config,
                                    "--storage.tsdb.path=" + directory.resolve("data"),
                                    "--web.listen-address=127.0.0.1:0",
                                    "--log.level=info")
                            .redirectErrorStream(true)
                            .start();
            return new Scraper(process, address(process));
        }

        /// Reads the port that the system chose from the log.
        private static URI address(Process process) throws IOException {
            BufferedReader log = process.inputReader(UTF_8);
            StringBuilder all = new StringBuilder();
            for (String line = log.readLine(); line != null; line = log.readLine()) {
                all.append(line).append('\n');
                int at = line.indexOf("address=127.0.0.1:");
                if (at >= 0 && line.contains("Listening on")) {
                    Thread.ofVirtual().start(() -> log.lines().forEach(_ -> {}));
                    String port = line.substring(at + 18).replaceAll("\\D.*", "");
                    return URI.create("http://127.0.0.1:" + port);
                }
            }
            throw new AssertionError("prometheus does not listen:\n" + all);
        }

        /// Returns the result of a query, once there is one.
        String await(String query) throws Exception {
            String target = uri + "/api/v1/query?query=" + URLEncoder.encode(query, UTF_8);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            String result = "";
            try (java.net.http.HttpClient client = java.net.http.HttpClient.newHttpClient()) {
                while (!result.contains("\"value\"") && System.nanoTime() < end) {
                    result =
                            client.send(
                                            HttpRequest.newBuilder(URI.create(target)).build(),
                                            HttpResponse.BodyHandlers.ofString())
                                    .body();
                    Thread.sleep(100);
                }
            }
            return result;
        }

        @Override
        public void close() {
            process.destroyForcibly().onExit().join();
        }
    }

    @Test
    @Clause("V-5")
    void metrics_ofAServer_areScrapedByPrometheus(@TempDir Path directory) throws Exception {
        requireTool("prometheus");
        try (LoopGroup group = LoopGroup.of(2)) {
            HttpMetrics metrics = HttpMetrics.create();
            HttpServerGroup server =
                    HttpServer.on(group)
                            .use(metrics)
                            .get("/metrics", PrometheusText.handler(group, metrics))
                            .listen("127.0.0.1", 0);
            group.start();
            try (Scraper scraper = Scraper.start(directory, (InetSocketAddress) server.address())) {
                assertThat(
                                scraper.await(
                                        "http_server_request_duration_seconds_count"
                                                + "{http_route=\"/metrics\"} > 0"))
                        .contains("\"http_response_status_code\":\"200\"");
                assertThat(scraper.await("count(gyre_loop_utilization)")).contains("\"2\"");
            }
        }
    }
}
