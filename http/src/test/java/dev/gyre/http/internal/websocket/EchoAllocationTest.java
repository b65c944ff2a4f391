package dev.gyre.http.internal.websocket;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;

import dev.gyre.EventLoop;
import dev.gyre.http.WebSocket;
import dev.gyre.http.WebSocketConfig;
import dev.gyre.io.Buffer;
import dev.gyre.io.Listener;
import dev.gyre.io.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/// What an echo of text costs in garbage: the String, and nothing beside it.
class EchoAllocationTest {
    private static final int WARM_UP = 200;
    private static final int ROUNDS = 400;
    private static final int MESSAGES = 100;
    private static final int LENGTH = 40;

    /// A String with its header and that of its bytes, and a little for what the loop does each turn.
    private static final long MOST_BYTES = 24 + 16 + LENGTH + 16;

    private int echoed;

    @Test
    void echo_ofText_allocatesTheText() {
        try (EventLoop loop = EventLoop.open()) {
            Stream client =
                    connected(
                            loop,
                            null,
                            socket -> socket.onText(socket::send),
                            data -> {
                                echoed += data.readable();
                                data.clear();
                            });
            byte[][] many = new byte[MESSAGES][];
            java.util.Arrays.fill(many, Frames.frame(Frames.TEXT, "x".repeat(LENGTH)));
            Buffer burst = Buffer.allocate(1 << 16).put(Frames.join(many));
            run(loop, client, burst, WARM_UP);
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long before = threads.getCurrentThreadAllocatedBytes();
            run(loop, client, burst, ROUNDS);
            long each = (threads.getCurrentThreadAllocatedBytes() - before) / (ROUNDS * MESSAGES);
            assertThat(each)
                    .as(
                            "bytes allocated for each echo of %d: look at"
                                    + " WebSocketProtocol.readWhole",
                            LENGTH)
                    .isLessThanOrEqualTo(MOST_BYTES);
        }
    }

    /// The longest that is usual, from a thousand bytes: neither what it is inflated to nor what it is deflated to is
    /// made anew.
    @Test
    void echo_ofALongCompressedMessage_allocatesNextToNothing() {
        try (EventLoop loop = EventLoop.open()) {
            Stream client =
                    connected(
                            loop,
                            ServerSide.COMPRESSED,
                            socket ->
                                    socket.onBinary(
                                            data -> {
                                                socket.send(data);
                                                echoed++;
                                            }),
                            Buffer::clear);
            byte[] one = Frames.frame(0xc2, Frames.deflated(new byte[1 << 20]), true);
            exchange(loop, client, one, 20);
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long before = threads.getCurrentThreadAllocatedBytes();
            exchange(loop, client, one, 20);
            assertThat((threads.getCurrentThreadAllocatedBytes() - before) / 20)
                    .as("bytes allocated for each echo of 1 MiB")
                    .isLessThan(16 << 10);
        }
    }

    /// A client's end of a connection, and at the other a socket.
    private static Stream connected(
            EventLoop loop,
            @Nullable String extensions,
            Consumer<WebSocket> opened,
            Consumer<Buffer> received) {
        Listener listener =
                Listener.tcp(
                        loop,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        stream ->
                                new WebSocketProtocol(
                                                stream,
                                                WebSocketConfig.DEFAULT,
                                                true,
                                                extensions,
                                                null,
                                                "/")
                                        .begin(stream, opened));
        AtomicReference<Stream> client = new AtomicReference<>();
        Stream.connect(loop, listener.address()).thenAccept(client::set);
        while (client.get() == null) {
            loop.runSome();
        }
        client.get().onData(received);
        return client.get();
    }

    private void exchange(EventLoop loop, Stream client, byte[] message, int times) {
        echoed = 0;
        for (int i = 0; i < times; i++) {
            client.write(message);
            while (echoed <= i) {
                loop.runSome();
            }
        }
    }

    private void run(EventLoop loop, Stream client, Buffer burst, int rounds) {
        for (int i = 0; i < rounds; i++) {
            echoed = 0;
            client.write(burst.asReadable());
            while (echoed < MESSAGES * (LENGTH + 2)) {
                loop.runSome();
            }
        }
    }
}
