package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;
import dev.gyre.Promise;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.List;

class HttpMetricsTest {
    private static final Duration STEP = Duration.ofSeconds(1);
    private static final LoopGroupConfig QUIET =
            LoopGroupConfig.DEFAULT.withLoopConfig(
                    LoopConfig.DEFAULT.withName("quiet").withObserver(new LoopObserver() {}));

    private final SimulatedWorld world = SimulatedWorld.seed(18);
    private final HttpMetrics metrics = HttpMetrics.create();
    private final HttpServer server =
            HttpServer.on(world.loop())
                    .use(metrics)
                    .get("/users/{id}", (_, response) -> response.text("hello"))
                    .post(
                            "/users/{id}",
                            (request, response) ->
                                    request.body()
                                            .bytes()
                                            .then(_ -> response.status(201).text("created")))
                    .get(
                            "/slow",
                            (request, response) ->
                                    Promise.delay(request.loop(), Duration.ofSeconds(3))
                                            .then(_ -> response.text("late")))
                    .get(
                            "/broken",
                            (_, _) -> {
                                throw new HttpException(502, "no upstream");
                            })
                    .get(
                            "/endless",
                            (_, response) -> {
                                boolean _ = response.stream().write("a part");
                                return world.loop().deferred().promise();
                            })
                    .listen(80);

    @AfterEach
    void close() {
        world.close();
    }

    private SimulatedPeer send(String text) {
        SimulatedPeer peer = world.connect(80).send(text);
        world.advance(STEP);
        return peer;
    }

    private SimulatedPeer get(String path) {
        return send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    }

    private HttpMetrics.Series only() {
        assertThat(metrics.series()).hasSize(1);
        return metrics.series().getFirst();
    }

    private long active() {
        return metrics.active().stream().mapToLong(HttpMetrics.Active::requests).sum();
    }

    @Test
    @Clause("V-5")
    void series_ofRequests_haveMethodPatternAndStatus() {
        get("/users/7");
        get("/users/8");

        HttpMetrics.Series series = only();
        assertThat(series.loop()).isEqualTo(world.loop().config().name());
        assertThat(series.scheme()).isEqualTo("http");
        assertThat(series.method()).isEqualTo("GET");
        assertThat(series.route()).isEqualTo("/users/{id}");
        assertThat(series.status()).isEqualTo(200);
        assertThat(series.errorType()).isNull();
        assertThat(series.duration().count()).isEqualTo(2);
        assertThat(series.responseBodyBytes()).isEqualTo(10);
        assertThat(metrics.requests(world.loop())).isEqualTo(2);
    }

    @Test
    @Clause("V-5")
    void bodyBytes_areThoseReceivedAndSent() {
        send("POST /users/7 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");

        assertThat(only().status()).isEqualTo(201);
        assertThat(only().requestBodyBytes()).isEqualTo(3);
        assertThat(only().responseBodyBytes()).isEqualTo(7);
    }

    @Test
    @Clause("V-5")
    void duration_ofASlowHandler_isThatOfTheLoopsClock() {
        get("/slow");
        assertThat(metrics.series()).isEmpty();
        assertThat(metrics.active())
                .containsExactly(
                        new HttpMetrics.Active(world.loop().config().name(), "http", "GET", 1));

        world.advance(Duration.ofSeconds(5));

        assertThat(only().duration().max())
                .isBetween(Duration.ofSeconds(3), Duration.ofMillis(3_100));
        assertThat(active()).isZero();
    }

    @Test
    @Clause("V-5")
    void request_whoseClientLeft_isCountedOnceAs499() {
        SimulatedPeer peer = get("/slow");
        peer.reset();
        world.advance(Duration.ofSeconds(5));

        assertThat(only().status()).isEqualTo(499);
        assertThat(only().errorType()).isEqualTo("disconnected");
        assertThat(only().duration().count()).isEqualTo(1);
        assertThat(active()).isZero();
    }

