package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.Test;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;

/// How failures become responses.
@On("simulated")
class RouteErrorsTest extends HttpFixture {
    private static final class Missing extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        Missing(String message) {
            super(message);
        }
    }

    @Override
    protected EventLoop open(LoopConfig config) {
        return SimulatedWorld.seed(7, config).loop();
    }

    private static Handler fail(Exception failure) {
        return (_, _) -> {
            throw failure;
        };
    }

    private static <E extends Throwable> ErrorHandler<E> as(String name) {
        return (failure, _, response) ->
                response.status(422).text(name + ": " + failure.getMessage());
    }

    private String body(String target) {
        return contentOf(get(target));
    }

    // ------------------------------------------------------------------ by type

    @Test
    @Clause("H-7")
    void failure_isHandledByTheMostSpecificType() {
        server.onError(IllegalArgumentException.class, as("argument"))
                .onError(Missing.class, as("missing"))
                .onError(Exception.class, as("any"))
                .get("/missing", fail(new Missing("a")))
                .get("/argument", fail(new IllegalArgumentException("b")))
                .get("/any", fail(new IOException("c")))
                .get("/rejected", (q, _) -> Promise.rejected(q.loop(), new Missing("d")));
        assertThat(body("/missing")).isEqualTo("missing: a");
        assertThat(body("/argument")).isEqualTo("argument: b");
        assertThat(body("/any")).isEqualTo("any: c");
        assertThat(body("/rejected")).isEqualTo("missing: d");
        assertThat(body("/none")).isEqualTo("any: no resource at /none");
    }

    @Test
    @Clause("H-7")
    void failure_withoutAMatch_isMatchedByItsCauses_andByCatchAllsLast() {
        IOException cause = new FileNotFoundException("f");
        server.onError(IOException.class, as("io"))
                .onError(Throwable.class, as("any"))
                .get("/wrapped", fail(new UncheckedIOException("outer", cause)))
                .get("/twice", fail(new CompletionException("o", new Exception("i", cause))))
                .get("/other", fail(new IllegalStateException("s")))
                .get("/caught", fail(new RuntimeException("r", new Exception("q"))));
        assertThat(body("/wrapped")).isEqualTo("io: f");
        assertThat(body("/twice")).isEqualTo("io: f");
        assertThat(body("/other")).isEqualTo("any: s");
        assertThat(body("/caught")).as("never by a cause").isEqualTo("any: r");
    }

    @Test
    @Clause("H-7")
    void failure_isHandledByTheInnermostGroupFirst() {
        server.onError(Missing.class, as("server"))
                .onError(HttpException.class, as("server"))
                .route(
                        "/a",
                        a ->
                                a.onError(RuntimeException.class, as("a"))
                                        .get("", fail(new Missing("m")))
                                        .route("/b", b -> b.get("", fail(new Missing("m")))))
                .route("/c", c -> c.get("", fail(new Missing("m"))));
        assertThat(body("/a")).isEqualTo("a: m");
        assertThat(body("/a/b")).isEqualTo("a: m");
        assertThat(body("/c")).isEqualTo("server: m");
        assertThat(body("/a/none")).isEqualTo("server: no resource at /a/none");
    }

    @Test
    @Clause("H-7")
    void failureOfMiddleware_isHandledAsOneOfTheHandler() {
        server.route(
                "/a",
                a ->
                        a.use(
                                        (_, _, _) -> {
                                            throw new Missing("m");
                                        })
                                .get("", (_, r) -> r.text("never"))
                                .onError(Missing.class, as("a")));
        assertThat(body("/a")).isEqualTo("a: m");
    }

    @Test
    @Clause("H-7")
    void errorHandler_thatReturnsNullOrFails_getsTheDefaultResponse() {
        server.onError(Missing.class, (_, _, _) -> null)
                .onError(
                        IOException.class,
                        (_, _, _) -> {
                            throw new HttpException(409, "again");
                        })
                .onError(
                        IllegalStateException.class,
                        (_, _, response) -> {
                            response.text("sent");
                            return null;
                        })
                .get("/null", fail(new Missing("m")))
                .get("/fails", fail(new IOException("io")))
                .get("/sent", fail(new IllegalStateException("s")));
        assertThat(get("/null")).startsWith("HTTP/1.1 500 ").endsWith("internal error\n");
        assertThat(get("/fails")).startsWith("HTTP/1.1 409 ").endsWith("again\n");
        assertThat(body("/sent")).isEqualTo("sent");
    }

    // ------------------------------------------------------------------ by status

    @Test
    @Clause("H-7")
    void statusHandler_rendersErrorsOfItsStatus() {
        server.onStatus(404, (q, r) -> r.html("<h1>no " + q.path() + "</h1>"))
                .onStatus(500, (_, r) -> r.text("oops"))
                .get("/missing", fail(new HttpException(404, "m")))
                .get("/broken", fail(new IOException("secret")))
                .get("/sent", (_, r) -> r.status(404).text("as sent"))
                .route(
                        "/api",
                        api ->
                                api.onStatus(404, (_, r) -> r.json("none"))
                                        .get("/x", fail(new HttpException(404, "x")))
                                        .get("/y", fail(new HttpException(409, "y"))));
        assertThat(get("/none"))
                .startsWith("HTTP/1.1 404 ")
                .contains("text/html")
                .endsWith("<h1>no /none</h1>");
        assertThat(body("/missing")).isEqualTo("<h1>no /missing</h1>");
        assertThat(get("/broken")).startsWith("HTTP/1.1 500 ").endsWith("oops");
        assertThat(body("/sent")).isEqualTo("as sent");
        assertThat(get("/api/x")).startsWith("HTTP/1.1 404 ").endsWith("\"none\"");
        assertThat(body("/api/y")).isEqualTo("y\n");
        assertThatThrownBy(() -> server.onStatus(200, (_, r) -> r.send()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("from 400 to 599, but is 200");
    }

    @Test
    @Clause("H-7")
    void statusHandler_goesAfterErrorHandlersOfItsGroup_andBeforeThoseOfOuterOnes() {
        server.onError(HttpException.class, as("server"))
                .route(
                        "/a",
                        a ->
                                a.onStatus(409, (_, r) -> r.text("page"))
                                        .get("", fail(new HttpException(409, "m")))
                                        .route(
                                                "/b",
                                                b ->
                                                        b.onError(HttpException.class, as("b"))
                                                                .onStatus(
                                                                        409, (_, r) -> r.text("no"))
                                                                .get(
                                                                        "",
                                                                        fail(
                                                                                new HttpException(
                                                                                        409,
                                                                                        "m")))));
        assertThat(body("/a")).isEqualTo("page");
        assertThat(body("/a/b")).isEqualTo("b: m");
    }

    // ------------------------------------------------------------------ formats

    @Test
    @Clause("H-7")
    void errorFormat_formatsErrorsWithoutAHandler_alsoThoseBeforeRouting() {
        server.errorFormat(ErrorFormat.PROBLEM_JSON).get("/broken", fail(new IOException("s")));
        assertThat(get("/a\"b".replace("\"", "%22")))
                .startsWith("HTTP/1.1 404 ")
                .contains("\r\nContent-Type: application/problem+json\r\n")
                .endsWith(
                        """
                        {"type":"about:blank","title":"Not Found","status":404,"detail":"no \
                        resource at /a\\"b"}\
                        """);
        assertThat(body("/broken")).contains("\"status\":500,\"detail\":\"internal error\"");
        assertThat(connect().send("GET / HTTP/1.1\r\n\r\n").all())
                .startsWith("HTTP/1.1 400 ")
                .contains("\r\nContent-Type: application/problem+json\r\n")
                .contains("\r\nConnection: close\r\n")
                .contains("\"status\":400,\"detail\":\"the Host header is missing");
        assertThat(ask("GET / HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(20_000), ""))
                .startsWith("HTTP/1.1 431 ")
                .contains("\"status\":431");
    }

    @Test
    @Clause("H-7")
    void problemJson_namesTheFields_ofUsersAndOfTheServer() {
        HttpException invalid =
                new HttpException(422, "invalid order")
                        .withError("b", "too small")
                        .withError("a", "too old")
                        .withError("b", "too large")
                        .withHeader("X-A", "b");
        server.errorFormat(ErrorFormat.PROBLEM_JSON)
                .get("/user", fail(invalid))
                .get("/id/{id}", (q, r) -> r.text("" + q.pathLong("id", 1, 9)))
                .get("/json", fail(invalid.withBody(List.of("mine"))));
        assertThat(get("/user"))
                .contains("\r\nX-A: b\r\n")
                .endsWith(
                        "\"detail\":\"invalid order\","
                                + "\"errors\":{\"b\":\"too large\",\"a\":\"too old\"}}");
        assertThat(body("/id/x")).endsWith("\"errors\":{\"id\":\"must be a number from 1 to 9\"}}");
        assertThat(body("/json")).isEqualTo("[\"mine\"]");
        server.post("/form", (q, r) -> q.body().form().then(form -> r.text(form.require("name"))));
        assertThat(ask("POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 0", ""))
                .endsWith("\"errors\":{\"name\":\"a value is required\"}}");
        assertThatThrownBy(() -> invalid.errors().clear())
                .isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    @Clause("H-7")
    void errorFormat_ofAUser_isGivenTheFields_orSendsTheMessage() {
        server.get("/", fail(new HttpException(422, "invalid").withError("a", "too old")));
        assertThat(body("/")).isEqualTo("invalid\n");
        server.errorFormat(
                (status, message, errors) ->
                        ErrorFormat.TEXT.format(status, "my " + message, errors));
        assertThat(body("/")).isEqualTo("my invalid\n");
        server.errorFormat(
                (status, message, errors) ->
                        ErrorFormat.TEXT.format(
                                status,
                                errors.isEmpty() ? message : message + " " + errors,
                                errors));
        assertThat(body("/")).isEqualTo("invalid {a=too old}\n");
        assertThat(body("/none")).isEqualTo("no resource at /none\n");
    }

    @Test
    @Clause("H-7")
    void failure_afterTheResponse_isLoggedWithTheRoute() {
        server.get(
                "/late/{id}",
                (_, response) -> {
                    response.text("sent");
                    throw new IllegalStateException("too late");
                });
        try (LogCapture log = new LogCapture()) {
            assertThat(body("/late/7")).isEqualTo("sent");
            assertThat(log.messages())
                    .containsExactly("the handler of GET /late/7 failed after its response");
        }
    }

    @Test
    @Clause("H-7")
    void errorFormat_thatFailsOrIsTooLong_isReplacedByText() {
        byte[] huge = "x".repeat(20_000).getBytes(UTF_8);
        server.errorFormat(
                (status, _, _) -> {
                    if (status == 404) {
                        throw new IllegalStateException("broken format");
                    }
                    return new ErrorFormat.ErrorBody("text/html", huge);
                });
        assertThat(get("/none")).contains("text/plain").endsWith("no resource at /none\n");
        assertThat(ask("PUT /", "")).contains("text/plain");
        assertThat(ask("BREW / HTTP/1.1\r\nHost: a", ""))
                .contains("text/html")
                .hasSizeGreaterThan(20_000);
        assertThatThrownBy(() -> new ErrorFormat.ErrorBody("a\r\nb: c", huge))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Clause("H-7")
    void rejection_isReportedToTheServersMiddleware_withTheLengthOfItsBody() {
        List<RejectedRequest> rejected = new ArrayList<>();
        server.errorFormat((_, _, _) -> new ErrorFormat.ErrorBody("text/x", new byte[7]))
                .use(
                        new Middleware() {
                            @Override
                            public Promise<?> handle(Request q, Response r, Handler next)
                                    throws Exception {
                                return next.handle(q, r);
                            }

                            @Override
                            public void onRejected(RejectedRequest request) {
                                rejected.add(request);
                            }
                        });
        assertThat(connect().send("GET /a HTTP/1.1\r\n\r\n").all()).contains("Content-Length: 7");
        assertThat(rejected).hasSize(1);
        assertThat(rejected.getFirst().method()).isEqualTo("GET");
        assertThat(rejected.getFirst().status()).isEqualTo(400);
        assertThat(rejected.getFirst().bodyBytes()).isEqualTo(7);
    }

    // ------------------------------------------------------------------ headers of middleware

    @Test
    @Clause("H-7")
    void headersOfMiddleware_surviveErrors_andThoseOfTheHandlerDoNot() {
        server.use(
                        (request, response, next) -> {
                            response.header("X-Request-Id", "7").type("application/json");
                            return next.handle(request, response);
                        })
                .get(
                        "/fails",
                        (_, response) -> {
                            response.header("X-Handler", "gone").header("X-Request-Id", "8");
                            throw new HttpException(409, "no");
                        })
                .get(
                        "/rejected",
                        (q, response) -> {
                            response.header("X-Handler", "gone");
                            return Promise.rejected(q.loop(), new IOException("io"));
                        })
                .get("/ok", (_, response) -> response.text("1"));
        for (String target : List.of("/fails", "/rejected", "/none")) {
            assertThat(get(target))
                    .contains("\r\nX-Request-Id: 7\r\n")
                    .contains("\r\nContent-Type: text/plain; charset=utf-8\r\n")
                    .doesNotContain("X-Handler")
                    .doesNotContain("application/json");
        }
        assertThat(get("/ok")).contains("X-Request-Id: 7").contains("application/json");
    }

    @Test
    @Clause("H-7")
    void headersOfMiddlewareThatFails_surviveToo() {
        server.use(
                        (_, response, _) -> {
                            response.header("WWW-Authenticate", "Basic");
                            throw new HttpException(401, "who are you");
                        })
                .get("/a", (_, response) -> response.text("secret"));
        assertThat(get("/a"))
                .startsWith("HTTP/1.1 401 ")
                .contains("\r\nWWW-Authenticate: Basic\r\n");
    }

    @Test
    @Clause("H-7")
    void headersOfMiddleware_ofOneRequest_areNotTheNextOnes() {
        server.use(
                (request, response, next) -> {
                    if (request.path().equals("/a")) {
                        response.header("X-A", "a");
                    }
                    return next.handle(request, response);
                });
        Talk talk = connect().send(request("/a") + request("/b"));
        assertThat(talk.answer(404)).isEqualTo("no resource at /a\n");
        talk.await("at /b\n");
        assertThat(talk.received()).doesNotContain("X-A");
    }
}
