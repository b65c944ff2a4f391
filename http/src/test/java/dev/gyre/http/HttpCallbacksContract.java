package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.Timer;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Clauses H-4 and H-5 as every backend keeps them: whatever a handler's callbacks do, its request comes to an end, and
/// the others are served.
@SuppressWarnings("StringConcatToTextBlock") // each line's end is part of what is said
abstract class HttpCallbacksContract extends HttpFixture {
    private static final Duration TICK = Duration.ofMillis(1);

    private static String head(String target) {
        return "HEAD " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
    }

    private static String post(String target, int length, String content) {
        return "POST "
                + target
                + " HTTP/1.1\r\nHost: a\r\nContent-Length: "
                + length
                + "\r\n\r\n"
                + content;
    }

    private static IllegalStateException onPurpose() {
        return new IllegalStateException("on purpose");
    }

    /// Whether the connection goes on, or else a new one works.
    private void assertServes(Talk talk) {
        server.get("/alive", (_, response) -> response.text("alive"));
        assertThat(talk.send(request("/alive")).answer(200)).isEqualTo("alive");
    }

    // ------------------------------------------------------------------ streams without content

    @Test
    @Clause("H-4")
    void stream_ofAnAnswerWithoutContent_isClosedFromTheBeginning() {
        List<String> said = new ArrayList<>();
        Handler endless =
                (_, response) -> {
                    ResponseStream out = response.stream();
                    said.add("open " + out.isOpen());
                    out.onClose(() -> said.add("closed"));
                    for (int i = 0; i < 1_000 && out.write("on and on"); i++) {
                        said.add("written");
                    }
                    out.trailer("X-Sum", "1").flush();
                    Promise<?> ended = out.end();
                    said.add("write " + out.write("more"));
                    return ended;
                };
        server.get("/endless", endless)
                .get("/204", (q, r) -> endless.handle(q, r.status(204)))
                .get("/304", (q, r) -> endless.handle(q, r.status(304)))
                .get("/long", (q, r) -> endless.handle(q, r.header("Content-Length", "9000")));
        Talk talk = connect();
        for (String request :
                List.of(head("/endless"), request("/204"), request("/304"), head("/long"))) {
            talk.send(request).await("\r\n\r\n");
            assertThat(talk.received()).endsWith("\r\n\r\n");
            assertThat(said).containsExactly("open false", "closed", "write false");
            assertThat(talk.received().contains("Content-Length: 9000"))
                    .isEqualTo(request.contains("/long"));
            said.clear();
            talk.forget();
        }
        assertServes(talk);
    }

    @Test
    @Clause("H-4")
    void events_withATimer_ofHeadOfAPeerThatIsGoneAndOfAnEnd_leaveNoTimer() {
        List<Timer> timers = new ArrayList<>();
        List<String> failures = new ArrayList<>();
        List<Request> waiting = new ArrayList<>();
        var late = loop.<String>deferred();
        Handler events =
                (request, response) -> {
                    EventStream out = response.events();
                    timers.add(
                            loop.every(
                                    TICK,
                                    _ -> {
                                        try {
                                            out.send("tick");
                                        } catch (IllegalStateException e) {
                                            failures.add(e.getMessage());
                                        }
                                    }));
                    out.send("first");
                    out.onClose(timers.getLast()::cancel);
                    return out.closed();
                };
        server.get("/events", events)
                .get(
                        "/late",
                        (request, response) -> {
                            waiting.add(request);
                            return late.promise()
                                    .thenCompose(
                                            _ -> (Promise<?>) events.handle(request, response));
                        })
                .get("/", (_, response) -> response.text("next"));
        Talk talk = connect();
        talk.send(head("/events")).await("\r\n\r\n").forget();
        assertThat(talk.send(request("/")).answer(200)).isEqualTo("next");

        Talk gone = connect().send(request("/late"));
        runUntil("asked", () -> !waiting.isEmpty());
        gone.stream().abort();
        runUntil("gone", () -> server.connections() == 1);
        late.resolve("now");
        runUntil("begun", () -> timers.size() == 2);

        Talk drained = connect().send(request("/events"));
        drained.await("data: first");
        Promise<?> over = server.drain(Duration.ofSeconds(5));
        drained.await("0\r\n\r\n").stream().close();
        talk.stream().close();
        runUntil("drained", over::isSettled);
        turn();
        assertThat(timers).hasSize(3).noneMatch(Timer::isScheduled);
        assertThat(failures).isEmpty();
    }

