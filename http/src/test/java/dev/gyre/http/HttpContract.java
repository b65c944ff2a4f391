package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.Promise;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Clauses H-2 and H-5 as every backend keeps them: requests are routed, and answered in order.
abstract class HttpContract extends HttpFixture {
    record User(long id, String name) {}

    // ------------------------------------------------------------------ routes

    @Test
    @Clause("H-5")
    void request_ofALiteralRoute_isAnsweredWithAllThatBelongsToAnAnswer() {
        server.get("/", (_, response) -> response.text("Hello, World!"));
        String answer = get("/");
        assertThat(answer)
                .startsWith("HTTP/1.1 200 OK\r\nServer: gyre\r\nDate: ")
                .contains("\r\nContent-Type: text/plain; charset=utf-8\r\n")
                .contains("\r\nContent-Length: 13\r\n")
                .contains("\r\nConnection: close\r\n")
                .endsWith("\r\n\r\nHello, World!");
    }

    @Test
    @Clause("H-5")
    void parameters_areDecoded_andASlashThatIsEncodedSeparatesNothing() {
        server.get(
                "/users/{id}/{what}",
                (q, r) -> r.text(q.pathParam("id") + "|" + q.pathParam("what")));
        assertThat(contentOf(get("/users/a%2Fb/gr%C3%BCn"))).isEqualTo("a/b|gr\u00c3\u00bcn");
        assertThat(get("/users/a/b/c")).startsWith("HTTP/1.1 404 ");
        assertThat(get("/users//b")).startsWith("HTTP/1.1 404 ");
        assertThat(get("/users/%zz/b")).startsWith("HTTP/1.1 400 ");
        assertThat(get("/users/%ff/b")).startsWith("HTTP/1.1 400 ");
    }

    @Test
    @Clause("H-5")
    void mostLiteralRoute_wins_whateverTheOrder() {
        server.get("/{rest...}", (q, r) -> r.text("rest " + q.pathParam("rest")))
                .get("/a/{x}", (q, r) -> r.text("parameter " + q.pathParam("x")))
                .get("/a/b", (_, r) -> r.text("literal"))
                .get("/a/{x}/c", (q, r) -> r.text("inner " + q.pathParam("x")));
        assertThat(contentOf(get("/a/b"))).isEqualTo("literal");
        assertThat(contentOf(get("/a/%62"))).isEqualTo("literal");
        assertThat(contentOf(get("/a/x"))).isEqualTo("parameter x");
        assertThat(contentOf(get("/a/b/c"))).isEqualTo("inner b");
        assertThat(contentOf(get("/a/b/d"))).isEqualTo("rest a/b/d");
        assertThat(contentOf(get("/"))).isEqualTo("rest ");
    }

    @Test
    @Clause("H-5")
    void patterns_thatAreNone_areRefusedWithTheReason() {
        Handler any = (_, response) -> response.send();
        server.get("/a/{x}", any);
        assertThatThrownBy(() -> server.get("a", any)).hasMessageContaining("begin with a slash");
        assertThatThrownBy(() -> server.get("/{x}y", any)).hasMessageContaining("not closed");
        assertThatThrownBy(() -> server.get("/y{x}", any)).hasMessageContaining("whole segment");
        assertThatThrownBy(() -> server.get("/{x...}/y", any)).hasMessageContaining("behind");
        assertThatThrownBy(() -> server.get("/{x}/{x}", any)).hasMessageContaining("its own");
        assertThatThrownBy(() -> server.get("/a/{y}", any)).hasMessageContaining("/a/{x}");
        assertThatThrownBy(() -> server.get("/a/{x}", any)).hasMessageContaining("twice");
        assertThatThrownBy(() -> server.route("get", "/b", any))
                .hasMessageContaining("capital letters");
    }

    @Test
    @Clause("H-5")
    void query_isDecoded_andNumbersAreChecked() {
        server.get(
                "/q",
                (q, r) ->
                        r.text(
                                q.queryParam("a b")
                                        + "|"
                                        + q.queryParam("none")
                                        + "|"
                                        + q.queryLong("n", 5, 0, 9)));
        assertThat(contentOf(get("/q?x=1&a%20b=c+d%2B&n=7"))).isEqualTo("c d+|null|7");
        assertThat(contentOf(get("/q"))).isEqualTo("null|null|5");
        assertThat(get("/q?n=10")).startsWith("HTTP/1.1 400 ").contains("from 0 to 9, but is 10");
        assertThat(get("/q?n=x")).startsWith("HTTP/1.1 400 ");
    }

