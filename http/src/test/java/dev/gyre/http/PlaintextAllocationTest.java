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

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/// Counts bytes, not time: the server and its peer are on one thread, and what is allocated there is counted. In a JVM of its own:
/// in one that has run a thousand other tests the compiler has seen every kind of handler, and gives up inlining earlier.
class PlaintextAllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int ROUNDS = 5_000;

    /// Most windows. The first without allocation is the last one: until the compiler has come to
    /// the server, which takes longer on a busy machine, handles of requests are allocated.
    private static final int WINDOWS = 500;

    private static final long SLACK_BYTES = 4_096;
    private static final String REFUSED = "refused";

    @Clause("H-5")
    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    void request_answeredAtOnce_inSteadyState_allocatesNothing(BackendKind backend)
            throws IOException, InterruptedException {
        assertAllocatesNothing(backend, "/plaintext");
    }

    @Clause("H-7")
    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    void request_ofAGroupWithOneMiddleware_inSteadyState_allocatesNothing(BackendKind backend)
            throws IOException, InterruptedException {
        assertAllocatesNothing(backend, "/group/plaintext");
    }

    @Clause("H-7")
    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    void request_ofAVirtualHost_inSteadyState_allocatesNothing(BackendKind backend)
            throws IOException, InterruptedException {
        assertAllocatesNothing(backend, "/host");
    }

    @Clause("V-5")
    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    void request_measured_inSteadyState_allocatesNothing(BackendKind backend)
            throws IOException, InterruptedException {
        assertAllocatesNothing(backend, "/measured");
    }

    private static void assertAllocatesNothing(BackendKind backend, String path)
            throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:CompileCommand=quiet",
                                "-XX:CompileCommand=dontinline,dev.gyre.internal.sys.Linux*::*",
                                "-XX:+UseSerialGC",
                                "--enable-native-access=ALL-UNNAMED",
                                "-cp",
                                System.getProperty("java.class.path"),
                                PlaintextAllocationTest.class.getName(),
                                backend.name(),
                                path)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), US_ASCII).strip();
        assertThat(process.waitFor()).as("exit status of the JVM that counts").isZero();
        assumeTrue(
                !said.equals(REFUSED),
                "this kernel refuses " + backend + ": `gyre doctor` says why");
        // The Date field is made anew once a second, which the slack is for.
        assertThat(Long.parseLong(said))
                .as("bytes allocated in the best window of %d requests", ROUNDS)
                .isLessThanOrEqualTo(SLACK_BYTES);
    }

    /// Says how many bytes the best window has allocated.
    public static void main(String[] args) {
        try (EventLoop loop =
                EventLoop.open(LoopConfig.DEFAULT.withBackend(BackendKind.valueOf(args[0])))) {
            if (loop.metrics().backendFallback().isPresent()) {
                System.out.println(REFUSED);
                return;
            }
            HttpServer made = HttpServer.on(loop);
            if (args[1].equals("/host")) {
                made.host("*.example", host -> host.get("/host", (_, r) -> r.text("Hello!")));
            }
            if (args[1].equals("/measured")) {
                made.use(HttpMetrics.create()).get("/measured", (_, r) -> r.text("Hello!"));
            }
            HttpServer server =
                    made.get("/plaintext", (_, response) -> response.text("Hello, World!"))
                            .route(
                                    "/group",
                                    group ->
                                            group.use((q, r, next) -> next.handle(q, r))
                                                    .get(
                                                            "/plaintext",
                                                            (_, r) -> r.text("Hello, World!")))
                            .listen(
                                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                                    ListenerConfig.DEFAULT);
            byte[] request =
                    "GET %s HTTP/1.1\r\nHost: a.example:80\r\nUser-Agent: test\r\n\r\n"
                            .formatted(args[1])
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
            System.out.println(least);
        }
    }
}
