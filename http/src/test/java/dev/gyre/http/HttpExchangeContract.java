package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.Promise;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/// What belongs to one exchange and to no other, as every backend keeps it: which host and target it
/// is for, how long a request and its response can be used, and which promise ends them.
abstract class HttpExchangeContract extends HttpFixture {
    private static final Attribute<String> USER = Attribute.of("user");

    private final List<Request> requests = new ArrayList<>();
    private final List<Response> responses = new ArrayList<>();

    // ------------------------------------------------------------------ targets and hosts

    @Test
    @Clause("H-1")
    void hostOfTheTarget_goesBeforeTheHostHeader() {
        server.get("/a", (request, response) -> response.text(request.header("Host")));
        Talk talk = connect();
        talk.send("GET http://b:8080/a HTTP/1.1\r\nHost: c\r\n\r\n");
        assertThat(talk.answer(200)).isEqualTo("b:8080");
        talk.sendInPieces("GET http://b/a HTTP/1.1\r\nX: 1\r\nHost:\r\n\r\n", 1);
        assertThat(talk.answer(200)).isEqualTo("b");
        assertThat(talk.send("GET /a HTTP/1.1\r\nHost: c\r\n\r\n").answer(200)).isEqualTo("c");
    }

    @Test
    @Clause("H-1")
    void httpsTarget_onAConnectionWithoutTls_isRefusedWith421_andTheConnectionClosed() {
        List<String> refused = new ArrayList<>();
        server.use(
                        new Middleware() {
                            @Override
                            public Promise<?> handle(
                                    Request request, Response response, Handler next)
                                    throws Exception {
                                return next.handle(request, response);
                            }

                            @Override
                            public void onRejected(RejectedRequest request) {
                                refused.add(request.method() + " " + request.target());
                            }
                        })
                .get("/", (_, response) -> response.text("secret"));
        Talk talk = connect();
        talk.send("GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n" + request("/"));
        assertThat(talk.all())
                .startsWith("HTTP/1.1 421 Misdirected Request\r\n")
                .contains("no TLS")
                .doesNotContain("secret");
        assertThat(refused).containsExactly("GET https://a/");
    }

    @Test
    @Clause("H-1")
    void targetsAndHosts_thatAreNone_areRefusedWith400() {
        server.get("/{rest...}", (_, response) -> response.text("served"));
        for (String target : List.of("/%", "/%4", "/a?b=%zz", "/a|b", "/a?{b}", "/<a>", "/a\\b")) {
            assertThat(get(target)).as(target).startsWith("HTTP/1.1 400 ");
        }
        assertThat(get("/a[1]?b[]=%5B%5d")).endsWith("served");
        for (String host : List.of("[1::2::3]", "[::1%25eth0]", "[1.2.3.4]", "[v1]", "[]")) {
            assertThat(ask("GET / HTTP/1.1\r\nHost: " + host, ""))
                    .as(host)
                    .startsWith("HTTP/1.1 400 ");
        }
        assertThat(ask("GET / HTTP/1.1\r\nHost: [::ffff:1.2.3.4]:80", "")).endsWith("served");
    }

    @Test
    @Clause("H-1")
    void whiteSpaceAroundChunkExtensions_isTaken_andNowhereElse() {
        server.post("/", (request, response) -> request.body().text().then(response::text));
        String head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        Talk talk = connect();
        talk.sendInPieces(head + "2 \t; a = \"b\" ;\tc\r\nhi\r\n0 ;d\r\n\r\n", 3);
        assertThat(talk.answer(200)).isEqualTo("hi");
        for (String line : List.of("2 ", " 2", "2;a ", "2;a= ", "2 \n")) {
            assertThat(connect().send(head + line + "\r\nhi\r\n0\r\n\r\n").all())
                    .as(line)
                    .startsWith("HTTP/1.1 400 ");
        }
    }

    // ------------------------------------------------------------------ lifetime

    /// A route that responds at once and keeps what it was given.
    private void serveAndKeep() {
        server.get(
                "/keep",
                (request, response) -> {
                    requests.add(request);
                    responses.add(response);
                    return response.text("kept");
                });
    }