    @Test
    @Clause("H-5")
    void methods_thatNobodyAnswers_areRefusedAsTheyShould() {
        server.get("/a", (_, r) -> r.text("a")).post("/a", (_, r) -> r.text("posted"));
        assertThat(ask("PUT /a HTTP/1.1\r\nHost: a", ""))
                .startsWith("HTTP/1.1 405 ")
                .contains("\r\nAllow: GET, HEAD, OPTIONS, POST\r\n");
        assertThat(ask("OPTIONS /a HTTP/1.1\r\nHost: a", ""))
                .startsWith("HTTP/1.1 204 ")
                .contains("\r\nAllow: GET, HEAD, OPTIONS, POST\r\n")
                .doesNotContain("Content-Length");
        assertThat(ask("OPTIONS * HTTP/1.1\r\nHost: a", "")).startsWith("HTTP/1.1 204 ");
        assertThat(ask("BREW /a HTTP/1.1\r\nHost: a", "")).startsWith("HTTP/1.1 501 ");
        assertThat(ask("BREW /b HTTP/1.1\r\nHost: a", "")).startsWith("HTTP/1.1 501 ");
        assertThat(ask("CONNECT a:80 HTTP/1.1\r\nHost: a:80", "")).startsWith("HTTP/1.1 501 ");
        assertThat(get("/b")).startsWith("HTTP/1.1 404 ");
    }

    @Test
    @Clause("H-2")
    void head_isAnsweredByGet_withoutItsContent() {
        server.get("/a", (_, response) -> response.text("four"))
                .get(
                        "/s",
                        (_, response) -> {
                            var stream = response.stream();
                            stream.write("more");
                            return stream.end();
                        });
        assertThat(ask("HEAD /a HTTP/1.1\r\nHost: a", ""))
                .contains("\r\nContent-Length: 4\r\n")
                .endsWith("\r\n\r\n");
        assertThat(ask("HEAD /s HTTP/1.1\r\nHost: a", "")).endsWith("\r\n\r\n");
    }

    // ------------------------------------------------------------------ handlers

    @Test
    @Clause("H-5")
    void handlers_ofAllThreeKinds_answerInOrderWhatWasSentAhead() {
        List<Deferred<String>> later = new ArrayList<>();
        server.get("/now", (_, response) -> response.text("now"))
                .get(
                        "/later",
                        (_, response) -> {
                            Deferred<String> promised = loop.deferred();
                            later.add(promised);
                            return promised.promise().then(response::text);
                        })
                .blocking("GET", "/blocking", (_, response) -> response.text("blocking"));
        Talk talk = connect();
        talk.send(
                request("/later")
                        + request("/now")
                        + request("/blocking")
                        + request("/now")
                        + request("/later"));
        runUntil("the first one waits", () -> later.size() == 1);
        turn();
        assertThat(talk.received()).isEmpty();
        later.get(0).resolve("one");
        assertThat(talk.answer(200)).isEqualTo("one");
        assertThat(talk.answer(200)).isEqualTo("now");
        assertThat(talk.answer(200)).isEqualTo("blocking");
        assertThat(talk.answer(200)).isEqualTo("now");
        runUntil("the last one waits", () -> later.size() == 2);
        later.get(1).resolve("two");
        assertThat(talk.answer(200)).isEqualTo("two");
        assertThat(talk.isOver()).isFalse();
    }

    @Test
    @Clause("H-5")
    void request_staysReadable_untilItIsAnswered() {
        Deferred<String> later = loop.deferred();
        List<Request> kept = new ArrayList<>();
        server.get(
                "/a/{x}",
                (request, response) -> {
                    kept.add(request);
                    return later.promise()
                            .then(
                                    _ ->
                                            response.text(
                                                    request.pathParam("x")
                                                            + request.header("X-Y")
                                                            + request.target()));
                });
        Talk talk = connect().send("GET /a/7 HTTP/1.1\r\nHost: a\r\nX-Y: z\r\n\r\n");
        runUntil("asked", () -> !kept.isEmpty());
        connect().send(request("/other")).await("404");
        later.resolve("");
        assertThat(talk.answer(200)).isEqualTo("7z/a/7");
        assertThatThrownBy(() -> kept.getFirst().target())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("has ended");
    }