    @Test
    @Clause("H-4")
    void onClose_isCalledOnce_whetherTheStreamIsEndedBeforeOrAfter() {
        List<String> said = new ArrayList<>();
        server.get(
                "/a",
                (_, response) -> {
                    ResponseStream out = response.stream();
                    out.onClose(() -> said.add("before"));
                    out.onClose(
                            () -> {
                                throw onPurpose();
                            });
                    out.write("a");
                    Promise<?> ended = out.end();
                    out.onClose(() -> out.onClose(() -> said.add("after")));
                    try {
                        out.write("b");
                    } catch (IllegalStateException e) {
                        said.add(e.getMessage());
                    }
                    return ended;
                });
        Talk talk = connect().send(request("/a")).await("0\r\n\r\n");
        assertThat(said).containsExactly("before", "after", "the body has been ended");
        talk.forget();
        assertServes(talk);
    }

    // ------------------------------------------------------------------ null

    @Test
    @Clause("H-5")
    void null_ofAHandler_isWhatWasAnsweredOr500_andAnswersBeforeItArrive() {
        server.get("/fine", (_, response) -> response.text("fine"))
                .get("/null", (_, _) -> null)
                .get(
                        "/answered",
                        (_, response) -> {
                            response.text("answered");
                            return null;
                        })
                .post(
                        "/answered",
                        (_, response) -> {
                            response.text("posted");
                            return null;
                        });
        Talk talk =
                connect()
                        .send(
                                request("/fine")
                                        + request("/null")
                                        + request("/answered")
                                        + post("/answered", 3, "abc")
                                        + request("/fine"));
        assertThat(talk.answer(200)).isEqualTo("fine");
        assertThat(talk.answer(500)).isEqualTo("internal error\n");
        assertThat(talk.answer(200)).isEqualTo("answered");
        assertThat(talk.answer(200)).isEqualTo("posted");
        assertThat(talk.answer(200)).isEqualTo("fine");
    }

    @Test
    @Clause("H-5")
    void null_ofMiddlewareAndOfAnErrorHandler_isWhatWasAnsweredOr500() {
        List<String> told = new ArrayList<>();
        server.use(
                        (request, response, next) -> {
                            next.handle(request, response).then(_ -> told.add("outer"));
                            return null;
                        })
                .use(
                        (request, response, next) ->
                                request.path().equals("/middle")
                                        ? null
                                        : next.handle(request, response))
                .get("/null", (_, _) -> null)
                .get("/fine", (_, response) -> response.text("fine"))
                .onError(
                        Throwable.class,
                        (failure, request, response) -> {
                            told.add(failure.getMessage());
                            return null;
                        });
        Talk talk = connect().send(request("/null") + request("/middle") + request("/fine"));
        assertThat(talk.answer(500) + talk.answer(500))
                .isEqualTo("internal error\ninternal error\n");
        assertThat(talk.answer(200)).isEqualTo("fine");
        runUntil("told", () -> told.size() == 3);
        assertThat(told.get(0))
                .contains("GET /null", "null", "return the promise of response.text(…)");
        assertThat(told.get(1)).contains("GET /middle");
        assertThat(told.get(2)).isEqualTo("outer");
    }

    @Test
    @Clause("H-5")
    void errorHandler_thatThrowsWhatItWasGiven_leavesItToTheUsualAnswer() {
        server.get(
                        "/missing",
                        (_, _) -> {
                            throw new HttpException(404, "not there");
                        })
                .get("/later", (_, _) -> Promise.rejected(loop, new HttpException(409, "taken")))
                .onError(
                        Throwable.class,
                        (failure, request, _) -> {
                            if (request.path().equals("/later")) {
                                return Promise.rejected(loop, failure);
                            }
                            throw (Exception) failure;
                        });
        Talk talk = connect().send(request("/missing") + request("/later"));
        assertThat(talk.answer(404)).isEqualTo("not there\n");
        assertThat(talk.answer(409)).isEqualTo("taken\n");
        assertServes(talk);
    }

