package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;

import org.junit.jupiter.api.Test;

import java.time.Duration;

/// What middleware and handlers are told of a request, beyond its bytes.
class RequestFacesTest extends HttpFixture {
    private static final Attribute<String> USER = Attribute.of("user");
    private static final Attribute<String> OTHER = Attribute.of("user");

    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config);
    }

    private void greet() {
        server.use(
                        (request, response, next) -> {
                            String user = request.queryParam("as");
                            return next.handle(
                                    user == null ? request : request.set(USER, user), response);
                        })
                .get("/now", (request, response) -> response.text("" + request.get(USER)))
                .get(
                        "/later",
                        (request, response) ->
                                Promise.delay(loop, Duration.ofMillis(1))
                                        .then(_ -> response.text("" + request.get(USER))))
                .get(
                        "/other",
                        (request, response) ->
                                response.text(
                                        request.get(OTHER)
                                                + " "
                                                + request.set(USER, null).get(USER)))
                .blocking(
                        "GET",
                        "/blocking",
                        (request, response) -> response.text("" + request.get(USER)));
    }

    @Test
    @Clause("H-5")
    void attribute_setByMiddleware_isThereForHandlersOfAnyKind() {
        greet();
        Talk talk = connect();
        for (String kind : new String[] {"/now", "/later", "/blocking"}) {
            assertThat(talk.send(request(kind + "?as=ada")).answer(200)).isEqualTo("ada");
        }
        assertThat(talk.send(request("/other?as=ada")).answer(200))
                .as("one of the same name, and one that was taken away")
                .isEqualTo("null null");
    }

    @Test
    @Clause("H-5")
    void attribute_ofOneRequest_isNotThatOfTheNext() {
        greet();
        Talk talk = connect();
        for (String kind : new String[] {"/now", "/later", "/blocking"}) {
            assertThat(talk.send(request(kind + "?as=ada")).answer(200)).isEqualTo("ada");
            assertThat(talk.send(request(kind)).answer(200)).isEqualTo("null");
        }
    }

    @Test
    @Clause("H-5")
    void query_badlyEncodedWhereNobodyAsks_costsNothing() {
        server.get("/", (request, response) -> response.text("" + request.queryParam("a")));
        assertThat(connect().send(request("/?%ff=1&b=%80&a=%31")).answer(200)).isEqualTo("1");
        assertThat(connect().send(request("/?a=%ff")).answer(400)).contains("UTF-8");
    }

    @Test
    @Clause("H-5")
    void queries_areAllValuesInTheirOrder() {
        server.get("/", (request, response) -> response.text("" + request.queryParams("a")));
        assertThat(contentOf(get("/?a=1&b=2&%61=x+y&a&a=%2C"))).isEqualTo("[1, x y, , ,]");
        assertThat(contentOf(get("/?b=%ff&%80"))).isEqualTo("[]");
        assertThat(contentOf(get("/"))).isEqualTo("[]");
        assertThat(get("/?a=1&a=%ff")).startsWith("HTTP/1.1 400 ");
    }

    @Test
    @Clause("H-5")
    void parameter_thatWouldLeadOutOfADirectory_isRefused() {
        server.get("/f/{rest...}", (request, response) -> response.text(request.pathParam("rest")))
                .get("/u/{id}", (request, response) -> response.text(request.pathParam("id")));
        for (String path :
                new String[] {
                    "/f/..%2f..%2fetc",
                    "/f/a/../b",
                    "/f/a/%2e%2E",
                    "/f/.",
                    "/f/a/./b",
                    "/f//etc/passwd",
                    "/f/%2fetc",
                    "/u/..",
                    "/u/%2e",
                    "/u/a%2f..%2fb",
                    "/u/%2Fetc"
                }) {
            assertThat(get(path)).as(path).startsWith("HTTP/1.1 400 ");
        }
        assertThat(get("/f/a/..b/c./...")).endsWith("a/..b/c./...");
        assertThat(get("/f/a//b/")).endsWith("a//b/");
        assertThat(get("/f/")).endsWith("\r\n\r\n");
        assertThat(get("/u/a%2Fb")).endsWith("a/b");
    }

    @Test
    @Clause("H-5")
    void patch_hasARouteOfItsOwn() {
        server.patch("/a", (request, response) -> response.text(request.method()));
        assertThat(ask("PATCH /a HTTP/1.1\r\nHost: a", "")).endsWith("PATCH");
    }
}
