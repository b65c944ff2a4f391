package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;

/// Headers that middleware sets before the handler runs survive error responses.
class MiddlewareHeadersTest {
    private final SimulatedWorld world = SimulatedWorld.seed(11);
    private final HttpServer server = HttpServer.on(world.loop());

    @AfterEach
    void close() {
        world.close();
    }

    private String get(String target) {
        return send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
    }

    private String send(String request) {
        var client = world.connect(80).send(request);
        world.advance(Duration.ofMillis(10));
        return client.receivedText();
    }

    private static Promise<?> fail(Response response) {
        response.header("X-Handler", "handler").header("X-Both", "handler").type("text/css");
        throw new HttpException(409, "conflict");
    }

    @Clause("H-7")
    @Test
    void headersOfMiddleware_whenTheHandlerFails_survive_andThoseOfTheHandlerDoNot() {
        server.use(
                        (request, response, next) -> {
                            response.header("X-Middleware", "kept").header("X-Both", "middleware");
                            return next.handle(request, response);
                        })
                .get("/fails", (_, response) -> fail(response))
                .get(
                        "/later",
                        (_, response) ->
                                Promise.resolved(world.loop(), 1).then(_ -> fail(response)))
                .listen(80);
        for (String target : new String[] {"/fails", "/later"}) {
            assertThat(get(target))
                    .startsWith("HTTP/1.1 409 ")
                    .contains("X-Middleware: kept\r\n", "X-Both: middleware\r\n", "text/plain")
                    .doesNotContain("X-Handler", "X-Both: handler", "text/css");
        }
    }

    @Clause("H-7")
    @Test
    void headersOfMiddleware_whenAnotherMiddlewareFails_survive() {
        server.use(
                        (request, response, next) -> {
                            response.addHeader("X-Outer", "1").addHeader("X-Outer", "2");
                            return next.handle(request, response);
                        })
                .use(
                        (_, response, _) -> {
                            response.header("WWW-Authenticate", "Basic");
                            throw new HttpException(401, "who is there?");
                        })
                .get("/", (_, response) -> response.text("secret"))
                .listen(80);
        assertThat(get("/"))
                .startsWith("HTTP/1.1 401 ")
                .contains("X-Outer: 1\r\nX-Outer: 2\r\n", "WWW-Authenticate: Basic\r\n");
    }

    @Clause("H-7")
    @Test
    void headersOfMiddleware_thatDescribeABody_areNotSentWithAnError() {
        server.use(
                        (request, response, next) -> {
                            response.header("Content-Type", "application/json")
                                    .header("ETag", "\"1\"")
                                    .header("Cache-Control", "no-store");
                            return next.handle(request, response);
                        })
                .get("/", (_, response) -> response.text("{}"))
                .get("/fails", (_, response) -> fail(response))
                .listen(80);
        assertThat(get("/")).contains("Content-Type: application/json\r\n", "ETag: \"1\"");
        assertThat(get("/fails"))
                .contains("Content-Type: text/plain", "Cache-Control: no-store\r\n")
                .doesNotContain("application/json", "ETag");
    }

    @Clause("H-7")
    @Test
    void headersOfMiddleware_withoutARoute_survive_besideAllow() {
        server.use(
                        (request, response, next) -> {
                            response.header("X-Middleware", "kept");
                            return next.handle(request, response);
                        })
                .get("/", (_, response) -> response.text("hello"))
                .listen(80);
        assertThat(get("/missing"))
                .startsWith("HTTP/1.1 404 ")
                .contains("X-Middleware: kept\r\n")
                .doesNotContain("Allow");
        assertThat(send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"))
                .startsWith("HTTP/1.1 405 ")
                .contains("X-Middleware: kept\r\n", "Allow: ");
    }

    @Clause("H-7")
    @Test
    void headersOfOneRequest_areNotSentWithTheNextOne() {
        server.use(
                        (request, response, next) -> {
                            if (request.path().equals("/first")) {
                                response.header("X-First", "first");
                            }
                            return next.handle(request, response);
                        })
                .get("/first", (_, response) -> fail(response))
                .get("/second", (_, response) -> fail(response))
                .listen(80);
        String both =
                send(
                        "GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost:"
                                + " a\r\n\r\n");
        assertThat(both.split("X-First", -1)).hasSize(2);
        assertThat(get("/second")).doesNotContain("X-First");
    }
}
