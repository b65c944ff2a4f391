package dev.gyre.http.internal.message;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import dev.gyre.Clause;
import dev.gyre.io.Buffer;

import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.function.IntSupplier;

/// Counts the bytes allocated for valid heads. A rejected head is the last one on its connection and
/// creates text for a log. The compiler may allocate within a window, so the best of many counts.
class HeadAllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int HEADS = 100_000;
    private static final int WINDOWS = 50;

    @Clause("H-1")
    @Test
    void parse_ofRequests_inSteadyState_allocatesNothing() {
        RequestHead head = new RequestHead(8 << 10, 16 << 10, 100);
        Buffer small = buffer("GET /plaintext HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
        Buffer large =
                buffer(
                        "POST /a?b=c HTTP/1.1\r\nHost: example.org\r\nConnection: keep-alive\r\n"
                                + "X-Field: with a value of some length\r\n".repeat(40)
                                + "Content-Length: 12\r\n\r\nHello, World");
        Buffer incomplete = buffer("GET / HTTP/1.1\r\nHost: example.org\r\nX: y");

        assertThat(
                        leastAllocated(
                                () ->
                                        head.parse(small)
                                                + head.parse(large)
                                                + head.parse(incomplete)))
                .as("bytes allocated for %d times three heads: find what makes an object", HEADS)
                .isZero();
    }

    @Clause("H-1")
    @Test
    void parse_ofResponses_inSteadyState_allocatesNothing() {
        ResponseHead head = new ResponseHead(16 << 10, 100);
        Buffer data = buffer("HTTP/1.1 200 OK\r\nServer: gyre\r\nContent-Length: 12\r\n\r\n");

        assertThat(leastAllocated(() -> head.parse(data)))
                .as("bytes allocated for %d heads: find what makes an object", HEADS)
                .isZero();
    }

    private static long leastAllocated(IntSupplier parse) {
        long least = Long.MAX_VALUE;
        long sum = 0;
        for (int window = 0; window < WINDOWS && least > 0; window++) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < HEADS; i++) {
                sum += parse.getAsInt();
            }
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        assertThat(sum).as("what parse() returned").isPositive();
        return least;
    }

    private static Buffer buffer(String text) {
        return Buffer.allocate(4096).put(text);
    }
}