    /// Every way to use a request and a response.
    private static Map<String, Callable<?>> uses(Request request, Response response) {
        Map<String, Callable<?>> uses = new LinkedHashMap<>();
        uses.put("status", () -> response.status(201));
        uses.put("status()", response::status);
        uses.put("header", () -> response.header("X-Late", "1"));
        uses.put("addHeader", () -> response.addHeader("X-Late", "1"));
        uses.put("header()", () -> response.header("X-Late"));
        uses.put("type", () -> response.type("text/late"));
        uses.put("send", response::send);
        uses.put("send bytes", () -> response.send(new byte[1]));
        uses.put("text", () -> response.text("late"));
        uses.put("html", () -> response.html("late"));
        uses.put("json", () -> response.json("late"));
        uses.put("redirect", () -> response.redirect(303, "/late"));
        uses.put("file", () -> response.sendFile(Path.of("late")));
        uses.put("stream", response::stream);
        uses.put("events", response::events);
        uses.put("isCommitted", response::isCommitted);
        uses.put("onComplete", () -> response.onComplete(() -> {}));
        uses.put("isTruncated", response::isTruncated);
        uses.put("bodyBytes", response::bodyBytes);
        uses.put("method", request::method);
        uses.put("target", request::target);
        uses.put("path", request::path);
        uses.put("query", request::query);
        uses.put("queries", () -> request.queryParams("a"));
        uses.put("isHttp10", request::isHttp10);
        uses.put("headers", request::headers);
        uses.put("header of the request", () -> request.header("Authorization"));
        uses.put("body", request::body);
        uses.put("get", () -> request.get(USER));
        uses.put("set", () -> request.set(USER, "late"));
        uses.put("peer", request::remoteAddress);
        uses.put("tls", request::tls);
        uses.put("cancellation", request::cancellation);
        return uses;
    }

    private void assertOver() {
        uses(requests.getFirst(), responses.getFirst())
                .forEach(
                        (name, use) ->
                                assertThatThrownBy(use::call)
                                        .as(name)
                                        .isInstanceOf(IllegalStateException.class)
                                        .hasMessageContaining("has ended")
                                        .hasMessageContaining("onComplete"));
        assertThat(requests.getFirst()).hasToString("a request that has ended");
    }

    @Test
    @Clause("H-5")
    void responseKept_usedByTheNextHandler_throws_andTouchesNothing() {
        serveAndKeep();
        server.get(
                "/next",
                (request, response) -> {
                    assertOver();
                    return response.text(request.target() + " " + request.get(USER));
                });
        Talk same = connect();
        assertThat(same.send(request("/keep")).answer(200)).isEqualTo("kept");
        same.send(request("/next")).await("/next");
        String intact = same.received();
        assertThat(intact)
                .startsWith("HTTP/1.1 200 ")
                .doesNotContain("Late")
                .endsWith("/next null");
        assertThat(connect().send(request("/next")).await("/next").received())
                .as("on another connection of the loop")
                .hasSameSizeAs(intact)
                .endsWith("/next null");
    }

    @Test
    @Clause("H-5")
    void responseKept_usedByATimer_whileAnotherRequestIsOpen_throws_andTouchesNothing() {
        serveAndKeep();
        Deferred<String> slow = loop.deferred();
        server.get("/slow", (_, response) -> slow.promise().then(response::text));
        assertThat(connect().send(request("/keep")).answer(200)).isEqualTo("kept");
        assertOver();

        Talk other = connect();
        other.send(request("/slow"));
        runUntil("the slow one is open", () -> server.activeConnections() == 1);
        List<Throwable> thrown = new ArrayList<>();
        loop.after(Duration.ofMillis(1), _ -> thrown.add(catchThrowable(this::assertOver)));
        runUntil("the timer has fired", () -> !thrown.isEmpty());
        assertThat(thrown).containsOnlyNulls();
        slow.resolve("its own");
        assertThat(other.answer(200)).isEqualTo("its own");
    }