    @Test
    @Clause("H-5")
    void failures_ofHandlers_areAnsweredAndCostNobodyElse() {
        server.get(
                        "/throws",
                        (_, _) -> {
                            throw new IllegalStateException("secret");
                        })
                .get(
                        "/refuses",
                        (_, _) -> {
                            throw new HttpException(409, "not now");
                        })
                .get(
                        "/rejects",
                        (_, _) -> Promise.rejected(loop, new IllegalStateException("secret")))
                .get("/forgets", (_, _) -> Promise.resolved(loop, null))
                .blocking(
                        "GET",
                        "/blocking",
                        (_, _) -> {
                            throw new HttpException(418, "tea");
                        })
                .get("/fine", (_, response) -> response.text("fine"));
        Talk talk = connect();
        talk.send(
                request("/throws")
                        + request("/refuses")
                        + request("/rejects")
                        + request("/forgets")
                        + request("/blocking")
                        + request("/fine"));
        assertThat(talk.answer(500)).isEqualTo("internal error\n");
        assertThat(talk.answer(409)).isEqualTo("not now\n");
        assertThat(talk.answer(500)).isEqualTo("internal error\n");
        assertThat(talk.answer(500)).isEqualTo("internal error\n");
        assertThat(talk.answer(418)).isEqualTo("tea\n");
        assertThat(talk.answer(200)).isEqualTo("fine");
    }

    @Test
    @Clause("H-5")
    void failure_inTheMiddleOfAnAnswer_cutsItOff() {
        server.get(
                "/a",
                (_, response) -> {
                    response.stream().write("some");
                    throw new IllegalStateException("on purpose");
                });
        Talk talk = connect().send(request("/a"));
        runUntil("cut off", talk::isOver);
        assertThat(talk.received()).doesNotContain("0\r\n\r\n");
    }

    @Test
    @Clause("H-5")
    void errorHandler_answersInstead() {
        server.get(
                        "/a",
                        (_, _) -> {
                            throw new IllegalStateException("why");
                        })
                .onError(
                        Throwable.class,
                        (failure, _, response) -> response.status(502).text(failure.getMessage()));
        assertThat(get("/a")).startsWith("HTTP/1.1 502 ").endsWith("why");
        server.onError(
                Throwable.class,
                (_, _, _) -> {
                    throw new IllegalStateException("again");
                });
        assertThat(get("/a")).startsWith("HTTP/1.1 500 ").endsWith("internal error\n");
    }

    @Test
    @Clause("H-5")
    void middleware_runsInOrderAroundEveryRequest() {
        List<String> order = new ArrayList<>();
        server.get(
                        "/a",
                        (_, response) -> {
                            order.add("handler");
                            return response.text("a");
                        })
                .use(
                        (request, response, next) -> {
                            order.add("first");
                            response.onComplete(() -> order.add("done " + response.status()));
                            return next.handle(request, response);
                        })
                .use(
                        (request, response, next) -> {
                            order.add("second");
                            return request.path().equals("/stop")
                                    ? response.status(403).text("no")
                                    : next.handle(request, response.header("X-M", "1"));
                        });
        assertThat(get("/a")).contains("\r\nX-M: 1\r\n");
        assertThat(get("/stop")).startsWith("HTTP/1.1 403 ");
        assertThat(get("/none")).startsWith("HTTP/1.1 404 ");
        assertThat(order)
                .containsExactly(
                        "first",
                        "second",
                        "handler",
                        "done 200",
                        "first",
                        "second",
                        "done 403",
                        "first",
                        "second",
                        "done 404");
    }

    @Test
    @Clause("H-5")
    void json_isMadeOfRecordsAndCollections() {
        server.get("/j", (_, r) -> r.json(Map.of("users", List.of(new User(7, "A\"\n\u2028")))))
                .get("/bad", (_, r) -> r.json(new Object()));
        assertThat(get("/j")).contains("\r\nContent-Type: application/json\r\n");
        assertThat(contentOf(get("/j"))).startsWith("{\"users\":[{\"id\":7,\"name\":\"A\\\"\\n");
        assertThat(get("/bad")).startsWith("HTTP/1.1 500 ");
    }

