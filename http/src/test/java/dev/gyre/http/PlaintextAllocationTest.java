package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.US_ASCII;

import com.sun.management.ThreadMXBean;

import dev.gyre.BackendKind;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.io.ListenerConfig;
import dev.gyre.io.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/// Counts bytes, not time: the server and its peer are on one thread, and what is allocated there is counted.
class PlaintextAllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 5_000;
    private static final int WINDOWS = 100;
    private static final long SLACK_BYTES = 4_096;

    @Clause("H-5")
    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    void request_answeredAtOnce_inSteadyState_allocatesNothing(BackendKind backend) {
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withBackend(backend))) {
            assumeTrue(
                    loop.metrics().backendFallback().isEmpty(),
                    "this kernel refuses " + backend + ": `gyre doctor` says why");
            HttpServer server =
                    HttpServer.on(loop)
                            .get("/plaintext", (_, response) -> response.text("Hello, World!"))
                            .listen(
                                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                                    ListenerConfig.DEFAULT);
            byte[] request =
                    "GET /plaintext HTTP/1.1\r\nHost: localhost\r\nUser-Agent: test\r\n\r\n"
                            .getBytes(US_ASCII);
            int[] answers = {0};
            Stream.connect(loop, server.address())
                    .thenAccept(
                            stream -> {
                                stream.onData(
                                        data -> {
                                            data.clear();
                                            if (++answers[0] % ROUNDS == 0) {
                                                loop.stop();
                                            }
                                            stream.write(request);
                                        });
                                stream.write(request);
                            });
            long least = Long.MAX_VALUE;
            for (int window = 0; window < WINDOWS && least > SLACK_BYTES; window++) {
                long before = THREADS.getCurrentThreadAllocatedBytes();
                loop.run();
                least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
            }
            // The Date field is made anew once a second, which the slack is for.
            assertThat(least)
                    .as("bytes allocated in the best window of %d requests", ROUNDS)
                    .isLessThanOrEqualTo(SLACK_BYTES);
        }
    }
}