    // ------------------------------------------------------------------ callbacks that throw

    @Test
    @Clause("H-5")
    void onFailure_thatThrows_keepsNobodyFromTheAnswerNorTheEnd() {
        configure(HttpConfig.DEFAULT.withMaxBody(10));
        server.post(
                "/a",
                (request, _) -> {
                    request.body()
                            .onFailure(
                                    _ -> {
                                        throw onPurpose();
                                    })
                            .onData(_ -> {});
                    return loop.deferred().promise();
                });
        String chunked =
                "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n";
        assertThat(connect().send(chunked + "ff\r\n" + "y".repeat(255)).all())
                .startsWith("HTTP/1.1 413 ");
        Talk half = connect().send(chunked);
        turn();
        half.stream().end();
        runUntil("closed", half::isOver);
        half.stream().close();
        runUntil("forgotten", () -> server.connections() == 0);
    }

    @Test
    @Clause("H-5")
    void onData_thatThrows_isAnsweredWith500_andTheConnectionClosedAsItSays() {
        server.post(
                "/a",
                (request, _) -> {
                    request.body()
                            .onData(
                                    _ -> {
                                        throw new NoClassDefFoundError("a/B");
                                    });
                    return loop.deferred().promise();
                });
        String answer = connect().send(post("/a", 9, "abc")).all();
        assertThat(answer).startsWith("HTTP/1.1 500 ").contains("\r\nConnection: close\r\n");
    }

    @Test
    @Clause("H-5")
    void onEnd_thatThrows_isAnsweredWith500_andTheConnectionKept() {
        server.any(
                "/a",
                (request, _) -> {
                    request.body()
                            .onData(_ -> {})
                            .onEnd(
                                    () -> {
                                        throw new NoClassDefFoundError("a/B");
                                    });
                    return loop.deferred().promise();
                });
        Talk talk = connect().send(post("/a", 3, "abc") + request("/a") + post("/a", 3, "abc"));
        for (int i = 0; i < 3; i++) {
            talk.await("\r\n\r\n");
            assertThat(talk.received().lines().takeWhile(line -> !line.isEmpty()))
                    .doesNotContain("Connection: close");
            assertThat(talk.answer(500)).isEqualTo("internal error\n");
        }
        assertServes(talk);
    }

    @Test
    @Clause("H-5")
    void onWritable_thatThrows_cutsTheAnswerOff() {
        server.get(
                "/a",
                (_, response) -> {
                    ResponseStream out = response.stream();
                    out.onWritable(
                            () -> {
                                throw onPurpose();
                            });
                    boolean room = true;
                    while (room) {
                        room = out.write(new byte[16 << 10]);
                    }
                    return loop.deferred().promise();
                });
        Talk talk = connect();
        talk.count();
        talk.send(request("/a"));
        runUntil("cut off", talk::isOver);
        talk.stream().close();
        runUntil("forgotten", () -> server.connections() == 0);
    }

    @Test
    @Clause("H-5")
    void onDone_addedByOneOfThem_orAfterTheEnd_isCalledInItsTurn() {
        List<String> said = new ArrayList<>();
        server.any(
                "/a",
                (_, response) -> {
                    response.onComplete(
                                    () -> {
                                        said.add("first");
                                        response.onComplete(() -> said.add("third"));
                                    })
                            .onComplete(() -> said.add("second"));
                    return Promise.delay(loop, TICK)
                            .thenCompose(
                                    _ -> {
                                        Promise<?> answered = response.text("a");
                                        if (said.size() == 3) {
                                            said.add("told");
                                        }
                                        return answered;
                                    });
                });
        Talk talk = connect().send(request("/a"));
        assertThat(talk.answer(200)).isEqualTo("a");
        assertThat(said).containsExactly("first", "second", "third", "told");
        assertServes(talk);
    }