    // ------------------------------------------------------------------ answers

    @Test
    @Clause("H-2")
    void fields_thatWouldBeMoreThanOneLine_areRefused() {
        List<Throwable> refused = new ArrayList<>();
        server.get(
                "/a",
                (_, response) -> {
                    for (String[] field :
                            new String[][] {
                                {"X", "a\r\nb"},
                                {"X\r\n", "a"},
                                {"", "a"},
                                {"X Y", "a"},
                                {"X", "\0"},
                                {"Transfer-Encoding", "chunked"}
                            }) {
                        try {
                            response.header(field[0], field[1]);
                        } catch (IllegalArgumentException e) {
                            refused.add(e);
                        }
                    }
                    return response.send();
                });
        assertThat(get("/a")).startsWith("HTTP/1.1 200 ");
        assertThat(refused).hasSize(6);
    }

    @Test
    @Clause("H-2")
    void secondAnswer_isMisuse_andTheFirstOneStands() {
        List<String> messages = new ArrayList<>();
        server.get(
                "/a",
                (_, response) -> {
                    Promise<?> done = response.text("one");
                    try {
                        response.text("two");
                    } catch (IllegalStateException e) {
                        messages.add(e.getMessage());
                    }
                    return done;
                });
        assertThat(get("/a")).endsWith("one");
        assertThat(messages).containsExactly("the response is already sent, with status 200");
    }

    @Test
    @Clause("H-2")
    void status_withoutContent_hasNone() {
        server.get("/204", (_, r) -> r.status(204).text("ignored"))
                .get("/304", (_, r) -> r.status(304).header("ETag", "\"x\"").send())
                .get("/205", (_, r) -> r.status(205).send());
        assertThat(get("/204")).endsWith("\r\n\r\n").doesNotContain("Content-Length");
        assertThat(get("/304")).endsWith("\r\n\r\n").doesNotContain("Content-Length");
        assertThat(get("/205")).contains("\r\nContent-Length: 0\r\n");
    }

    @Test
    @Clause("H-2")
    void connection_isKeptOrClosed_asVersionAndFieldSay() {
        server.get("/", (_, response) -> response.text("a"))
                .get("/close", (_, r) -> r.header("Connection", "close").text("b"));
        Talk kept = connect().send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        kept.await("\r\nConnection: keep-alive\r\n");
        assertThat(kept.answer(200)).isEqualTo("a");
        kept.send("GET / HTTP/1.0\r\n\r\n");
        assertThat(kept.all()).contains("\r\nConnection: close\r\n").endsWith("a");
        assertThat(connect().send(request("/close")).all()).endsWith("b");
        Talk eleven = connect().send(request("/") + request("/"));
        assertThat(eleven.answer(200) + eleven.answer(200)).isEqualTo("aa");
        assertThat(eleven.isOver()).isFalse();
    }

    @Test
    @Clause("H-2")
    void manyRequests_sentAhead_areAllAnswered_andOthersHaveTheirTurn() {
        int many = 3_000;
        List<String> order = new ArrayList<>();
        server.get(
                        "/a",
                        (_, response) -> {
                            order.add("a");
                            return response.text("a");
                        })
                .get(
                        "/b",
                        (_, response) -> {
                            order.add("b");
                            return response.text("b");
                        });
        Talk greedy = connect();
        Talk modest = connect();
        greedy.send(request("/a").repeat(many));
        modest.send(request("/b"));
        modest.await("b");
        runUntil("all are answered", () -> order.size() == many + 1);
        assertThat(order.indexOf("b"))
                .as("how many were answered before another one's")
                .isLessThan(many / 2);
        runUntil(
                "all arrive", () -> greedy.received().split("HTTP/1.1 200", -1).length == many + 1);
    }

    @Test
    @Clause("H-2")
    void peer_thatEndsItsOutput_isAnsweredStill() {
        Deferred<String> later = loop.deferred();
        server.get("/later", (_, response) -> later.promise().then(response::text));
        Talk talk = connect().send(request("/later"));
        talk.stream().end();
        turn();
        turn();
        later.resolve("done");
        assertThat(talk.all()).endsWith("done");
    }
}
