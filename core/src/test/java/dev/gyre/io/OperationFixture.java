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

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/// A loop over the backend that a subclass has, its operations, and what their tests need of both.
public abstract class OperationFixture {
    /// More turns than any of these tests takes.
    private static final int MOST_TURNS = 20_000;

    private static final Duration LONGEST = Duration.ofSeconds(60);

    protected EventLoop loop;
    protected Operations operations;

    /// What completed, in order, in words.
    protected final List<String> completed = new ArrayList<>();

    /// Opens a loop over the backend under test.
    protected abstract EventLoop open(LoopConfig config);

    protected LoopConfig config() {
        // A wait that nothing ends fails the test soon instead of after five minutes.
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
    }

    /// Turns the loop until the condition holds.
    protected void runUntil(String what, BooleanSupplier condition) {
        // A guard against waiting for ever, never the verdict on what happens in time.
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

    /// Turns the loop until an operation is through.
    protected void runUntilDone(Operation operation) {
        runUntil(operation + " is through", () -> !operation.isPending());
    }

    /// Turns the loop until it has no more to do at once.
    protected void settle() {
        for (int turns = 0; turns < 5; turns++) {
            loop.defer(() -> {}); // So that it does not wait.
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

    /// Whether there is a network. Else only pairs are to be had.
    protected boolean hasNetwork() {
        return true;
    }

    protected void requireNetwork() {
        assumeTrue(hasNetwork(), "this kernel is in memory and has no network");
    }

    /// Whether the network has datagrams.
    protected boolean hasDatagrams() {
        return hasNetwork();
    }

    protected static SocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    /// A TCP connection: the side that connected, then the side that accepted.
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

    /// Writes and waits until it is through.
    protected void send(Descriptor to, String text) {
        Operation write = operations.write(to, bytes(text), op -> {});
        write.start();
        runUntilDone(write);
        assertThat(write.result()).as("sending: %s", write.failure()).isEqualTo(text.length());
    }

    /// Reads once and waits for it.
    protected String receive(Descriptor from) {
        Buffer buffer = Buffer.allocate(1024);
        Operation read = operations.read(from, buffer, op -> {});
        read.start();
        runUntilDone(read);
        assertThat(read.result()).as("receiving: %s", read.failure()).isNotNegative();
        return buffer.getText(US_ASCII);
    }
}