    @Test
    @Clause("V-5")
    void request_whoseUploadIsCut_hasTheBytesReceived() {
        SimulatedPeer peer =
                send("POST /users/7 HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc");
        peer.reset();
        world.advance(STEP);

        assertThat(only().status()).isEqualTo(499);
        assertThat(only().requestBodyBytes()).isEqualTo(3);
    }

    @Test
    @Clause("V-5")
    void response_thatIsCut_isTruncated() {
        SimulatedPeer peer = get("/endless");
        peer.reset();
        world.advance(STEP);

        assertThat(only().status()).isEqualTo(200);
        assertThat(only().errorType()).isEqualTo("truncated");
        assertThat(only().responseBodyBytes()).isEqualTo(6);
    }

    @Test
    @Clause("V-5")
    void failure_ofAHandler_hasItsStatusAsErrorType() {
        get("/broken");

        assertThat(only().status()).isEqualTo(502);
        assertThat(only().errorType()).isEqualTo("502");
    }

    @Test
    @Clause("V-5")
    void request_withoutARoute_hasNoPattern() {
        get("/missing");

        assertThat(only().status()).isEqualTo(404);
        assertThat(only().route()).isNull();
    }

    @Test
    @Clause("V-5")
    void request_ofAnUnknownMethod_isUnderOther() {
        send("BREW /users/7 HTTP/1.1\r\nHost: a\r\n\r\n");

        assertThat(only().method()).isEqualTo("_OTHER");
        assertThat(only().status()).isEqualTo(501);
    }

    @Test
    @Clause("V-5")
    void request_rejectedBeforeRouting_isCounted() {
        send("GET /users/7 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");

        assertThat(only().method()).isEqualTo("GET");
        assertThat(only().route()).isNull();
        assertThat(only().status()).isEqualTo(400);
        assertThat(only().rejected()).isEqualTo(1);
        assertThat(only().requests()).isEqualTo(1);
        assertThat(only().duration().count()).as("a zero would lower all percentiles").isZero();
        assertThat(metrics.requests(world.loop())).isEqualTo(1);
        assertThat(active()).isZero();
    }

    @Test
    @Clause("V-5")
    void webSocket_isCountedOnceItIsOpen() {
        server.webSocket("/chat", _ -> {});
        send(
                """
                GET /chat HTTP/1.1
                Host: a
                Connection: Upgrade
                Upgrade: websocket
                Sec-WebSocket-Version: 13
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==

                """
                        .replace("\n", "\r\n"));

        assertThat(only().status()).isEqualTo(101);
        assertThat(only().route()).isEqualTo("/chat");
        assertThat(active()).isZero();
    }

    @Test
    @Clause("V-5")
    void series_beyondTheLimit_areCountedUnderOther() {
        for (int i = 0; i < 4; i++) {
            server.any("/any" + i + "/{code}", HttpMetricsTest::respond);
        }
        StringBuilder requests = new StringBuilder();
        for (int i = 0; i < 4; i++) {
            for (int status = 210; status < 510; status++) {
                requests.append("GET /any" + i + "/" + status + " HTTP/1.1\r\nHost: a\r\n\r\n");
            }
        }
        send(requests.toString());

        List<HttpMetrics.Series> series = metrics.series();
        assertThat(series.size()).isBetween(197, 200);
        assertThat(series.stream().mapToLong(each -> each.duration().count()).sum())
                .isEqualTo(1_200);
        assertThat(metrics.overflows()).isEqualTo(1_200 - 195);
        assertThat(series)
                .filteredOn(each -> "_other".equals(each.route()))
                .allSatisfy(each -> assertThat(each.method()).isEqualTo("_OTHER"))
                .extracting(HttpMetrics.Series::status)
                .contains(200, 400, 500);
        assertThat(PrometheusText.of(world.loop(), metrics).text())
                .contains(
                        "{http_request_method=\"_OTHER\",http_route=\"_other\","
                                + "http_response_status_code=\"4xx\"",
                        "http_response_status_code=\"5xx\",url_scheme=\"http\","
                                + "error_type=\"5xx\"");
    }

