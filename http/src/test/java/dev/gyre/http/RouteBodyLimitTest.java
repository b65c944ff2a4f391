package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// How much content a route takes, other than its server.
class RouteBodyLimitTest extends HttpFixture {
    private static final Attribute<String> TEXT = Attribute.of("text");

    private final List<String> called = new ArrayList<>();

    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config);
    }

    private void serve() {
        configure(HttpConfig.DEFAULT.withMaxBody(10));
        Handler echo =
                (request, response) -> {
                    called.add(request.path());
                    return request.body().text().then(response::text);
                };
        server.post("/usual", echo)
                .route(
                        "/large/{name}",
                        large ->
                                large.post("/", echo)
                                        .blockingPut(
                                                "/",
                                                (request, response) ->
                                                        response.text("" + lengthOf(request)))
                                        .maxBody(100_000))
                .route("/small", small -> small.maxBody(5).post("/", echo));
    }

    private static int lengthOf(Request request) throws IOException {
        return request.body().stream().readAllBytes().length;
    }

    private String post(String target, int bytes) {
        return ask(
                "POST " + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + bytes,
                "x".repeat(bytes));
    }

    private String chunked(String target, int bytes) {
        return ask(
                "POST " + target + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked",
                Integer.toHexString(bytes) + "\r\n" + "x".repeat(bytes) + "\r\n0\r\n\r\n");
    }

    @Test
    @Clause("H-3")
    void content_upToTheLimitOfItsRoute_isTaken_andMoreIsRefused() {
        serve();
        assertThat(contentOf(post("/usual", 10))).hasSize(10);
        assertThat(contentOf(post("/large/a", 100_000))).hasSize(100_000);
        assertThat(contentOf(chunked("/large/a", 50_000))).hasSize(50_000);
        assertThat(contentOf(post("/small", 5))).hasSize(5);
        assertThat(
                        ask(
                                "PUT /large/a HTTP/1.1\r\nHost: a\r\nContent-Length: 70000",
                                "x".repeat(70_000)))
                .endsWith("\r\n\r\n70000");
        assertThat(chunked("/usual", 11)).startsWith("HTTP/1.1 413 ").endsWith("10 bytes\n");
        assertThat(chunked("/large/a", 100_001)).startsWith("HTTP/1.1 413 ");
        assertThat(chunked("/small", 6)).startsWith("HTTP/1.1 413 ").endsWith("5 bytes\n");
    }

    @Test
    @Clause("H-3")
    void content_thatIsAnnouncedTooLong_isRefusedBeforeAHandlerIsCalled_andTheConnectionClosed() {
        serve();
        for (String target : List.of("/usual", "/large/a", "/small", "/nowhere")) {
            int bytes = target.startsWith("/large") ? 100_001 : 11;
            String announced =
                    "POST " + target + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + bytes;
            assertThat(connect().send(announced + "\r\n\r\n").all())
                    .as(target)
                    .startsWith("HTTP/1.1 413 ")
                    .contains("\r\nConnection: close\r\n");
            assertThat(connect().send(announced + "\r\nExpect: 100-continue\r\n\r\n").all())
                    .as(target)
                    .startsWith("HTTP/1.1 413 ");
        }
        assertThat(called).isEmpty();
    }

    @Test
    @Clause("H-3")
    void content_thatIsTooLong_answeredByMiddleware_closesTheConnection() {
        serve();
        server.use((_, response, _) -> response.status(401).text("who"));
        String announced = "POST /usual HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n";
        assertThat(connect().send(announced).all())
                .startsWith("HTTP/1.1 401 ")
                .contains("\r\nConnection: close\r\n");
    }

    @Test
    @Clause("H-3")
    void limit_ofAGroup_appliesToMiddlewareThatReadsTheBody() {
        configure(HttpConfig.DEFAULT.withMaxBody(10));
        server.use(
                        (request, response, next) ->
                                request.body()
                                        .text()
                                        .thenCompose(
                                                text ->
                                                        next.handle(
                                                                request.set(TEXT, text), response)))
                .route(
                        "/large",
                        large -> large.maxBody(100).post("", (q, r) -> r.text("" + q.get(TEXT))));
        assertThat(contentOf(post("/large", 100))).hasSize(100);
        assertThat(post("/large", 101)).startsWith("HTTP/1.1 413 ");
    }

    @Test
    @Clause("H-3")
    void limit_ofAnInnerGroup_replacesThatOfTheOuter() {
        configure(HttpConfig.DEFAULT.withMaxBody(10));
        Handler echo = (request, response) -> request.body().text().then(response::text);
        server.route(
                "/a",
                a -> a.route("/b", b -> b.maxBody(30).post("", echo)).post("", echo).maxBody(20));
        assertThat(contentOf(post("/a", 20))).hasSize(20);
        assertThat(post("/a", 21)).startsWith("HTTP/1.1 413 ");
        assertThat(contentOf(post("/a/b", 30))).hasSize(30);
        assertThat(post("/a/b", 31)).startsWith("HTTP/1.1 413 ");
    }

    @Test
    @Clause("H-3")
    void limit_belowOne_isMisuse() {
        assertThatThrownBy(() -> server.maxBody(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("maxBody must be at least 1, but is 0");
    }
}