    @Test
    @Clause("H-5")
    void responseKept_usedByAnotherThread_throws_whoseverTurnItIs() {
        serveAndKeep();
        List<Throwable> seen = new ArrayList<>();
        Runnable misuse = () -> seen.add(catchThrowable(() -> responses.getFirst().text("late")));
        server.get(
                        "/next",
                        (_, response) -> {
                            Thread.startVirtualThread(misuse).join();
                            return response.text("its own");
                        })
                .blocking(
                        "GET",
                        "/blocking",
                        (_, response) -> {
                            assertOver();
                            response.text("its own");
                        });
        assertThat(connect().send(request("/keep")).answer(200)).isEqualTo("kept");
        assertThat(connect().send(request("/next")).answer(200)).isEqualTo("its own");
        assertThat(seen).singleElement().isInstanceOf(WrongThreadException.class);
        assertThat(connect().send(request("/blocking")).answer(200)).isEqualTo("its own");
    }

    @Test
    @Clause("H-5")
    void bodiesAndStreamsKept_usedByTheNextHandler_touchNothing() {
        List<Callable<?>> uses = new ArrayList<>();
        server.get(
                        "/stream",
                        (request, response) -> {
                            Body none = request.body();
                            ResponseStream out = response.stream();
                            uses.add(() -> out.write("late"));
                            uses.add(out::end);
                            uses.add(() -> out.trailer("X-Late", "1"));
                            uses.add(() -> out.onWritable(() -> {}));
                            uses.add(none::bytes);
                            uses.add(none::text);
                            uses.add(() -> none.onData(data -> {}));
                            uses.add(() -> none.onEnd(() -> {}));
                            uses.add(() -> request.headers().get("Host"));
                            return out.end();
                        })
                .get(
                        "/events",
                        (_, response) -> {
                            EventStream events = response.events();
                            uses.add(() -> events.send("late"));
                            events.close();
                            return events.closed();
                        })
                .post(
                        "/body",
                        (request, response) -> {
                            Body body = request.body();
                            uses.add(body::bytes);
                            uses.add(() -> body.onData(data -> {}));
                            uses.add(
                                    () -> {
                                        body.resume();
                                        return body;
                                    });
                            return response.text("unread");
                        })
                .get(
                        "/next",
                        (_, response) -> {
                            for (Callable<?> use : uses) {
                                Throwable thrown = catchThrowable(use::call);
                                if (thrown != null) {
                                    assertThat(thrown).isInstanceOf(IllegalStateException.class);
                                }
                            }
                            return response.text("its own");
                        });
        Talk talk = connect();
        talk.send(request("/stream")).await("0\r\n\r\n").forget();
        talk.send("POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
        assertThat(talk.answer(200)).isEqualTo("unread");
        talk.send(request("/events")).await("0\r\n\r\n").forget();
        talk.send(request("/next")).await("its own");
        assertThat(talk.received()).doesNotContain("late").doesNotContain("Late");
        assertThat(talk.answer(200)).isEqualTo("its own");
        assertThat(talk.send(request("/next")).answer(200)).isEqualTo("its own");
    }

    @Test
    @Clause("H-5")
    void fileBegun_andSomethingElseSent_comesToNobodyElse(@TempDir Path directory)
            throws IOException {
        Path file = Files.writeString(directory.resolve("a.txt"), "of the first");
        List<Promise<?>> files = new ArrayList<>();
        Deferred<String> slow = loop.deferred();
        server.get(
                        "/both",
                        (_, response) -> {
                            files.add(response.sendFile(file));
                            return response.text("text");
                        })
                .get("/slow", (_, response) -> slow.promise().then(response::text));
        Talk talk = connect();
        talk.send(request("/both") + request("/slow"));
        assertThat(talk.answer(200)).isEqualTo("text");
        runUntil("the file was looked for", () -> files.getFirst().isSettled());
        assertThat(talk.received()).isEmpty();
        slow.resolve("its own");
        assertThat(talk.answer(200)).isEqualTo("its own");
    }

    @Test
    @Clause("H-5")
    void middleware_thatPassesOnTheResponseOfAnotherRequest_isMisuse() {
        serveAndKeep();
        server.use(
                        (request, response, next) ->
                                request.target().equals("/mixed")
                                        ? next.handle(request, responses.getFirst())
                                        : next.handle(request, response))
                .get("/mixed", (_, response) -> response.text("mixed"));
        assertThat(connect().send(request("/keep")).answer(200)).isEqualTo("kept");
        assertThat(connect().send(request("/mixed")).answer(500)).isEqualTo("internal error\n");
    }

    @Test
    @Clause("H-5")
    void requestAndResponse_areSealed_soThatMiddlewareDecoratesThemByAttributesOnly() {
        assertThat(Request.class.isSealed()).isTrue();
        assertThat(Response.class.isSealed()).isTrue();
    }

    // ------------------------------------------------------------------ promises of promises

    @Test
    @Clause("H-5")
    void promise_thatResolvesToAPromise_isFollowed_howeverDeep(@TempDir Path directory)
            throws IOException {
        Path file = Files.writeString(directory.resolve("a.txt"), "content");
        server.get("/file", (_, response) -> later().then(_ -> response.sendFile(file)))
                .get("/text", (_, response) -> later().then(_ -> response.text("text")))
                .get(
                        "/deep",
                        (_, response) ->
                                later().then(_ -> later().then(_ -> response.sendFile(file))))
                .get("/missing", (_, response) -> later().then(_ -> response.sendFile(directory)))
                .get("/open", (_, _) -> later().then(_ -> later()));
        Talk talk = connect();
        assertThat(talk.send(request("/file")).answer(200)).isEqualTo("content");
        assertThat(talk.send(request("/text")).answer(200)).isEqualTo("text");
        assertThat(talk.send(request("/deep")).answer(200)).isEqualTo("content");
        assertThat(talk.send(request("/missing")).answer(404)).contains("no resource at");
        assertThat(talk.send(request("/open")).answer(500)).isEqualTo("internal error\n");
    }

    private Promise<?> later() {
        return Promise.delay(loop, Duration.ofMillis(1));
    }

    @Test
    @Clause("H-5")
    void promise_thatResolvesToARejectedOne_isAFailureOfTheHandler() {
        Promise.Handler<Object, Object> taken =
                _ -> {
                    throw new HttpException(409, "taken");
                };
        server.get("/thrown", (_, _) -> later().then(_ -> later().then(taken)))
                .get(
                        "/error",
                        (_, _) -> {
                            throw new HttpException(410, "gone");
                        })
                .onError(
                        Throwable.class,
                        (failure, _, response) -> {
                            int status = ((HttpException) failure).status();
                            return later().then(_ -> response.status(status).text("on error"));
                        });
        Talk talk = connect();
        assertThat(talk.send(request("/thrown")).answer(409)).isEqualTo("on error");
        assertThat(talk.send(request("/error")).answer(410)).isEqualTo("on error");
    }

    @Test
    @Clause("H-5")
    void promise_thatResolvesToItself_isAFailureOfTheHandler() {
        Deferred<Object> one = loop.deferred();
        one.resolve(one.promise());
        Deferred<Object> first = loop.deferred();
        Deferred<Object> second = loop.deferred();
        first.resolve(second.promise());
        second.resolve(first.promise());
        server.get("/one", (_, _) -> one.promise()).get("/two", (_, _) -> first.promise());
        Talk talk = connect();
        assertThat(talk.send(request("/one")).answer(500)).isEqualTo("internal error\n");
        assertThat(talk.send(request("/two")).answer(500)).isEqualTo("internal error\n");
    }

    @Test
    @Clause("H-5")
    void promise_ofAnotherLoop_isFollowed() {
        try (EventLoop other = EventLoop.open()) {
            Deferred<String> value = other.deferred();
            HttpException taken = new HttpException(409, "taken");
            server.get(
                            "/direct",
                            (_, response) -> {
                                Promise<?> _ = response.text("direct");
                                return Promise.resolved(other, "done");
                            })
                    .get("/pending", (_, _) -> value.promise())
                    .get("/rejected", (_, _) -> later().then(_ -> Promise.rejected(other, taken)));
            Talk talk = connect();
            assertThat(talk.send(request("/direct")).answer(200)).isEqualTo("direct");
            assertThat(talk.send(request("/rejected")).answer(409)).isEqualTo("taken\n");
            talk.send(request("/pending"));
            runUntil("it is open", () -> server.activeConnections() == 1);
            value.resolve("nothing was sent");
            runUntil(
                    "the other loop has settled it, and this one has heard of it",
                    () -> {
                        other.runFor(Duration.ofMillis(1));
                        return !talk.received().isEmpty();
                    });
            assertThat(talk.answer(500)).isEqualTo("internal error\n");
        }
    }
}
