package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;

import dev.gyre.BackendKind;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/// Counts bytes, not time, as `OperationAllocationTest` does.
class StreamAllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int MESSAGES = 5_000;
    private static final int WINDOWS = 100;
    private static final long SLACK_BYTES = 4_096;

    @ParameterizedTest
    @EnumSource(
            value = BackendKind.class,
            names = {"EPOLL", "IO_URING"})
    @Clause({"N-2", "O-8"})
    void echo_withTimeouts_inSteadyState_allocatesNothing(BackendKind backend) {
        try (EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withBackend(backend))) {
            assumeTrue(
                    loop.metrics().backendFallback().isEmpty(),
                    "this kernel refuses " + backend + ": `gyre doctor` says why");
            StreamConfig config =
                    StreamConfig.DEFAULT
                            .withIdleTimeout(Duration.ofMinutes(5))
                            .withReadTimeout(Duration.ofMinutes(2));
            Listener listener =
                    Listener.on(
                            loop,
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                            ListenerConfig.DEFAULT.withStreams(config),
                            stream -> stream.onData(stream::write));
            byte[] message = new byte[64];
            long[] back = {0};
            Stream.connect(loop, listener.address(), config)
                    .thenAccept(
                            stream -> {
                                stream.onData(
                                        data -> {
                                            back[0] += data.readable();
                                            data.clear();
                                            if (back[0] % ((long) MESSAGES * message.length) == 0) {
                                                loop.stop();
                                            }
                                            stream.write(message);
                                        });
                                stream.write(message);
                            });
            long least = Long.MAX_VALUE;
            for (int window = 0; window < WINDOWS && least > SLACK_BYTES; window++) {
                long before = THREADS.getCurrentThreadAllocatedBytes();
                loop.run();
                least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
            }
            assertThat(least)
                    .as("bytes allocated in the best window of %d messages", MESSAGES)
                    .isLessThanOrEqualTo(SLACK_BYTES);
        }
    }
}
