package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.LoopTerminatedException;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

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
                    response.onDone(() -> said.add(request.target() + " " + response.status()));
                    return next.handle(request, response);
                });
    }

    @Test
    @Clause("H-3")
    void peersThatClose_haveTheirHandlersInterrupted_andTheirPlacesFree() {
        configure(HttpConfig.DEFAULT.withMaxBlocking(2));
        noteTheEnd();
        CountDownLatch begun = new CountDownLatch(2);
        server.blocking(
                        "GET",
                        "/wait",
                        (_, _) -> {
                            begun.countDown();
                            never.await();
                        })
                .blocking("GET", "/quick", (_, response) -> response.text("quick"));
        try (LogCapture log = new LogCapture()) {
            Talk first = connect().send(request("/wait"));
            Talk second = connect().send(request("/wait"));
            runUntil("begun", () -> begun.getCount() == 0);
            first.stream().close();
            second.stream().close();
            runUntil("both are over", () -> said.size() == 2);
            runUntil("both are gone", () -> server.connections() == 0);
            assertThat(connect().send(request("/quick")).answer(200)).isEqualTo("quick");
            assertThat(said).containsExactly("/wait 499", "/wait 499", "/quick 200");
            assertThat(log.messages()).isEmpty();
        }
    }

    @Test
    @Clause("N-4")
    void handler_thatAnswersInSpiteOfThePeersEnd_isHeard() {
        CountDownLatch begun = new CountDownLatch(1);
        server.blocking(
                        "GET",
                        "/wait",
                        (_, response) -> {
                            begun.countDown();
                            try {
                                never.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                                response.header("X-A", "b").text("in spite of it");
                                said.add("still " + Thread.currentThread().isInterrupted());
                            }
                        })
                .blocking(
                        "GET",
                        "/none",
                        (_, _) -> {
                            throw new HttpException(404, "there is none");
                        });
        Talk waits = connect().send(request("/wait"));
        runUntil("begun", () -> begun.getCount() == 0);
        waits.stream().end();
        assertThat(waits.answer(200)).isEqualTo("in spite of it");
        runUntil("said", () -> said.contains("still true"));
        Talk atOnce = connect().send(request("/none"));
        atOnce.stream().end();
        assertThat(atOnce.answer(404)).contains("there is none");
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
                        // It is let go when the connection is lost, and interrupted right after
                        // that.
                        while (!Thread.currentThread().isInterrupted()) {
                            Thread.onSpinWait();
                        }
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
                (_, response) -> {
                    Thread other =
                            Thread.ofPlatform()
                                    .unstarted(
                                            () -> {
                                                try {
                                                    goOn.await();
                                                    said.add("goes on");
                                                    response.text("too late");
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
