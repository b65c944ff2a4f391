package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.function.LongSupplier;

/// Handlers with a thread of their own, which a simulated kernel does not have.
class BlockingHandlerTest extends HttpFixture {
    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config);
    }

    private static String post(String target, String fields) {
        return "POST " + target + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    }

    @Test
    @Clause("H-5")
    void blockingHandler_readsContentAsAStream_andWritesOneWithPressure() {
        configure(HttpConfig.DEFAULT.withMaxBody(10 << 20));
        int much = 1 << 20;
        server.blocking(
                "POST",
                "/b",
                (request, response) -> {
                    long sum = 0;
                    try (var in = request.body().stream()) {
                        for (int b = in.read(); b >= 0; b = in.read()) {
                            sum += b;
                        }
                    }
                    var out = response.stream();
                    for (int i = 0; i < 64; i++) {
                        out.write(new byte[16 << 10]);
                    }
                    out.write(" " + sum);
                    out.end();
                });
        Talk talk = connect().send(post("/b", "Content-Length: " + much + "\r\n"));
        byte[] ones = new byte[much];
        Arrays.fill(ones, (byte) 1);
        talk.stream().write(ones);
        talk.await(" " + much + "\r\n0\r\n\r\n");
    }

    @Test
    @Clause("H-3")
    void handlersAtATime_aboveTheLimit_areRefusedWith503() {
        configure(HttpConfig.DEFAULT.withMaxBlocking(1));
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        server.blocking(
                "GET",
                "/wait",
                (_, response) -> {
                    begun.countDown();
                    goOn.await();
                    response.text("done");
                });
        Talk first = connect().send(request("/wait"));
        runUntil("begun", () -> begun.getCount() == 0);
        assertThat(connect().send(request("/wait")).answer(503)).contains("too many");
        goOn.countDown();
        assertThat(first.answer(200)).isEqualTo("done");
        assertThat(connect().send(request("/wait")).answer(200)).isEqualTo("done");
    }

    @Test
    @Clause("H-3")
    void handlersThatWaitForTheirPeers_takeNoPlaceFromOthers() {
        configure(HttpConfig.DEFAULT.withMaxBlocking(1));
        byte[] piece = new byte[64 << 10];
        server.blocking(
                        "POST",
                        "/stream",
                        (request, response) ->
                                response.text("" + request.body().stream().readAllBytes().length))
                .blocking(
                        "POST",
                        "/promise",
                        (request, response) -> response.text(request.body().text().await()))
                .blocking(
                        "GET",
                        "/large",
                        (_, response) -> {
                            var out = response.stream();
                            for (int i = 0; i < 256; i++) {
                                out.write(piece);
                            }
                            out.end();
                        })
                .blocking("GET", "/quick", (_, response) -> response.text("quick"));
        Talk streams = askWhenThereIsAPlace(post("/stream", "Content-Length: 3\r\n"));
        Talk promises = askWhenThereIsAPlace(post("/promise", "Content-Length: 3\r\n"));
        Talk takes = askWhenThereIsAPlace(request("/large"));
        takes.stream().pause();
        Talk quick = askWhenThereIsAPlace(request("/quick"));
        assertThat(quick.answer(200)).isEqualTo("quick");
        assertThat(streams.send("abc").answer(200)).isEqualTo("3");
        assertThat(promises.send("abc").answer(200)).isEqualTo("abc");
        long before = takes.received().length();
        LongSupplier got = takes.count();
        takes.stream().resume();
        runUntil("all of it is taken", () -> before + got.getAsLong() > 256L * piece.length);
    }

    /// Asks again as long as those before have not come to waiting: when that is, is their threads' affair.
    private Talk askWhenThereIsAPlace(String request) {
        for (int tries = 0; tries < 1_000; tries++) {
            Talk talk = connect().send(request);
            for (int i = 0; i < 20 && talk.received().isEmpty(); i++) {
                turn();
            }
            if (!talk.received().startsWith("HTTP/1.1 503 ")) {
                return talk;
            }
        }
        throw new AssertionError("there is never a place for " + request);
    }

    @Test
    @Clause("H-5")
    void handler_thatReturnsWithoutEndingItsContent_isCutOffAndNamed() {
        server.blocking("GET", "/left/{id}", (_, response) -> response.stream().write("abc"))
                .blocking("GET", "/events", (_, response) -> response.events().send("abc"));
        try (LogCapture log = new LogCapture()) {
            Talk talk = connect().send(request("/left/7"));
            assertThat(talk.all()).endsWith("3\r\nabc\r\n");
            assertThat(connect().send(request("/events")).all()).endsWith("data: abc\n\n\r\n");
            assertThat(log.messages()).hasSize(2);
            assertThat(log.messages().getFirst()).contains("GET /left/{id}", "call end()");
            assertThat(log.messages().getLast()).contains("GET /events");
        }
    }

    @Test
    @Clause("H-5")
    void head_ofAStreamOfABlockingHandler_isOverAtOnce() {
        server.blocking(
                "GET",
                "/a",
                (_, response) -> {
                    var out = response.stream();
                    while (out.write(new byte[100 << 10])) {
                        Thread.onSpinWait();
                    }
                    out.end();
                });
        Talk talk = connect().send("HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n").await("\r\n\r\n");
        talk.forget();
        server.get("/", (_, response) -> response.text("alive"));
        assertThat(talk.send(request("/")).answer(200)).isEqualTo("alive");
    }

    @Test
    @Clause("H-5")
    void handler_thatTheServerCutsOff_isInterrupted() {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        CountDownLatch never = new CountDownLatch(1);
        server.blocking(
                "GET",
                "/wait",
                (_, _) -> {
                    begun.countDown();
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        interrupted.countDown();
                        throw e;
                    }
                });
        try (LogCapture log = new LogCapture()) {
            connect().send(request("/wait"));
            runUntil("begun", () -> begun.getCount() == 0);
            server.drain(Duration.ofMillis(1));
            runUntil("interrupted", () -> interrupted.getCount() == 0);
            turn();
            assertThat(log.messages()).isEmpty();
        }
    }

    @Test
    @Clause("H-3")
    void handler_thatDoesNotHeedItsInterrupt_keepsItsPlace() {
        configure(HttpConfig.DEFAULT.withMaxBlocking(1));
        Semaphore goOn = new Semaphore(0);
        CountDownLatch begun = new CountDownLatch(1);
        server.blocking(
                        "GET",
                        "/stubborn",
                        (_, _) -> {
                            begun.countDown();
                            goOn.acquireUninterruptibly();
                        })
                .blocking("GET", "/quick", (_, response) -> response.text("quick"));
        Talk talk = connect().send(request("/stubborn"));
        runUntil("begun", () -> begun.getCount() == 0);
        talk.stream().abort();
        runUntil("gone", () -> server.connections() == 0);
        assertThat(connect().send(request("/quick")).answer(503)).contains("too many");
        goOn.release();
        assertThat(askWhenThereIsAPlace(request("/quick")).answer(200)).isEqualTo("quick");
    }

    @Test
    @Clause("H-5")
    void faultsOfThePeer_seenByAHandlerThatReads_areAnsweredAndNotLogged() {
        configure(HttpConfig.DEFAULT.withMaxBody(10));
        CountDownLatch failed = new CountDownLatch(4);
        server.blocking(
                "POST",
                "/a",
                (request, response) -> {
                    try {
                        byte[] all = request.body().stream().readAllBytes();
                        response.send(all);
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    } finally {
                        failed.countDown();
                    }
                });
        String chunked = post("/a", "Transfer-Encoding: chunked\r\n");
        try (LogCapture log = new LogCapture()) {
            assertThat(connect().send(chunked + "ZZ\r\n").all()).startsWith("HTTP/1.1 400 ");
            assertThat(connect().send(chunked + "b\r\n0123456789a\r\n").all())
                    .startsWith("HTTP/1.1 413 ");
            Talk gone = connect().send(chunked + "1\r\nx\r\n");
            turn();
            gone.stream().abort();
            Talk half = connect().send(chunked + "1\r\nx\r\n");
            turn();
            half.stream().end();
            runUntil("all have failed", () -> failed.getCount() == 0);
            turn();
            turn();
            assertThat(log.messages()).isEmpty();
        }
    }

    @Test
    @Clause({"H-3", "H-5"})
    void handler_thatReadsOnAfterItsAnswer_isToldThatNothingComes_andGivesItsPlaceBack() {
        configure(HttpConfig.DEFAULT.withMaxBlocking(1));
        List<String> heard = Collections.synchronizedList(new ArrayList<>());
        server.blocking(
                        "POST",
                        "/early",
                        (request, response) -> {
                            InputStream content = request.body().stream();
                            content.read();
                            response.text("early");
                            try {
                                content.readAllBytes();
                            } catch (IOException e) {
                                heard.add(e.getMessage());
                            }
                        })
                .blocking("GET", "/quick", (_, response) -> response.text("quick"));
        for (int i = 0; i < 3; i++) {
            Talk talk = connect().send(post("/early", "Content-Length: 100\r\n") + "x");
            assertThat(talk.answer(200)).isEqualTo("early");
            assertThat(askWhenThereIsAPlace(request("/quick")).answer(200)).isEqualTo("quick");
        }
        assertThat(heard).hasSize(3).allMatch(why -> why.contains("answered before its content"));
    }

    @Test
    @Clause("H-5")
    void answer_ofAThread_toAPeerThatIsGone_isSwallowed() {
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        server.blocking(
                "GET",
                "/wait",
                (_, response) -> {
                    begun.countDown();
                    try {
                        goOn.await();
                        response.text("late");
                    } finally {
                        over.countDown();
                    }
                });
        Talk talk = connect().send(request("/wait"));
        runUntil("begun", () -> begun.getCount() == 0);
        talk.stream().abort();
        runUntil("gone", () -> server.connections() == 0);
        goOn.countDown();
        runUntil("over", () -> over.getCount() == 0);
        server.get("/", (_, response) -> response.text("alive"));
        assertThat(connect().send(request("/")).answer(200)).isEqualTo("alive");
    }
}
