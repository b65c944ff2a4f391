package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Promise;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/// What one request must not leave behind for the next, and callbacks that fail where it hurts.
@SuppressWarnings("StringConcatToTextBlock") // each line's end is part of what is said
class HttpEdgesTest extends HttpFixture {
    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config);
    }

    @Test
    @Clause("H-5")
    void header_keptTooLong_isNotThatOfTheNextRequest() {
        List<Headers> kept = new ArrayList<>();
        List<Request> requests = new ArrayList<>();
        server.get(
                        "/now",
                        (q, r) -> {
                            kept.add(q.headers());
                            return r.text("a");
                        })
                .get(
                        "/other",
                        (q, r) -> {
                            assertThatThrownBy(() -> kept.getFirst().get("Authorization"))
                                    .isInstanceOf(IllegalStateException.class)
                                    .hasMessageContaining("has ended");
                            requests.add(q);
                            return r.text("b");
                        });
        assertThat(connect().send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n").answer(200))
                .isEqualTo("a");
        assertThat(
                        connect()
                                .send(
                                        "GET /other HTTP/1.1\r\n"
                                                + "Host: a\r\n"
                                                + "Authorization: secret\r\n\r\n")
                                .answer(200))
                .isEqualTo("b");
        assertThat(requests).hasSize(1);
    }

    @Test
    @Clause("H-5")
    void failureHandler_thatGoesOnAfterItsAnswer_touchesNoOtherRequest() {
        Deferred<String> reported = loop.deferred();
        Deferred<String> slow = loop.deferred();
        server.get(
                        "/fails",
                        (_, _) -> {
                            throw new IllegalStateException("first");
                        })
                .get("/slow", (_, response) -> slow.promise().then(response::text))
                .onError(
                        Throwable.class,
                        (_, _, response) -> {
                            response.status(500).text("sorry");
                            return reported.promise();
                        });
        assertThat(connect().send(request("/fails")).answer(500)).isEqualTo("sorry");
        assertDoesNotMeetTheNext(
                () -> reported.reject(new IllegalStateException("the reporter is down")), slow);
    }

    @Test
    @Clause("H-5")
    void failureHandler_thatFails_keepsTheFirstFailure_unlessThatIsInItsCauses() {
        IllegalStateException first = new IllegalStateException("first");
        IllegalStateException wrapping =
                new IllegalStateException("outer", new IllegalArgumentException("inner", first));
        IllegalStateException another = new IllegalStateException("another");
        server.get(
                        "/{how}",
                        (_, _) -> {
                            throw first;
                        })
                .onError(
                        Throwable.class,
                        (_, request, _) -> {
                            throw request.pathParam("how").equals("wraps") ? wrapping : another;
                        });
        assertThat(get("/wraps")).startsWith("HTTP/1.1 500 ");
        assertThat(wrapping.getSuppressed()).as("a log would print it in circles").isEmpty();
        assertThat(get("/else")).startsWith("HTTP/1.1 500 ");
        assertThat(another.getSuppressed()).containsExactly(first);
    }

    /// What comes late for a request is not heard by the next one, which `/slow` answers.
    private void assertDoesNotMeetTheNext(Runnable late, Deferred<String> slow) {
        Talk other = connect().send(request("/slow"));
        turn();
        late.run();
        turn();
        turn();
        assertThat(other.received()).isEmpty();
        slow.resolve("mine");
        assertThat(other.answer(200)).isEqualTo("mine");
    }

    @Test
    @Clause("H-5")
    void handler_thatAnswersAndThenGoesOn_answersNobodyElse() {
        Deferred<String> late = loop.deferred();
        Deferred<String> slow = loop.deferred();
        server.get(
                        "/forgotten-return",
                        (_, response) -> {
                            response.status(400).text("bad");
                            return late.promise().then(response::text);
                        })
                .get("/slow", (_, response) -> slow.promise().then(response::text));
        assertThat(connect().send(request("/forgotten-return")).answer(400)).isEqualTo("bad");
        assertDoesNotMeetTheNext(() -> late.resolve("of the first"), slow);
    }

    @Test
    @Clause("H-5")
    void errorOfTheMachine_leavesNothingForTheNextRequest() {
        List<String> done = new ArrayList<>();
        server.use(
                        (request, response, next) -> {
                            response.onComplete(() -> done.add(request + " " + response.status()));
                            return next.handle(request, response);
                        })
                .get(
                        "/broken",
                        (_, _) -> {
                            throw new NoClassDefFoundError("a/B");
                        })
                .get("/fine", (_, response) -> response.text("fine"));
        assertThat(connect().send(request("/broken")).answer(500)).contains("internal error");
        assertThat(connect().send(request("/fine")).answer(200)).isEqualTo("fine");
        assertThat(done).containsExactly("GET /broken 500", "GET /fine 200");
    }

    @Test
    @Clause("H-5")
    void callbackOfTheEnd_thatThrows_keepsTheConnectionGoing() {
        server.get(
                "/a",
                (_, response) -> {
                    response.onComplete(
                            () -> {
                                throw new IllegalStateException("on purpose");
                            });
                    return Promise.delay(loop, Duration.ofMillis(1)).then(_ -> response.text("a"));
                });
        Talk talk = connect().send(request("/a") + request("/a"));
        assertThat(talk.answer(200) + talk.answer(200)).isEqualTo("aa");
    }

    @Test
    @Clause("H-2")
    void manyLargeAnswers_askedForAhead_waitForThePeerAndNotInMemory() {
        int count = 40;
        int size = 1 << 20;
        byte[] large = new byte[size];
        int[] asked = new int[1];
        server.get(
                "/large",
                (_, response) -> {
                    asked[0]++;
                    return response.send(large);
                });
        Talk talk = connect();
        talk.stream().pause();
        talk.send(request("/large").repeat(count));
        for (int i = 0; i < 30; i++) {
            turn();
        }
        assertThat(asked[0])
                .as("how many were answered to a peer that does not read")
                .isLessThan(count / 2);
        LongSupplier got = talk.count();
        talk.stream().resume();
        runUntil(
                () -> "all arrive, not " + got.getAsLong(),
                () -> got.getAsLong() > (long) count * size);
        assertThat(asked[0]).isEqualTo(count);
    }

    @Test
    @Clause("H-4")
    void head_ofEvents_isAnsweredAtOnce() {
        server.get("/events", (_, response) -> response.events().closed())
                .get("/", (_, r) -> r.text("next"));
        Talk talk = connect().send("HEAD /events HTTP/1.1\r\nHost: a\r\n\r\n");
        talk.await("\r\n\r\n");
        talk.forget();
        assertThat(talk.send(request("/")).answer(200)).isEqualTo("next");
    }

    @Test
    @Clause("H-5")
    void drain_whileAHeadArrives_answersIt() {
        server.get("/", (_, response) -> response.text("still"));
        Talk talk = connect().send("GET / HTTP/1.1\r\nHo");
        turn();
        List<String> events = new ArrayList<>();
        server.drain(Duration.ofSeconds(5)).thenAccept(_ -> events.add("drained"));
        turn();
        talk.send("st: a\r\n\r\n");
        assertThat(talk.all()).contains("\r\nConnection: close\r\n").endsWith("still");
        talk.stream().close();
        runUntil("drained", () -> events.contains("drained"));
    }

    @Test
    @Clause("H-5")
    void target_withoutAPath_isTheRoot() {
        server.get("/", (request, response) -> response.text(request.path() + request.query()));
        assertThat(contentOf(ask("GET http://a HTTP/1.1\r\nHost: a", ""))).isEqualTo("/null");
        assertThat(contentOf(ask("GET http://a?x=1 HTTP/1.1\r\nHost: a", ""))).isEqualTo("/x=1");
    }

    @Test
    @Clause("H-3")
    void answer_ofTooMuchAtOnce_isRefusedWithTheRemedy() {
        List<String> messages = new ArrayList<>();
        server.get(
                "/a",
                (_, response) -> {
                    try {
                        return response.send(new byte[(8 << 20) + 1]);
                    } catch (IllegalArgumentException e) {
                        messages.add(e.getMessage());
                        return response.status(500).text("too much");
                    }
                });
        assertThat(get("/a")).endsWith("too much");
        assertThat(messages.getFirst()).contains("use stream() or sendFile()");
    }

    @Test
    @Clause("H-5")
    void connectionField_ofAHandler_saysWhatThereIsToSay() {
        List<String> messages = new ArrayList<>();
        server.get(
                        "/wrong",
                        (_, response) -> {
                            try {
                                response.header("Connection", "X-Mine");
                            } catch (IllegalArgumentException e) {
                                messages.add(e.getMessage());
                            }
                            return response.header("Connection", "keep-alive").text("a");
                        })
                .webSocket("/socket", WebSocketConfig.DEFAULT, _ -> {});
        Talk talk = connect().send(request("/wrong") + request("/socket"));
        assertThat(talk.answer(200)).isEqualTo("a");
        assertThat(messages).singleElement().asString().contains("X-Mine", "close");
        talk.await("\r\n\r\n");
        assertThat(talk.received())
                .startsWith("HTTP/1.1 426 ")
                .contains("\r\nUpgrade: websocket\r\n")
                .contains("\r\nConnection: Upgrade\r\n");
    }
}
