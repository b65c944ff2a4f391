package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;

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
                    goOn.await();
                    try {
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
