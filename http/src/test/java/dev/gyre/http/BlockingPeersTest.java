package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.gyre.Cancellation;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.LoopTerminatedException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongSupplier;

/// What the threads of blocking handlers see of peers that leave, and of a loop that ends.
class BlockingPeersTest extends HttpFixture {
    private final CountDownLatch never = new CountDownLatch(1);
    private final List<String> said = new CopyOnWriteArrayList<>();

    @Override
    protected EventLoop open(LoopConfig config) {
        return EventLoop.open(config);
    }

    private void noteTheEnd() {
        server.use(
                (request, response, next) -> {
                    response.onComplete(() -> said.add(request.target() + " " + response.status()));
                    return next.handle(request, response);
                });
    }

    @Test
    @Clause("H-3")
    void handlersBoundToTheirPeers_areInterruptedWhenThoseClose_andTheirPlacesFree() {
        configure(HttpConfig.DEFAULT.withMaxBlocking(2));
        noteTheEnd();
        CountDownLatch begun = new CountDownLatch(2);
        server.blocking(
                        "GET",
                        "/wait",
                        (request, _) -> {
                            request.cancellation().onCancel(Thread.currentThread()::interrupt);
                            begun.countDown();
                            never.await();
                        })
                .blocking("GET", "/quick", (_, response) -> response.text("quick"));
        try (LogCapture log = new LogCapture()) {
            Talk first = connect().send(request("/wait"));
            Talk second = connect().send(request("/wait"));
            runUntil("begun", () -> begun.getCount() == 0);
            first.stream().close();
            second.stream().abort();
            runUntil("both are over", () -> said.size() == 2);
            runUntil("both are gone", () -> server.connections() == 0);
            String answer = ask("/quick");
            for (int tries = 0; answer.startsWith("HTTP/1.1 503 ") && tries < 1_000; tries++) {
                answer = ask("/quick"); // When a thread is done is its own affair.
            }
            assertThat(answer).endsWith("quick");
            assertThat(said).startsWith("/wait 499", "/wait 499");
            assertThat(log.messages()).isEmpty();
        }
    }

    private String ask(String target) {
        return connect().send(request(target)).await("\r\n\r\n").received();
    }

    @Test
    @Clause({"H-5", "N-6"})
    void peers_interruptNobody_howeverTheyLeave() {
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(2);
        server.blocking(
                "GET",
                "/wait",
                (request, response) -> {
                    Cancellation left = request.cancellation();
                    begun.countDown();
                    try {
                        goOn.await();
                        said.add("told " + left.isCancelled());
                        response.text("late");
                    } catch (InterruptedException e) {
                        said.add("interrupted");
                    } finally {
                        over.countDown();
                    }
                });
        Talk closes = connect().send(request("/wait"));
        Talk resets = connect().send(request("/wait"));
        runUntil("begun", () -> begun.getCount() == 0);
        closes.stream().close();
        resets.stream().abort();
        runUntil("one is gone, and one waits for its answer", () -> server.connections() == 1);
        goOn.countDown();
        runUntil("over", () -> over.getCount() == 0 && server.connections() == 0);
        assertThat(said).containsExactly("told true", "told true");
    }

    @Test
    @Clause({"H-5", "N-4"})
    void failures_ofHandlersWhosePeersHaveEnded_areAnsweredAndToldAsOthers() {
        server.blocking(
                        "GET",
                        "/broken",
                        (request, _) -> {
                            awaitTheEndOf(request);
                            throw new IllegalStateException("on purpose");
                        })
                .blocking("GET", "/silent", (request, _) -> awaitTheEndOf(request))
                .blocking(
                        "GET",
                        "/none",
                        (request, _) -> {
                            awaitTheEndOf(request);
                            throw new HttpException(404, "there is none");
                        });
        try (LogCapture log = new LogCapture()) {
            assertThat(askAndEnd("/broken").answer(500)).contains("internal error");
            assertThat(askAndEnd("/silent").answer(500)).contains("internal error");
            assertThat(log.messages()).hasSize(2);
            assertThat(askAndEnd("/none").answer(404)).contains("there is none");
        }
    }

    private static void awaitTheEndOf(Request request) {
        Cancellation left = request.cancellation();
        while (!left.isCancelled()) {
            Thread.onSpinWait();
        }
    }

    private Talk askAndEnd(String target) {
        Talk talk = connect().send(request(target));
        talk.stream().end();
        return talk;
    }

    @Test
    @Clause("N-4")
    void handler_thatAnswersInSpiteOfThePeersEnd_isHeard() {
        CountDownLatch begun = new CountDownLatch(1);
        server.blocking(
                "GET",
                "/wait",
                (request, response) -> {
                    request.cancellation().onCancel(Thread.currentThread()::interrupt);
                    begun.countDown();
                    try {
                        never.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        response.header("X-A", "b").text("in spite of it");
                        said.add("still " + Thread.currentThread().isInterrupted());
                    }
                });
        Talk waits = connect().send(request("/wait"));
        runUntil("begun", () -> begun.getCount() == 0);
        waits.stream().end();
        assertThat(waits.answer(200)).isEqualTo("in spite of it");
        runUntil("said", () -> said.contains("still true"));
    }

