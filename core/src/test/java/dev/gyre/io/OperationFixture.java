package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.io.operation.AcceptOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.Sockets;
import dev.gyre.metrics.LoopMetrics;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/// A loop on the backend of a subclass, its operations, and helpers for tests.
public abstract class OperationFixture {
    /// More ticks than any test needs.
    private static final int MOST_TURNS = 20_000;

    private static final Duration LONGEST = Duration.ofSeconds(60);

    protected EventLoop loop;
    protected Operations operations;

    /// The completions in order, as text.
    protected final List<String> completed = new ArrayList<>();

    /// Opens a loop over the backend under test.
    protected abstract EventLoop open(LoopConfig config);

    protected LoopConfig config() {
        // A wait without an event fails the test soon, not after five minutes.
        return LoopConfig.DEFAULT.withMaxWait(Duration.ofSeconds(10));
    }

    @BeforeEach
    void openLoop() {
        loop = open(config());
        operations = Operations.on(loop);
    }

    @AfterEach
    void closeLoop() {
        loop.close();
        assertBalanced(loop);
    }

    /// Clause V-2: every stream that a terminated loop had was counted once when it was opened or
    /// moved in, and once when it was closed or moved out.
    static void assertBalanced(EventLoop terminated) {
        LoopMetrics metrics = terminated.metrics();
        long closed = Arrays.stream(CloseReason.values()).mapToLong(metrics::streamsClosed).sum();
        assertThat(closed + metrics.streamsMovedOut())
                .as("closed and moved out of %s", terminated)
                .isEqualTo(metrics.streamsOpened() + metrics.streamsMovedIn());
        assertThat(metrics.streams()).isZero();
    }

    /// Runs ticks until the condition holds.
    protected void runUntil(String what, BooleanSupplier condition) {
        // Guards against an endless wait. Not an assertion about time.
        long deadline = loop.nanoTime() + LONGEST.toNanos();
        int turns = 0;
        while (!condition.getAsBoolean() && turns < MOST_TURNS && loop.nanoTime() < deadline) {
            loop.runSome();
            turns++;
        }
        assertThat(condition.getAsBoolean())
                .as("%s, after %d turns; completed: %s", what, turns, completed)
                .isTrue();
    }

    /// Runs ticks until an operation completes.
    protected void runUntilDone(Operation operation) {
        runUntil(operation + " is through", () -> !operation.isPending());
    }

    /// Runs ticks until the loop has no immediate work.
    protected void settle() {
        for (int turns = 0; turns < 5; turns++) {
            loop.defer(() -> {}); // Prevents a wait.
            loop.runSome();
        }
    }

    protected Consumer<Operation> note(String name) {
        return op ->
                completed.add(
                        name
                                + " "
                                + (op.isCancelled()
                                        ? "cancelled"
                                        : op.failure() != null
                                                ? op.failure().errnoName()
                                                : Long.toString(op.result())));
    }

    protected List<Descriptor> pair() {
        return Sockets.pair(loop);
    }

    /// Whether the backend has a network. Otherwise only pairs are available.
    protected boolean hasNetwork() {
        return true;
    }

    protected void requireNetwork() {
        assumeTrue(hasNetwork(), "this kernel is in memory and has no network");
    }

    /// Whether the backend has datagrams.
    protected boolean hasDatagrams() {
        return hasNetwork();
    }

    protected static SocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    /// Opens a TCP connection. Returns the connected side, then the accepted side.
    protected List<Descriptor> connection() {
        try (Descriptor listener = Sockets.listen(loop, anyPort())) {
            SocketAddress address = Sockets.localAddress(loop, listener);
            List<Descriptor> ends = new ArrayList<>();
            Descriptor client = Sockets.stream(loop, address);
            Operation connect = operations.connect(client, address, op -> ends.add(client));
            AcceptOperation accept = operations.accept(listener, op -> ends.add(op.accepted()));
            connect.start();
            accept.start();
            runUntil("connected", () -> ends.size() == 2);
            assertThat(connect.result()).as("connecting: %s", connect.failure()).isZero();
            return ends.getFirst() == client ? ends : ends.reversed();
        }
    }

    protected static Buffer bytes(String text) {
        return Buffer.allocate(Math.max(1, text.length())).put(text.getBytes(US_ASCII));
    }

    /// Writes and waits for the completion.
    protected void send(Descriptor to, String text) {
        Operation write = operations.write(to, bytes(text), op -> {});
        write.start();
        runUntilDone(write);
        assertThat(write.result()).as("sending: %s", write.failure()).isEqualTo(text.length());
    }

    /// Reads once and waits for the completion.
    protected String receive(Descriptor from) {
        Buffer buffer = Buffer.allocate(1024);
        Operation read = operations.read(from, buffer, op -> {});
        read.start();
        runUntilDone(read);
        assertThat(read.result()).as("receiving: %s", read.failure()).isNotNegative();
        return buffer.getText(US_ASCII);
    }
}