    private static Promise<?> respond(Request request, Response response) {
        return response.status(Integer.parseInt(request.pathParam("code"))).send();
    }

    @Test
    @Clause("V-5")
    void oneObject_servesAGroupAndItsNewLoops() {
        LoopGroup group = world.group(2);
        HttpMetrics shared = HttpMetrics.create();
        HttpServer.on(group).use(shared).get("/", (_, response) -> response.text("a")).listen(81);
        group.start();
        for (int i = 0; i < 8; i++) {
            world.connect(81).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        }
        world.advance(STEP);

        long total = group.loops().stream().mapToLong(shared::requests).sum();
        assertThat(total).isEqualTo(8);
        assertThat(shared.series())
                .extracting(HttpMetrics.Series::loop)
                .doesNotHaveDuplicates()
                .isSubsetOf(group.loops().stream().map(loop -> loop.config().name()).toList());
        group.close();
    }

    @Test
    @Clause("V-5")
    void totals_whenALoopIsReplaced_doNotDecrease() {
        LoopGroup group = world.group(1, QUIET);
        HttpMetrics shared = HttpMetrics.create();
        HttpServer.on(group)
                .use(shared)
                .get("/", (_, response) -> response.text("a"))
                .get("/never", (request, _) -> request.loop().deferred().promise())
                .listen(81);
        group.start();
        world.connect(81).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        world.connect(81).send("GET /never HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(STEP);
        EventLoop failing = group.loops().getFirst();
        failing.submit(
                () -> {
                    throw new InternalError("provoked");
                });
        world.advance(STEP);
        assertThat(group.loops().getFirst()).isNotSameAs(failing);
        assertThat(responses(shared, 200)).isEqualTo(1);
        assertThat(shared.active()).allMatch(each -> each.requests() == 0);

        world.connect(81).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(STEP);

        assertThat(responses(shared, 200)).isEqualTo(2);
        assertThat(shared.series())
                .filteredOn(each -> each.status() == 200)
                .as("one series, since the new loop has the same name")
                .hasSize(1);
        group.close();
    }

    private static long responses(HttpMetrics metrics, int status) {
        return metrics.series().stream()
                .filter(each -> each.status() == status)
                .mapToLong(HttpMetrics.Series::requests)
                .sum();
    }

    /// Their responses are written together, after the last one.
    @Test
    @Clause("V-5")
    void durations_ofPipelinedRequests_endWhenTheirResponsesAreWritten() throws IOException {
        HttpMetrics shared = HttpMetrics.create();
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT);
                Socket client = new Socket()) {
            HttpServer pipelined =
                    HttpServer.on(loop)
                            .use(shared)
                            .get("/fast", (_, response) -> response.text("a"))
                            .get(
                                    "/slow",
                                    (_, response) -> {
                                        Thread.sleep(20);
                                        loop.stop();
                                        return response.text("b");
                                    })
                            .listen("127.0.0.1", 0);
            client.connect(pipelined.address());
            String requests =
                    "GET /fast HTTP/1.1\r\nHost: a\r\n\r\nGET /slow HTTP/1.1\r\nHost: a\r\n\r\n";
            client.getOutputStream().write(requests.getBytes(US_ASCII));
            loop.run();
        }
        assertThat(shared.series())
                .hasSize(2)
                .extracting(each -> each.duration().max())
                .as("the time of one clock read")
                .allMatch(each -> each.equals(shared.series().getFirst().duration().max()))
                .allMatch(each -> each.compareTo(Duration.ofMillis(20)) >= 0);
    }

    @Test
    @Clause("V-5")
    void use_inAGroupOrTwice_throws() {
        assertThatThrownBy(() -> server.route("/api", api -> api.use(metrics)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("add it to the server");
        assertThatThrownBy(() -> server.use(HttpMetrics.create()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("already");
    }
}