    @Test
    @Clause("H-2")
    void contentThatIsNone_readTwice_isMisuseAsOfContentThatThereIs() {
        server.any(
                "/a",
                (request, response) -> {
                    Promise<byte[]> _ = request.body().bytes();
                    try {
                        return request.body().text();
                    } catch (IllegalStateException e) {
                        return response.text(e.getMessage());
                    }
                });
        Talk talk = connect().send(request("/a") + post("/a", 1, "x"));
        assertThat(talk.answer(200)).contains("already").isEqualTo(talk.answer(200));
    }

    @Test
    @Clause("H-2")
    void content_collected_hasNoCallbacksBesides() {
        List<String> refused = new ArrayList<>();
        server.any(
                "/a",
                (request, response) -> {
                    Body body = request.body();
                    Promise<String> text = body.text();
                    for (Runnable call :
                            List.<Runnable>of(
                                    () -> body.onEnd(() -> {}), () -> body.onFailure(_ -> {}))) {
                        try {
                            call.run();
                        } catch (IllegalStateException e) {
                            refused.add(e.getMessage());
                        }
                    }
                    return text.then(response::text);
                });
        server.any(
                "/b",
                (request, response) -> {
                    Body body = request.body().onEnd(() -> response.text("end"));
                    try {
                        return body.text();
                    } catch (IllegalStateException e) {
                        refused.add(e.getMessage());
                        body.onData(_ -> {});
                        return loop.deferred().promise();
                    }
                });
        Talk talk = connect().send(request("/a") + post("/a", 1, "x"));
        assertThat(talk.answer(200)).isEmpty();
        assertThat(talk.answer(200)).isEqualTo("x");
        assertThat(refused).hasSize(4).allMatch(why -> why.contains("collected"));
        refused.clear();
        talk.send(request("/b") + post("/b", 1, "x"));
        assertThat(talk.answer(200)).isEqualTo("end").isEqualTo(talk.answer(200));
        assertThat(refused).hasSize(2).allMatch(why -> why.contains("onData"));
    }

    @Test
    @Clause({"H-2", "H-5"})
    void content_thatIsReadWhenItsRequestIsAnswered_fails_andIsDropped() {
        List<String> heard = new ArrayList<>();
        server.post(
                "/collected",
                (request, response) -> {
                    request.body()
                            .text()
                            .then(_ -> heard.add("whole"), why -> heard.add(why.getMessage()));
                    return response.text("early");
                });
        server.post(
                "/bit-by-bit",
                (request, response) -> {
                    request.body()
                            .onData(_ -> response.text("early"))
                            .onEnd(() -> heard.add("whole"))
                            .onFailure(why -> heard.add(why.getMessage()));
                    return loop.deferred().promise();
                });
        server.post(
                "/late",
                (request, response) -> {
                    Body body = request.body();
                    Promise<?> answered = response.text("early");
                    loop.defer(
                            () ->
                                    body.bytes()
                                            .then(
                                                    _ -> heard.add("whole"),
                                                    why -> heard.add(why.getMessage())));
                    return answered;
                });
        server.get("/next", (_, response) -> response.text("next"));
        for (String target : List.of("/collected", "/bit-by-bit", "/late")) {
            heard.clear();
            Talk talk = connect().send(post(target, 10, "1"));
            assertThat(talk.answer(200)).isEqualTo("early");
            runUntil("told at " + target, () -> !heard.isEmpty());
            assertThat(talk.send("234567890" + request("/next")).answer(200)).isEqualTo("next");
            assertThat(heard).singleElement().asString().contains("sent before the body was read");
        }
    }

    // ------------------------------------------------------------------ cutting off

    @Test
    @Clause("H-2")
    void answerWithALength_cutOffInHttp10_isEndedAndNotReset() {
        server.get(
                "/a",
                (_, response) -> {
                    response.header("Content-Length", "9").stream().write("some");
                    throw onPurpose();
                });
        Talk talk = connect().send("GET /a HTTP/1.0\r\n\r\n");
        assertThat(talk.all()).endsWith("\r\n\r\nsome");
        assertThat(talk.isReset()).as("the missing bytes tell that it is not whole").isFalse();
    }
}
