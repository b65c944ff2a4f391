package dev.gyre.http.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.http.Cookie;
import dev.gyre.http.HttpClientConfig;
import dev.gyre.http.HttpConfig;
import dev.gyre.http.HttpServer;
import dev.gyre.http.Request;
import dev.gyre.http.Response;
import dev.gyre.io.StreamConfig;
import dev.gyre.io.Tls;
import dev.gyre.testkit.Faults;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

class TestClientTest {
    private static void routes(HttpServer server) {
        server.get("/hello", (_, response) -> response.text("Hello"))
                .get("/json", (_, response) -> response.json(Map.of("a", 1, "b", "x")))
                .get("/empty", (_, response) -> response.status(204).send())
                .get(
                        "/later",
                        (_, response) ->
                                Promise.delay(server.loop(), Duration.ofMillis(30))
                                        .then(_ -> response.text("at last")))
                .any("/echo", TestClientTest::echo)
                .get(
                        "/login",
                        (_, response) ->
                                response.cookie(Cookie.of("sid", "s1").path("/"))
                                        .cookie(Cookie.of("admin", "a1").path("/admin"))
                                        .text("welcome"))
                .post(
                        "/login",
                        (_, response) ->
                                response.cookie(Cookie.of("sid", "s2")).redirect("echo?from=login"))
                .post("/moved", (_, response) -> response.redirect(307, "/echo"))
                .get("/away", (_, response) -> response.redirect("https://example.com/"))
                .get("/logout", (_, response) -> response.removeCookie("sid").text("bye"));
    }

    /// Responds with the request, as received.
    private static Promise<?> echo(Request request, Response response) {
        StringBuilder head = new StringBuilder(request.method() + " " + request.target() + "\n");
        request.headers()
                .forEach(
                        (name, value) -> head.append(name).append(": ").append(value).append('\n'));
        return request.body().text().thenCompose(text -> response.text(head + "\n" + text));
    }

    // ------------------------------------------------------------------ the same test everywhere

    @ParameterizedTest
    @EnumSource
    void get_whenExpectationsHold_returnsTheResponse(Setting setting) {
        setting.run(
                TestClientTest::routes,
                client -> {
                    TestResponse response =
                            client.get("/hello")
                                    .expectStatus(200)
                                    .expectText("Hello")
                                    .expectTextContaining("ell")
                                    .expectHeader("content-length", "5")
                                    .expectNoHeader("Location")
                                    .expectBody(new byte[] {'H', 'e', 'l', 'l', 'o'});
                    assertThat(response.status()).isEqualTo(200);
                    assertThat(response.text()).isEqualTo("Hello");
                    assertThat(response.body()).hasSize(5);
                    assertThat(response.header("Content-Length")).isEqualTo("5");
                    client.get("/empty").expectStatus(204).expectNoBody();
                    client.head("/hello").expectStatus(200).expectNoBody();
                    client.get("/nowhere").expectStatus(404);
                    client.delete("/hello").expectStatus(405);
                });
    }

    @ParameterizedTest
    @EnumSource
    void expectJson_withOtherOrderAndSpaces_holds(Setting setting) {
        setting.run(
                TestClientTest::routes,
                client ->
                        client.get("/json")
                                .expectStatus(200)
                                .expectJson("{ \"b\" : \"x\", \"a\" : 1.0 }"));
    }

    @ParameterizedTest
    @EnumSource
    void get_ofASlowRoute_waits(Setting setting) {
        setting.run(
                TestClientTest::routes,
                client -> client.get("/later").expectStatus(200).expectText("at last"));
    }

    @ParameterizedTest
    @EnumSource
    void request_withQueryHeadersAndBody_sendsThem(Setting setting) {
        setting.run(
                TestClientTest::routes,
                client -> {
                    client.get("/echo?a=1")
                            .queryParam("b", "x y&z")
                            .header("X-One", "1")
                            .header("x-one", "2")
                            .addHeader("X-Two", "a")
                            .addHeader("X-Two", "b")
                            .header("Host", "api.example.com")
                            .expectStatus(200)
                            .expectTextContaining("GET /echo?a=1&b=x+y%26z\n")
                            .expectTextContaining("x-one: 2\nX-Two: a\nX-Two: b\n")
                            .expectTextContaining("Host: api.example.com\n");
                    client.put("/echo")
                            .body("häuser")
                            .expectStatus(200)
                            .expectTextContaining("Content-Type: text/plain; charset=utf-8\n")
                            .expectTextContaining("\n\nhäuser");
                    client.post("/echo")
                            .form("user", "ada", "text", "a & b")
                            .expectStatus(200)
                            .expectTextContaining("x-www-form-urlencoded\n")
                            .expectTextContaining("\n\nuser=ada&text=a+%26+b");
                    client.patch("/echo")
                            .json("{}")
                            .expectStatus(200)
                            .expectTextContaining("Content-Type: application/json\n");
                    client.post("/echo")
                            .json(Map.of("n", 1))
                            .header("Content-Type", "application/vnd.x+json")
                            .expectStatus(200)
                            .expectTextContaining("Content-Type: application/vnd.x+json\n")
                            .expectTextContaining("\n\n{\"n\":1}");
                });
    }

