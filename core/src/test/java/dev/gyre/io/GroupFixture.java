package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.BackendKind;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroup;
import dev.gyre.LoopGroupConfig;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// A group of two loops on the backend of a subclass, and blocking clients.
abstract class GroupFixture {
    /// Guards against an endless wait. Not an assertion about time.
    private static final Duration MAX_WAIT = Duration.ofSeconds(60);

    protected LoopGroup group;
    protected GroupListener listener;

    /// How many connections each loop has served.
    protected final Map<EventLoop, AtomicInteger> served = new ConcurrentHashMap<>();

    private final List<Socket> clients = new ArrayList<>();

    protected abstract BackendKind backend();

    protected LoopGroupConfig config() {
        return LoopGroupConfig.DEFAULT.withLoopConfig(
                LoopConfig.DEFAULT.withName("group").withBackend(backend()));
    }

    @BeforeEach
    void openGroup() {
        open(2, config());
    }

    protected void open(int size, LoopGroupConfig config) {
        closeGroup();
        group = LoopGroup.of(size, config);
        boolean fallback =
                group.loops().stream()
                        .anyMatch(loop -> loop.metrics().backendFallback().isPresent());
        if (fallback) {
            group.close();
            assumeTrue(false, "this kernel refuses the backend: `gyre doctor` says why");
        }
    }

    @AfterEach
    void closeGroup() {
        for (Socket client : clients) {
            closeQuietly(client);
        }
        if (group != null) {
            group.close();
            group.loops().forEach(OperationFixture::assertBalanced);
        }
    }

    private static void closeQuietly(Socket client) {
        try {
            client.close();
        } catch (IOException e) {
            throw new AssertionError("closing a socket does not fail", e);
        }
    }

    protected static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    /// Listens with an echo that records the loop.
    protected void listen(ListenerConfig config) {
        listener = Listener.on(group, anyPort(), config, this::echo);
        group.start();
    }

    protected void echo(Stream stream) {
        assertThat(stream.loop().isLoopThread()).isTrue();
        served.computeIfAbsent(stream.loop(), _ -> new AtomicInteger()).incrementAndGet();
        stream.onData(stream::write);
    }

    protected int totalServed() {
        return served.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    protected Socket connect() throws IOException {
        Socket client = new Socket();
        clients.add(client);
        client.setSoTimeout((int) MAX_WAIT.toMillis());
        client.connect(listener.address());
        return client;
    }

    /// Sends a line and requires the same back.
    protected static void exchange(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(US_ASCII));
        byte[] back = client.getInputStream().readNBytes(text.length());
        assertThat(new String(back, US_ASCII)).isEqualTo(text);
    }

    /// Closes the client with a reset.
    protected static void reset(Socket client) throws IOException {
        client.setSoLinger(true, 0);
        client.close();
    }

    protected static void await(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + MAX_WAIT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as(what).isLessThan(end);
            LockSupport.parkNanos(1_000_000);
        }
    }

    /// Makes a loop fail with a VM error.
    protected static void fail(EventLoop loop) {
        loop.submit(
                () -> {
                    throw new InternalError("provoked");
                });
    }

    protected EventLoop loop(int index) {
        return group.loops().get(index);
    }
}
