package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.Promise;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/// Clauses H-2, H-3 and H-4 as every backend keeps them: content both ways, its limits, and its pace.
@SuppressWarnings("StringConcatToTextBlock") // each line's end is part of what is said
abstract class HttpContentContract extends HttpFixture {
    private static String post(String target, String fields, String content) {
        return "POST " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n" + content;
    }

    private static String chunked(String target, String chunks) {
        return post(target, "Transfer-Encoding: chunked\r\n", chunks);
    }

    private void echo() {
        server.post("/echo", (request, response) -> request.body().text().then(response::text));
    }

    // ------------------------------------------------------------------ requests' content

    @Test
    @Clause("H-2")
    void content_withALengthOrInChunks_isCollected_howeverItIsSplit() {
        echo();
        String both =
                post("/echo", "Content-Length: 5\r\n", "hello")
                        + chunked("/echo", "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
                        + post("/echo", "Content-Length: 0\r\n", "");
        for (int piece : new int[] {1, 3, 7, 1000}) {
            Talk talk = connect().sendInPieces(both, piece);
            assertThat(talk.answer(200)).isEqualTo("hello");
            assertThat(talk.answer(200)).isEqualTo("abcde");
            assertThat(talk.answer(200)).isEmpty();
        }
    }

    @Test
    @Clause("H-2")
    void content_asItComes_withTrailers() {
        List<String> got = new ArrayList<>();
        server.post(
                "/a",
                (request, response) -> {
                    var whole = loop.<String>deferred();
                    var body = request.body();
                    body.onData(data -> got.add(data.getText(UTF_8)))
                            .onEnd(() -> whole.resolve("end " + body.trailers().get("X-Sum")));
                    return whole.promise().then(response::text);
                });
        Talk talk = connect().send(chunked("/a", "3\r\nabc\r\n"));
        runUntil("the first piece is there", () -> got.size() == 1);
        talk.send("2\r\nde\r\n0\r\nX-Sum: 7\r\n\r\n");
        assertThat(talk.answer(200)).isEqualTo("end 7");
        assertThat(String.join("", got)).isEqualTo("abcde");
    }

    @Test
    @Clause("H-2")
    void hundredContinue_isSaidWhenTheContentIsWanted_andOnlyThen() {
        echo();
        server.post("/no", (_, response) -> response.status(403).text("no"));
        Talk talk =
                connect().send(post("/echo", "Content-Length: 5\r\nExpect: 100-continue\r\n", ""));
        talk.await("HTTP/1.1 100 Continue\r\n\r\n");
        talk.forget();
        talk.send("hello");
        assertThat(talk.answer(200)).isEqualTo("hello");
        Talk refused =
                connect().send(post("/no", "Content-Length: 5\r\nExpect: 100-continue\r\n", ""));
        assertThat(refused.all()).startsWith("HTTP/1.1 403 ").contains("\r\nConnection: close\r\n");
    }

    @Test
    @Clause("H-3")
    void content_thatIsTooLong_isAnsweredWith413() {
        configure(HttpConfig.DEFAULT.withMaxBody(10));
        echo();
        assertThat(
                        connect()
                                .send(post("/echo", "Content-Length: 10\r\n", "0123456789"))
                                .answer(200))
                .hasSize(10);
        assertThat(connect().send(post("/echo", "Content-Length: 11\r\n", "")).all())
                .startsWith("HTTP/1.1 413 ");
        assertThat(connect().send(chunked("/echo", "6\r\n012345\r\n5\r\n67890\r\n")).all())
                .startsWith("HTTP/1.1 413 ");
    }

    @Test
    @Clause("H-1")
    void chunks_thatAreNone_areAnsweredWith400() {
        echo();
        for (String bad :
                List.of(
                        "x\r\n",
                        "0x5\r\nhello\r\n",
                        "5\nhello\n0\n\n",
                        "5\r\nhelloX",
                        "-1\r\n",
                        "fffffffffffffffff\r\n")) {
            String answer = connect().send(chunked("/echo", bad)).all();
            assertThat(answer).as(bad).matches("(?s)HTTP/1.1 4(00|13) .*");
        }
    }

    @Test
    @Clause("H-2")
    void content_thatNobodyReads_isDroppedIfItIsLittle_andEndsTheConnectionIfItIsMuch() {
        configure(HttpConfig.DEFAULT.withMaxBody(10 << 20));
        server.post("/a", (_, response) -> response.text("a"));
        Talk talk =
                connect()
                        .send(
                                post("/a", "Content-Length: 1000\r\n", "x".repeat(1000))
                                        + post("/a", "Content-Length: 3\r\n", "xyz"));
        assertThat(talk.answer(200) + talk.answer(200)).isEqualTo("aa");
        assertThat(
                        connect()
                                .send(post("/a", "Content-Length: 1000000\r\n", "x".repeat(50_000)))
                                .all())
                .contains("\r\nConnection: close\r\n");
        Talk endless = connect().send(chunked("/a", ""));
        for (int i = 0; i < 40 && !endless.isOver(); i++) {
            endless.send("1000\r\n" + "x".repeat(4096) + "\r\n");
            turn();
        }
        runUntil("cut off", endless::isOver);
    }

    @Test
    @Clause("H-2")
    void connection_thatEndsInTheContent_failsIt() {
        List<String> events = new ArrayList<>();
        server.post(
                "/a",
                (request, _) -> {
                    Promise<String> text = request.body().text();
                    return text.then(
                            t -> t,
                            failure -> {
                                events.add(failure.getMessage());
                                throw new HttpException(400, "gone");
                            });
                });
        Talk talk = connect().send(post("/a", "Content-Length: 9\r\n", "some"));
        turn();
        talk.stream().end();
        runUntil("told", () -> !events.isEmpty());
        assertThat(events.getFirst()).contains("ended before the body did");
    }

    @Test
    @Clause("H-4")
    void pausedContent_slowsThePeerDown() {
        configure(HttpConfig.DEFAULT.withMaxBody(100 << 20));
        List<Body> bodies = new ArrayList<>();
        long[] got = new long[1];
        server.post(
                "/a",
                (request, response) -> {
                    bodies.add(request.body());
                    var end = loop.<String>deferred();
                    request.body()
                            .onData(
                                    data -> {
                                        got[0] += data.readable();
                                        request.body().pause();
                                    })
                            .onEnd(() -> end.resolve("all"));
                    return end.promise().then(response::text);
                });
        int much = 8 << 20;
        Talk talk = connect().send(post("/a", "Content-Length: " + much + "\r\n", ""));
        talk.stream().write(new byte[much]);
        runUntil("the first piece is there", () -> got[0] > 0);
        long first = got[0];
        turn();
        assertThat(got[0]).isEqualTo(first);
        assertThat(talk.stream().pending()).as("what the peer could not send").isPositive();
        while (got[0] < much) {
            bodies.getFirst().resume();
            turn();
        }
        assertThat(talk.answer(200)).isEqualTo("all");
    }

    // ------------------------------------------------------------------ answers' content

    @Test
    @Clause("H-2")
    void stream_comesInChunks_orWithTheLengthThatWasSet_orUntilTheEnd() {
        server.get(
                        "/chunks",
                        (_, response) -> {
                            var stream = response.type("text/plain").stream();
                            stream.write("one ");
                            stream.write("");
                            stream.write("three");
                            return stream.end();
                        })
                .get(
                        "/length",
                        (_, response) -> {
                            var stream = response.header("Content-Length", "4").stream();
                            stream.write("four");
                            return stream.end();
                        });
        assertThat(get("/chunks"))
                .contains("\r\nTransfer-Encoding: chunked\r\n")
                .endsWith("\r\n\r\n4\r\none \r\n5\r\nthree\r\n0\r\n\r\n");
        assertThat(get("/length")).contains("\r\nContent-Length: 4\r\n").endsWith("\r\n\r\nfour");
        assertThat(connect().send("GET /chunks HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").all())
                .doesNotContain("chunked")
                .contains("\r\nConnection: close\r\n")
                .endsWith("\r\n\r\none three");
    }

    @Test
    @Clause("H-2")
    void trailers_areSentToWhoTakesThem() {
        server.get(
                "/a",
                (_, response) -> {
                    var stream = response.stream();
                    stream.write("x");
                    stream.trailer("X-Sum", "1");
                    return Promise.delay(loop, Duration.ofMillis(1)).then(_ -> stream.end());
                });
        assertThat(
                        connect()
                                .send(
                                        "GET /a HTTP/1.1\r\n"
                                                + "Host: a\r\n"
                                                + "TE: trailers\r\n"
                                                + "Connection: close, TE\r\n\r\n")
                                .all())
                .endsWith("1\r\nx\r\n0\r\nX-Sum: 1\r\n\r\n");
        assertThat(get("/a")).endsWith("1\r\nx\r\n0\r\n\r\n");
    }

    @Test
    @Clause("H-2")
    void stream_ofMoreOrLessThanItsLength_isMisuse() {
        List<String> messages = new ArrayList<>();
        server.get(
                        "/more",
                        (_, response) -> {
                            var stream = response.header("Content-Length", "2").stream();
                            try {
                                stream.write("abc");
                            } catch (IllegalStateException e) {
                                messages.add(e.getMessage());
                            }
                            stream.write("ab");
                            return stream.end();
                        })
                .get(
                        "/less",
                        (_, response) -> {
                            var stream = response.header("Content-Length", "5").stream();
                            stream.write("ab");
                            return stream.end();
                        });
        assertThat(get("/more")).endsWith("\r\n\r\nab");
        assertThat(messages.getFirst()).contains("by 1 bytes");
        Talk less = connect().send(request("/less"));
        runUntil("cut off", less::isOver);
        assertThat(less.received()).doesNotEndWith("abcde");
    }

    @Test
    @Clause("H-2")
    void answer_cutOff_takesNoneOfThoseBeforeItAlong() {
        server.get("/fine", (_, response) -> response.text("fine"))
                .get(
                        "/fails",
                        (_, response) -> {
                            response.stream().write("some");
                            throw new IllegalStateException("on purpose");
                        })
                .post(
                        "/echo",
                        (request, response) -> {
                            ResponseStream echo = response.stream();
                            request.body().onData(echo::write).onEnd(echo::end);
                            return loop.deferred().promise();
                        });
        assertThat(connect().send(request("/fine") + request("/fails") + request("/fine")).all())
                .containsOnlyOnce("fine")
                .contains("\r\n\r\n4\r\nsome\r\n")
                .doesNotContain("0\r\n\r\n");
        assertThat(
                        connect()
                                .send(
                                        request("/fine")
                                                + "POST /echo HTTP/1.1\r\n"
                                                + "Host: a\r\n"
                                                + "Transfer-Encoding: chunked\r\n\r\n"
                                                + "1\r\nx\r\nZZ\r\n")
                                .all())
                .contains("fine")
                .endsWith("\r\n\r\n1\r\nx\r\n");
        Talk old = connect().send("GET /fails HTTP/1.0\r\n\r\n");
        runUntil("cut off", old::isOver);
        assertThat(old.isReset()).as("an end would be that of the answer").isTrue();
    }

    @Test
    @Clause("H-4")
    void stream_ofMuch_heedsTheHighWaterMark() {
        long much = 20 << 20;
        long[] most = new long[1];
        server.get(
                "/large",
                (_, response) ->
                        new Pump(
                                        loop.deferred(),
                                        response.header("Content-Length", "" + much).stream(),
                                        much,
                                        most)
                                .run());
        Talk talk = connect().send(request("/large"));
        talk.stream().pause();
        for (int i = 0; i < 50; i++) {
            turn();
        }
        assertThat(most[0])
                .as("what was written ahead of a peer that does not read")
                .isLessThan(much / 2);
        LongSupplier got = talk.count();
        talk.stream().resume();
        runUntil("all is there", () -> got.getAsLong() > much);
    }

    /// Writes zeros as long as there is room.
    private static final class Pump {
        private final ResponseStream stream;
        private final long[] written;
        private final Deferred<String> done;
        private long left;

        Pump(Deferred<String> done, ResponseStream stream, long bytes, long[] written) {
            this.done = done;
            this.stream = stream;
            this.written = written;
            left = bytes;
        }

        Promise<?> run() {
            stream.onWritable(this::pump);
            return pump();
        }

        private Promise<?> pump() {
            boolean room = true;
            while (room && left > 0) {
                byte[] piece = new byte[(int) Math.min(left, 16 << 10)];
                left -= piece.length;
                written[0] += piece.length;
                room = stream.write(piece);
            }
            return left == 0 ? stream.end() : done.promise();
        }
    }

    @Test
    @Clause("H-4")
    void events_haveTheFormThatBrowsersRead_andEndWithThePeer() {
        List<EventStream> streams = new ArrayList<>();
        List<String> closed = new ArrayList<>();
        server.get(
                "/events",
                (_, response) -> {
                    var events = response.events();
                    streams.add(events);
                    events.onClose(() -> closed.add("closed"));
                    events.send("one\ntwo");
                    events.send(ServerSentEvent.of("three").withType("greeting").withId("7"));
                    return events.closed();
                });
        Talk talk = connect().send("GET /events HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 6\r\n\r\n");
        talk.await("data: one\ndata: two\n\n");
        talk.await("event: greeting\nid: 7\ndata: three\n\n");
        assertThat(talk.received()).contains("\r\nContent-Type: text/event-stream\r\n");
        assertThat(streams.getFirst().lastEventId()).isEqualTo("6");
        assertThatThrownBy(() -> ServerSentEvent.of("").withType("a\nb"))
                .isInstanceOf(IllegalArgumentException.class);
        talk.stream().abort();
        runUntil("told", () -> !closed.isEmpty());
        assertThat(streams.getFirst().isOpen()).isFalse();
        assertThat(streams.getFirst().send("late")).isFalse();
    }

    @Test
    @Clause("H-1")
    void head_thatIsNone_isRefusedWithTheReason_andTheConnectionClosed() {
        server.get("/", (_, response) -> response.text("a"));
        for (String[] bad :
                new String[][] {
                    {"GET / HTTP/1.1\r\n\r\n", "400"},
                    {"GET / HTTP/1.1\nHost: a\n\n", "400"},
                    {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", "400"},
                    {
                        "GET / HTTP/1.1\r\n"
                                + "Host: a\r\n"
                                + "Content-Length: 1\r\n"
                                + "Transfer-Encoding: chunked\r\n\r\n",
                        "400"
                    },
                    {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", "505"},
                    {"GET /" + "x".repeat(9000) + " HTTP/1.1\r\nHost: a\r\n\r\n", "414"},
                    {"GET / HTTP/1.1\r\nHost: a\r\nX: " + "x".repeat(17000) + "\r\n\r\n", "431"},
                    {"GET / HTTP/1.1\r\nHost: a\r\n" + "X: y\r\n".repeat(120) + "\r\n", "431"},
                }) {
            String answer = connect().send("GET / HTTP/1.1\r\nHost: a\r\n\r\n" + bad[0]).all();
            assertThat(answer).startsWith("HTTP/1.1 200 ");
            assertThat(answer.substring(10))
                    .as(bad[0])
                    .contains("HTTP/1.1 " + bad[1] + " ")
                    .contains("\r\nConnection: close\r\n");
        }
    }
}