    @ParameterizedTest
    @EnumSource
    void request_withParts_isMultipart(Setting setting) {
        setting.run(
                TestClientTest::routes,
                client ->
                        client.post("/echo")
                                .part("title", "gyre-test-boundary-0")
                                .file("f", "a\"", "text/plain", new byte[] {'x'})
                                .expectStatus(200)
                                .expectTextContaining(
                                        "Content-Type: multipart/form-data;"
                                                + " boundary=gyre-test-boundary-1\n")
                                .expectTextContaining(
                                        """
                                        --gyre-test-boundary-1\r
                                        Content-Disposition: form-data; name="title"\r
                                        \r
                                        gyre-test-boundary-0\r
                                        --gyre-test-boundary-1\r
                                        Content-Disposition: form-data; name="f"; filename="a%22"\r
                                        Content-Type: text/plain\r
                                        \r
                                        x\r
                                        --gyre-test-boundary-1--\r
                                        """));
    }

    // ------------------------------------------------------------------ cookies

    @ParameterizedTest
    @EnumSource
    void cookies_ofAResponse_areSentUntilRemoved(Setting setting) {
        setting.run(
                TestClientTest::routes,
                client -> {
                    client.get("/login").expectStatus(200).expectCookie("sid", "s1");
                    assertThat(client.cookie("sid")).isEqualTo("s1");
                    client.get("/echo").expectStatus(200).expectTextContaining("Cookie: sid=s1\n");
                    client.get("/echo")
                            .cookie("sid", "other")
                            .cookie("more", "m")
                            .expectStatus(200)
                            .expectTextContaining("Cookie: sid=other; more=m\n");
                    client.get("/logout").expectStatus(200);
                    assertThat(client.cookie("sid")).isNull();
                    assertThat(client.get("/echo").send().text()).doesNotContain("Cookie");
                });
    }

    @ParameterizedTest
    @EnumSource
    void follow_sendsTheNextRequestWithTheNewCookies(Setting setting) {
        setting.run(
                TestClientTest::routes,
                client -> {
                    client.post("/login")
                            .form("user", "ada")
                            .expectStatus(302)
                            .expectRedirect("echo?from=login")
                            .follow()
                            .expectStatus(200)
                            .expectTextContaining("GET /echo?from=login\n")
                            .expectTextContaining("Cookie: sid=s2\n");
                    client.post("/moved")
                            .form("user", "ada")
                            .expectStatus(307)
                            .follow()
                            .expectStatus(200)
                            .expectTextContaining("POST /echo\n")
                            .expectTextContaining("x-www-form-urlencoded\n")
                            .expectTextContaining("\n\nuser=ada");
                    TestResponse away = client.get("/away").send();
                    assertFails(away::follow, "expected a redirect to http://localhost");
                    assertFails(() -> away.expectRedirect("/"), "expected header Location: /");
                    TestResponse hello = client.get("/hello").send();
                    assertFails(hello::follow, "expected a redirect");
                    assertFails(
                            () -> hello.expectRedirect("/"),
                            "expected a redirect but status was 200");
                });
    }

    @Test
    void keepCookies_whenFalse_sendsNone() {
        Setting.SIMULATED.run(
                TestClientTest::routes,
                client -> {
                    client.get("/login").expectStatus(200);
                    client.keepCookies(false);
                    assertThat(client.cookie("sid")).isNull();
                    client.get("/login").expectStatus(200);
                    assertThat(client.get("/echo").send().text()).doesNotContain("Cookie");
                });
    }