    @Test
    @Clause({"H-2", "N-4"})
    void content_thatIsThere_isReadByAThreadThatIsInterrupted() {
        CountDownLatch there = new CountDownLatch(1);
        server.blocking(
                "POST",
                "/a",
                (request, response) -> {
                    var content = request.body().stream();
                    content.read();
                    there.await();
                    Thread.currentThread().interrupt();
                    String rest = new String(content.readAllBytes(), UTF_8);
                    response.text(rest + " " + Thread.interrupted());
                });
        Talk talk = connect().send(post(10) + "0123");
        turn();
        talk.send("456789");
        for (int i = 0; i < 20; i++) {
            turn();
        }
        there.countDown();
        assertThat(talk.answer(200)).isEqualTo("123456789 true");
    }

    @Test
    @Clause({"H-4", "N-4"})
    void file_thatIsOnItsWay_isWhole_whateverItsHandlerDoesThen(@TempDir Path directory)
            throws IOException {
        byte[] large = new byte[24 << 20];
        Arrays.fill(large, (byte) 'x');
        Path file = Files.write(directory.resolve("large.bin"), large);
        server.blocking(
                "GET",
                "/file",
                (_, response) -> {
                    response.sendFile(file);
                    throw new IllegalStateException("on purpose");
                });
        try (LogCapture log = new LogCapture()) {
            Talk talk = connect();
            talk.send("GET /file HTTP/1.1\r\nHost: a\r\nRange: bytes=0-9999999,11000000-\r\n\r\n");
            LongSupplier got = talk.count();
            runUntil("all of it", () -> got.getAsLong() > large.length - 1_000_001);
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .contains("/file failed after its response");
        }
    }

    private static String post(int length) {
        return "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + "\r\n\r\n";
    }

    @Test
    @Clause("N-4")
    void muchOutput_toAPeerThatHasEndedItsSide_arrivesWhole() {
        byte[] piece = new byte[64 << 10];
        server.blocking(
                "GET",
                "/much",
                (request, response) -> {
                    while (!request.cancellation().isCancelled()) {
                        Thread.onSpinWait();
                    }
                    ResponseStream out = response.stream();
                    for (int i = 0; i < 64; i++) {
                        out.write(piece);
                    }
                    out.write("the end");
                    out.end();
                });
        Talk talk = connect().send(request("/much"));
        talk.stream().end();
        assertThat(talk.all()).endsWith("the end\r\n0\r\n\r\n");
    }

    @Test
    @Clause("H-4")
    void stream_ofAThread_whosePeerLeaves_throwsNothing() {
        CountDownLatch over = new CountDownLatch(1);
        server.blocking(
                "GET",
                "/endless",
                (_, response) -> {
                    try {
                        ResponseStream out = response.stream();
                        while (out.isOpen()) {
                            out.write(new byte[64 << 10]);
                        }
                        Thread.currentThread().interrupt();
                        out.flush();
                        said.add("write " + out.write("more"));
                        out.end();
                        said.add("interrupted " + Thread.currentThread().isInterrupted());
                    } catch (RuntimeException e) {
                        said.add(e.toString());
                    } finally {
                        over.countDown();
                    }
                });
        try (LogCapture log = new LogCapture()) {
            Talk talk = connect().send(request("/endless")).await("\r\n\r\n");
            talk.stream().pause();
            for (int i = 0; i < 50; i++) {
                turn();
            }
            talk.stream().abort();
            runUntil("over", () -> over.getCount() == 0);
            assertThat(said).containsExactly("write false", "interrupted true");
            assertThat(log.messages()).isEmpty();
        }
    }

    @Test
    @Clause("H-5")
    void thread_thatWaitsForALoopThatIsClosed_isTold() throws InterruptedException {
        CountDownLatch goOn = new CountDownLatch(1);
        List<Thread> started = new CopyOnWriteArrayList<>();
        List<Throwable> thrown = new CopyOnWriteArrayList<>();
        server.blocking(
                "GET",
                "/a",
                (request, _) -> {
                    Thread other =
                            Thread.ofPlatform()
                                    .unstarted(
                                            () -> {
                                                try {
                                                    goOn.await();
                                                    said.add("goes on");
                                                    request.cancellation();
                                                } catch (Throwable e) {
                                                    thrown.add(e);
                                                }
                                            });
                    other.start();
                    started.add(other);
                    never.await();
                });
        connect().send(request("/a"));
        runUntil("started", () -> !started.isEmpty());
        Thread other = started.getFirst();
        goOn.countDown();
        while (other.getState() != Thread.State.WAITING || said.isEmpty()) {
            Thread.onSpinWait(); // Until it waits for the loop, which does not turn.
        }
        loop.close();
        assertThat(other.join(Duration.ofSeconds(20))).as("it has ended").isTrue();
        assertThat(thrown).hasSize(1);
        assertThat(thrown.getFirst()).isInstanceOf(LoopTerminatedException.class);
    }
}
