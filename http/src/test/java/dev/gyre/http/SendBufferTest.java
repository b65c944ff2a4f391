package dev.gyre.http;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.sun.management.ThreadMXBean;

import dev.gyre.Clause;
import dev.gyre.Promise;
import dev.gyre.conformance.On;
import dev.gyre.io.Buffer;
import dev.gyre.testkit.SimulatedPeer;
import dev.gyre.testkit.SimulatedWorld;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Responses from a buffer.
@On("simulated")
class SendBufferTest {
    private final SimulatedWorld world = SimulatedWorld.seed(4);
    private final List<Long> heapBytes = new ArrayList<>();
    private Buffer body = Buffer.allocate(1);

    SendBufferTest() {
        HttpServer.on(world.loop()).get("/", this::send).listen(80);
    }

    private Promise<?> send(Request request, Response response) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        Promise<?> sent = response.send(body);
        heapBytes.add(threads.getCurrentThreadAllocatedBytes() - before);
        return sent;
    }

    @AfterEach
    void close() {
        world.close();
    }

    private String ask(String method, String bytes) {
        body = Buffer.allocate(bytes.length() + 1).put(bytes.getBytes(ISO_8859_1));
        SimulatedPeer peer = world.connect(80);
        peer.send(method + " / HTTP/1.1\r\nHost: a\r\n\r\n");
        world.advance(Duration.ofSeconds(1));
        assertThat(body.readable()).as("left in the buffer").isZero();
        return new String(peer.received(), ISO_8859_1);
    }

    @Clause("H-4")
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1_000, 20_000, 64 << 10, (64 << 10) + 1, 1 << 20})
    void send_ofABufferOfAnySize_arrives(int length) {
        String bytes = "x".repeat(length);
        assertThat(ask("GET", bytes))
                .startsWith("HTTP/1.1 200 ")
                .contains("\r\nContent-Length: " + length + "\r\n")
                .endsWith("\r\n\r\n" + bytes);
        assertThat(ask("HEAD", bytes))
                .contains("\r\nContent-Length: " + length + "\r\n")
                .endsWith("\r\n\r\n");
    }

    @Clause("H-4")
    @ParameterizedTest
    @ValueSource(ints = {20_000, 64 << 10})
    void send_ofABuffer_isNotCopiedThroughTheHeap(int length) {
        for (int i = 0; i < 5; i++) {
            assertThat(ask("GET", "x".repeat(length))).startsWith("HTTP/1.1 200 ");
        }
        assertThat(heapBytes.getLast()).isLessThan(length / 2);
    }
}