    @Test
    void cookie_withMaxAge_expiresInSimulatedTime() {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            HttpServer server = HttpServer.on(world.loop());
            Cookie cookie = Cookie.of("a", "1").maxAge(Duration.ofHours(1));
            server.get("/", (_, response) -> response.cookie(cookie).text(""));
            TestClient client = TestClient.of(world, server.listen(80));
            client.get("/").expectStatus(200);
            world.advance(Duration.ofMinutes(59));
            assertThat(client.cookie("a")).isEqualTo("1");
            world.advance(Duration.ofMinutes(2));
            assertThat(client.cookie("a")).isNull();
        }
    }

    // ------------------------------------------------------------------ failures

    @ParameterizedTest
    @EnumSource
    void expectStatus_whenAnotherArrives_showsRequestAndResponse(Setting setting) {
        setting.run(
                TestClientTest::routes,
                client ->
                        assertThatThrownBy(
                                        () ->
                                                client.post("/echo")
                                                        .json("{\"a\":1}")
                                                        .expectStatus(201))
                                .isInstanceOf(AssertionError.class)
                                .hasMessageStartingWith(
                                        """
                                        expected status 201 but was 200

                                        POST /echo
                                        Content-Type: application/json

                                        {"a":1}

                                        HTTP/1.1 200 OK
                                        """));
    }

    @Test
    void failure_inAWorld_showsSeedAndTrace() {
        Setting.SIMULATED.run(
                TestClientTest::routes,
                client ->
                        assertThatThrownBy(() -> client.get("/hello").expectStatus(404))
                                .hasMessageContaining("simulated world with seed 7")
                                .hasMessageContaining("the last lines of its trace:\n"));
    }

    @Test
    void expectations_thatDoNotHold_nameTheDifference() {
        Setting.SIMULATED.run(
                TestClientTest::routes,
                client -> {
                    TestResponse json = client.get("/json").send();
                    assertFails(
                            () -> json.expectJson("{\"a\":2,\"b\":\"x\"}"),
                            "JSON differs at $.a: expected 2 but was 1");
                    assertFails(() -> json.expectText("x"), "expected body \"x\"");
                    assertFails(() -> json.expectTextContaining("zz"), "expected body with \"zz\"");
                    assertFails(json::expectNoBody, "expected no body but was one of 15 bytes");
                    assertFails(
                            () -> json.expectBody(new byte[] {'{', 'x'}),
                            "expected a body of 2 bytes but was one of 15 bytes that differs at"
                                    + " index 1");
                    assertFails(
                            () -> json.expectHeader("Location", "/"),
                            "expected header Location: / but was absent");
                    assertFails(
                            () -> json.expectNoHeader("Content-Length"),
                            "expected no header Content-Length but was 15");
                    assertFails(
                            () -> json.expectCookie("sid", "1"),
                            "expected cookie sid=1 but Set-Cookie was absent");
                    assertFails(
                            () -> client.get("/hello").send().expectJson("[]"),
                            "expected JSON but Content-Type was text/plain");
                    assertThatThrownBy(() -> json.expectJson("{"))
                            .isInstanceOf(IllegalArgumentException.class)
                            .hasMessageStartingWith("malformed JSON at index 1");
                    assertThatThrownBy(() -> json.json(Map.class))
                            .isInstanceOf(UnsupportedOperationException.class);
                });
    }

    private static void assertFails(Runnable expectation, String message) {
        assertThatThrownBy(expectation::run)
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith(message);
    }

    @ParameterizedTest
    @EnumSource
    void send_withoutAResponse_failsAfterTheTimeout(Setting setting) {
        setting.run(
                server ->
                        server.get("/never", (_, _) -> server.loop().<Object>deferred().promise()),
                client -> {
                    client.timeout(Duration.ofMillis(50));
                    assertFails(
                            () -> client.get("/never").send(), "no response: nothing within 50");
                });
    }

    @Test
    void send_whenAHandlerClosesTheConnection_fails() {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            HttpServer server = HttpServer.on(world.loop());
            server.get("/", (_, _) -> world.loop().<Object>deferred().promise()).listen(80);
            TestClient client = TestClient.of(world, server);
            world.loop().after(Duration.ofSeconds(1), _ -> server.close());
            assertThatThrownBy(() -> client.get("/").send())
                    .isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith("no response: dev.gyre.io.StreamClosedException");
        }
    }

    @Test
    void await_whenACallbackOfTheWorldThrows_showsTheWorld() {
        try (SimulatedWorld world = SimulatedWorld.seed(3)) {
            HttpServer server = HttpServer.on(world.loop());
            routes(server);
            TestClient client = TestClient.of(world, server.listen(80));
            world.loop()
                    .after(
                            Duration.ofMillis(1),
                            _ -> {
                                throw new IllegalStateException("broken timer");
                            });
            assertThatThrownBy(() -> client.get("/later").send())
                    .hasMessage("broken timer")
                    .satisfies(
                            e -> assertThat(e.getSuppressed()[0]).hasMessageContaining("seed 3"));
        }
    }

    // ------------------------------------------------------------------ misuse

    @Test
    void of_aServerOfAnotherLoop_throws() {
        try (SimulatedWorld world = SimulatedWorld.seed(1);
                EventLoop loop = EventLoop.open()) {
            HttpServer server = HttpServer.on(loop);
            assertThatThrownBy(() -> TestClient.of(world, server))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("HttpServer.on(world.loop())");
            assertThatThrownBy(() -> TestClient.of(server))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void send_byACallbackOfTheLoop_throws() {
        Setting.SOCKETS.run(
                server -> {
                    routes(server);
                    server.get(
                            "/self",
                            (_, response) -> {
                                try {
                                    TestClient inner = TestClient.of(server);
                                    return response.text(inner.get("/hello").send().text());
                                } catch (IllegalStateException e) {
                                    return response.text(String.valueOf(e.getMessage()));
                                }
                            });
                },
                client ->
                        client.get("/self")
                                .expectStatus(200)
                                .expectTextContaining("call it from the test's thread"));
    }

    @Test
    void send_withBodyAndParts_throws() {
        Setting.SIMULATED.run(
                TestClientTest::routes,
                client ->
                        assertThatThrownBy(
                                        () -> client.post("/echo").body("a").part("b", "c").send())
                                .isInstanceOf(IllegalStateException.class)
                                .hasMessageContaining("without part and file"));
    }

    @ParameterizedTest
    @EnumSource
    void send_withAnInvalidHeader_throws(Setting setting) {
        setting.run(
                TestClientTest::routes,
                client ->
                        assertThatThrownBy(() -> client.get("/").header("a b", "c").send())
                                .isInstanceOf(IllegalArgumentException.class));
    }

    // ------------------------------------------------------------------ worlds

    @Test
    void client_underFaults_worksForEverySeed() {
        AtomicInteger worlds = new AtomicInteger();
        SimulatedWorld.eachSeed(
                50,
                world -> {
                    world.faults(Faults.harmless());
                    HttpServer server = HttpServer.on(world.loop());
                    routes(server);
                    TestClient client = TestClient.of(world, server.listen(80));
                    client.get("/json").expectStatus(200).expectJson("{\"a\":1,\"b\":\"x\"}");
                    client.post("/echo").body("x".repeat(100_000)).expectStatus(200);
                    client.get("/later").expectStatus(200);
                    worlds.incrementAndGet();
                });
        assertThat(worlds.get()).isEqualTo(50);
    }

    @Test
    void client_withOneSeed_hasOneTrace() {
        assertThat(digest(5)).isEqualTo(digest(5)).isNotEqualTo(digest(6));
    }

    private static long digest(long seed) {
        // The Date header would differ from one second to the next.
        HttpConfig config = HttpConfig.DEFAULT.withClock(InstantSource.fixed(Instant.EPOCH));
        try (SimulatedWorld world = SimulatedWorld.seed(seed).faults(Faults.harmless())) {
            HttpServer server = HttpServer.on(world.loop(), config);
            routes(server);
            TestClient client = TestClient.of(world, server.listen(80));
            client.get("/hello").expectStatus(200);
            client.get("/later").expectStatus(200);
            return world.trace().digest();
        }
    }

    @Test
    void get_ofASlowRouteInAWorld_takesExactlyItsTime() {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            HttpServer server = HttpServer.on(world.loop());
            server.get(
                    "/",
                    (_, response) ->
                            Promise.delay(world.loop(), Duration.ofSeconds(20))
                                    .then(_ -> response.text("")));
            TestClient client = TestClient.of(world, server.listen(80));
            client.get("/").expectStatus(200);
            assertThat(world.elapsed())
                    .isBetween(Duration.ofSeconds(20), Duration.ofMillis(20_010));
        }
    }

    @Test
    void client_withTls_worksInAWorld() {
        try (SimulatedWorld world = SimulatedWorld.seed(1)) {
            HttpServer server = HttpServer.on(world.loop());
            routes(server);
            server.webSocket("/ws", socket -> socket.onText(text -> socket.send(text)));
            server.listen(443, Tls.selfSigned("localhost"));
            StreamConfig streams = StreamConfig.DEFAULT.withTls(Tls.client().withoutVerification());
            HttpClientConfig config = HttpClientConfig.DEFAULT.withStreams(streams);
            TestClient client = TestClient.of(world, server, config);
            assertThat(client.toString()).isEqualTo("TestClient[https://localhost:443/]");
            client.get("/hello").expectStatus(200).expectText("Hello");
            client.webSocket("/ws").send("over TLS").expectText("over TLS").close();
        }
    }
}
