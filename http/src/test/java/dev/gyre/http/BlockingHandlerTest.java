package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

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
    @Clause("H-8")
    void json_ofABlockingHandler_isReadOnItsThread() {
        JsonMapper threads =
                new JsonMapper() {
                    @Override
                    public byte[] write(@Nullable Object value) {
                        return String.valueOf(value).getBytes(UTF_8);
                    }

                    @Override
                    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
                    public <T> T read(byte[] json, Type type) {
                        if (json[0] == '!') {
                            throw new JsonException("a", "expected a number", null);
                        }
                        return (T) (Object) Thread.currentThread().threadId();
                    }
                };
        server.jsonMapper(threads)
                .blocking(
                        "POST",
                        "/",
                        (request, response) -> {
                            Long thread = request.body().json(Long.class).await();
                            response.text("" + (thread == Thread.currentThread().threadId()));
                        });
        String head = post("/", "Content-Type: application/json\r\nContent-Length: 2\r\n");
        assertThat(connect().send(head + "{}").answer(200)).isEqualTo("true");
        Talk slow = connect().send(head);
        turn();
        assertThat(slow.send("{}").answer(200)).isEqualTo("true");
        assertThat(connect().send(head + "!!").answer(400)).contains("field a: expected a number");
        assertThat(connect().send(post("/", "Content-Length: 2\r\n") + "{}").answer(415))
                .contains("header Content-Type");
    }

    @Test
    @Clause("H-6")
    void attributes_setByTheHandlerAndTheLoopAtATime_areAllKept() {
        List<Attribute<Integer>> all =
                IntStream.range(0, 40_000).mapToObj(i -> Attribute.<Integer>of("a" + i)).toList();
        server.blocking(
                "GET",
                "/",
                (request, response) -> {
                    CountDownLatch begun = new CountDownLatch(1);
                    CountDownLatch done = new CountDownLatch(1);
                    request.loop()
                            .submit(
                                    () -> {
                                        begun.countDown();
                                        all.subList(0, 20_000).forEach(a -> request.set(a, 1));
                                        done.countDown();
                                    });
                    begun.await();
                    all.subList(20_000, 40_000).forEach(a -> request.set(a, 1));
                    done.await();
                    long lost = all.stream().filter(a -> request.get(a) == null).count();
                    response.text("lost " + lost);
                });
        assertThat(get("/")).endsWith("lost 0");
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
        try (LogCapture log = new LogCapture()) {
            assertThat(connect().send(request("/wait")).answer(503)).contains("the server is busy");
            assertThat(connect().send(request("/wait")).answer(503)).contains("retry later");
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .startsWith("all 1 blocking handlers of loop ")
                    .contains("raise HttpConfig.withMaxBlocking");
        }
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
        assertThat(connect().send(request("/quick")).answer(503)).contains("the server is busy");
        goOn.release();
        assertThat(askWhenThereIsAPlace(request("/quick")).answer(200)).isEqualTo("quick");
    }

    @Test
    @Clause("H-5")
    void faultsOfThePeer_seenByAHandlerThatReads_areAnsweredAndNotLogged() {
        configure(HttpConfig.DEFAULT.withMaxBody(10));
        AtomicInteger begun = new AtomicInteger();
        CountDownLatch failed = new CountDownLatch(4);
        server.blocking(
                "POST",
                "/a",
                (request, response) -> {
                    begun.incrementAndGet();
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
            // A handler that has not begun when its client leaves is skipped.
            Talk gone = connect().send(chunked + "1\r\nx\r\n");
            runUntil("the third has begun", () -> begun.get() == 3);
            gone.stream().abort();
            Talk half = connect().send(chunked + "1\r\nx\r\n");
            runUntil("the fourth has begun", () -> begun.get() == 4);
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
        assertThat(heard).hasSize(3).allMatch(why -> why.contains("sent before the body was read"));
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
