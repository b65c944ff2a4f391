package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Cancellation;
import dev.gyre.CancellationSource;
import dev.gyre.CancelledException;
import dev.gyre.Clause;
import dev.gyre.LoopTerminatedException;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;
import dev.gyre.SystemCallException;
import dev.gyre.io.operation.AcceptOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.ReceiveOperation;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.Test;

import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Cancellation and close of operations on every backend: clauses O-6, O-7, O-9, P-5 and S.
public abstract class OperationEndsContract extends OperationFixture {

    // ------------------------------------------------------------------ cancellation

    @Test
    @Clause("O-6")
    void cancel_completesTheOperationOnceAsCancelled() {
        List<Descriptor> pair = pair();
        Operation read = operations.read(pair.get(1), Buffer.allocate(8), note("read")).start();
        settle();
        assertThat(read.cancel()).isTrue();
        assertThat(completed).as("never inside cancel").isEmpty();
        assertThat(read.cancel()).as("asked twice").isFalse();
        runUntilDone(read);
        settle();
        assertThat(completed).containsExactly("read cancelled");
        assertThat(read.isCancelled()).isTrue();
        assertThat(read.failure()).as("E-2: cancellation is a value").isNull();
    }

    @Test
    @Clause("O-6")
    void cancel_ofWhatIsThroughAlready_changesNothing() {
        List<Descriptor> pair = pair();
        send(pair.get(0), "hello");
        Operation read = operations.read(pair.get(1), Buffer.allocate(8), note("read")).start();
        runUntilDone(read);
        assertThat(read.cancel()).isFalse();
        settle();
        assertThat(completed).containsExactly("read 5");
    }

    @Test
    @Clause("O-6")
    void cancel_thenStartAgain_losesNoByte() {
        List<Descriptor> pair = pair();
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 50; i++) {
            Buffer buffer = Buffer.allocate(8);
            Operation read = operations.read(pair.get(1), buffer, op -> {}).start();
            operations.write(pair.get(0), bytes("abc"), op -> {}).start();
            if (i % 3 == 0) {
                settle();
            }
            boolean _ = read.cancel();
            runUntilDone(read);
            text.append(buffer.getText(US_ASCII));
        }
        Sockets.shutdownOutput(loop, pair.get(0));
        for (String rest = receive(pair.get(1)); !rest.isEmpty(); rest = receive(pair.get(1))) {
            text.append(rest);
        }
        assertThat(text).hasToString("abc".repeat(50));
    }

    @Test
    @Clause("O-6")
    void cancelAll_ofADescriptor_cancelsInOrder() {
        List<Descriptor> pair = pair();
        for (int i = 0; i < 5; i++) {
            operations.read(pair.get(1), Buffer.allocate(8), note("read" + i)).start();
        }
        settle();
        operations.cancelAll(pair.get(1));
        runUntil("all through", () -> completed.size() == 5);
        assertThat(completed)
                .containsExactly(
                        "read0 cancelled",
                        "read1 cancelled",
                        "read2 cancelled",
                        "read3 cancelled",
                        "read4 cancelled");
        send(pair.get(0), "still usable");
        assertThat(receive(pair.get(1))).isEqualTo("still usable");
    }

    @Test
    @Clause("O-6")
    void cancelAll_byKey_leavesTheOthers() {
        List<Descriptor> pair = pair();
        for (int i = 0; i < 4; i++) {
            operations
                    .read(pair.get(1), Buffer.allocate(2), note("read" + i))
                    .key(i % 2 == 0 ? "even" : "odd")
                    .start();
        }
        settle();
        operations.cancelAll(pair.get(1), "even");
        runUntil("two through", () -> completed.size() == 2);
        assertThat(completed).containsExactly("read0 cancelled", "read2 cancelled");
        send(pair.get(0), "aabb");
        runUntil("all through", () -> completed.size() == 4);
        assertThat(completed.subList(2, 4)).containsExactly("read1 2", "read3 2");
    }

    @Test
    @Clause("O-6")
    void cancelAll_insideACompletionOfAMultishot_endsThatToo() {
        List<Descriptor> pair = pair();
        ReceiveOperation receive =
                operations.receive(
                        pair.get(1),
                        op -> {
                            note("receive").accept(op);
                            operations.cancelAll(pair.get(1));
                        });
        receive.start();
        send(pair.get(0), "once");
        runUntilDone(receive);
        assertThat(completed).containsExactly("receive 4", "receive cancelled");
    }

    @Test
    @Clause("O-1")
    void startPromised_ofAnAccept_keepsTheConnectionUntilItIsTaken() {
        requireNetwork();
        try (Descriptor listener = Sockets.listen(loop, anyPort())) {
            SocketAddress address = Sockets.localAddress(loop, listener);
            AcceptOperation accept = operations.accept(listener, op -> {});
            List<Descriptor> taken = new ArrayList<>();
            accept.startPromised().thenAccept(_ -> taken.add(accept.accepted()));
            Descriptor client = Sockets.stream(loop, address);
            operations.connect(client, address, op -> {}).start();
            runUntil("taken", () -> !taken.isEmpty());
            send(client, "hello");
            assertThat(receive(taken.getFirst())).isEqualTo("hello");
            taken.getFirst().close();
            client.close();
        }
    }

    @Test
    @Clause("P-5")
    void cancelOn_endsTheOperationFromAnyThread() throws Exception {
        List<Descriptor> pair = pair();
        CancellationSource source = new CancellationSource();
        Operation read =
                operations
                        .read(pair.get(1), Buffer.allocate(8), note("read"))
                        .cancelOn(source.cancellation())
                        .start();
        settle();
        CompletableFuture.runAsync(() -> source.cancel("enough")).get();
        runUntilDone(read);
        assertThat(completed).containsExactly("read cancelled");
        read.start();
        runUntilDone(read);
        assertThat(completed).as("cancelled for good").hasSize(2);
        read.cancelOn(Cancellation.none()).start();
        send(pair.get(0), "x");
        runUntilDone(read);
        assertThat(completed).last().isEqualTo("read 1");
    }

    // ------------------------------------------------------------------ promises

    @Test
    @Clause("O-1")
    void startPromised_promisesTheResult() {
        List<Descriptor> pair = pair();
        List<Object> seen = new ArrayList<>();
        Operation read = operations.read(pair.get(1), Buffer.allocate(8), note("read"));
        Promise<Long> bytes = read.startPromised();
        bytes.thenAccept(seen::add);
        send(pair.get(0), "four");
        runUntil("resolved", () -> !seen.isEmpty());
        assertThat(seen).containsExactly(4L);
        assertThat(completed).as("the promise instead of the callback").isEmpty();

        Promise<Long> cancelled = read.startPromised();
        cancelled.recover(
                e -> {
                    seen.add(e.getClass());
                    return 0L;
                });
        settle();
        assertThat(read.cancel()).isTrue();
        runUntil("rejected", () -> seen.size() == 2);
        assertThat(seen).last().isEqualTo(CancelledException.class);

        pair.get(1).close();
        settle(); // The next run carries out a close between runs.
        operations
                .write(pair.get(0), bytes("x"), note("write"))
                .startPromised()
                .recover(
                        e -> {
                            seen.add(((SystemCallException) e).errnoName());
                            return 0L;
                        });
        runUntil("rejected", () -> seen.size() == 3);
        assertThat(seen).last().isEqualTo("EPIPE");
    }

    // ------------------------------------------------------------------ closing a descriptor

    @Test
    @Clause("O-7")
    void close_ofADescriptor_cancelsWhatIsPendingAndThenGivesTheNumberBack() {
        List<Descriptor> pair = pair();
        int number = pair.get(1).fd();
        operations.read(pair.get(1), Buffer.allocate(8), note("first")).start();
        operations.read(pair.get(1), Buffer.allocate(8), note("second")).start();
        settle();
        pair.get(1).close();
        assertThat(completed).as("never inside close").isEmpty();
        runUntil("both through", () -> completed.size() == 2);
        assertThat(completed).containsExactly("first cancelled", "second cancelled");
        assertThat(receive(pair.get(0))).as("the kernel knows it as closed").isEmpty();
        List<Descriptor> next = pair();
        assertThat(List.of(next.get(0).fd(), next.get(1).fd()))
                .as("the number is free for the next one")
                .contains(number);
    }

    @Test
    @Clause({"O-7", "O-9"})
    void close_andReuseOfTheNumber_reachesNoOldOperation() {
        for (int i = 0; i < 50; i++) {
            completed.clear();
            List<Descriptor> pair = pair();
            Buffer old = Buffer.allocate(8);
            operations.read(pair.get(1), old, note("old")).start();
            if (i % 2 == 0) {
                settle();
            }
            pair.get(1).close();
            pair.get(0).close();
            List<Descriptor> next = pair();
            Buffer fresh = Buffer.allocate(8);
            Operation read = operations.read(next.get(1), fresh, note("new")).start();
            send(next.get(0), "fresh");
            runUntilDone(read);
            runUntil("both through", () -> completed.size() == 2);
            assertThat(completed).containsExactlyInAnyOrder("old cancelled", "new 5");
            assertThat(old.readable()).isZero();
            next.forEach(Descriptor::close);
        }
    }

    @Test
    @Clause("O-7")
    void close_byAnotherThread_endsWhatIsPending() throws Exception {
        List<Descriptor> pair = pair();
        operations
                .read(
                        pair.get(1),
                        Buffer.allocate(8),
                        op -> {
                            note("read").accept(op);
                            loop.stop();
                        })
                .start();
        CompletableFuture<Void> closed = new CompletableFuture<>();
        loop.defer(
                () ->
                        Thread.ofPlatform()
                                .start(
                                        () -> {
                                            pair.get(1).close();
                                            closed.complete(null);
                                        }));
        loop.run();
        closed.get();
        assertThat(completed).containsExactly("read cancelled");
        assertThat(receive(pair.get(0))).isEmpty();
    }

    @Test
    @Clause("O-7")
    void close_insideACompletion_isSafe() {
        List<Descriptor> pair = pair();
        operations
                .read(
                        pair.get(1),
                        Buffer.allocate(8),
                        op -> {
                            note("read").accept(op);
                            pair.get(1).close();
                        })
                .start();
        operations.read(pair.get(1), Buffer.allocate(8), note("next")).start();
        send(pair.get(0), "hello");
        runUntil("both through", () -> completed.size() == 2);
        assertThat(completed).containsExactly("read 5", "next cancelled");
    }

    @Test
    @Clause({"O-7", "B-4"})
    void close_whileAMultishotIsHandedOut_endsItOnce() {
        requireNetwork();
        Descriptor listener = Sockets.listen(loop, anyPort());
        SocketAddress address = Sockets.localAddress(loop, listener);
        AcceptOperation accept =
                operations.acceptEach(
                        listener,
                        op -> {
                            note("accept").accept(op);
                            listener.close();
                        });
        accept.start();
        Descriptor client = Sockets.stream(loop, address);
        operations.connect(client, address, op -> {}).start();
        runUntilDone(accept);
        settle();
        assertThat(completed).hasSize(2);
        assertThat(completed.getLast()).isEqualTo("accept cancelled");
        client.close();
    }

    // ------------------------------------------------------------------ starts and generations

    @Test
    @Clause({"O-8", "O-9"})
    void start_again_isAnotherGenerationOfTheSameOperation() {
        List<Descriptor> pair = pair();
        Buffer buffer = Buffer.allocate(8);
        Operation read = operations.read(pair.get(1), buffer, note("read"));
        int before = read.generation();
        for (int i = 1; i <= 3; i++) {
            read.start();
            assertThat(read.generation()).isEqualTo(before + i);
            send(pair.get(0), "x");
            runUntilDone(read);
        }
        assertThat(completed).containsExactly("read 1", "read 1", "read 1");
    }

    @Test
    @Clause("O-8")
    void release_letsAnotherOperationBeMadeOfIt() {
        List<Descriptor> pair = pair();
        Operation first = operations.read(pair.get(1), Buffer.allocate(8), note("first"));
        first.release();
        assertThatThrownBy(first::start).hasMessageContaining("released");
        Operation second = operations.read(pair.get(0), Buffer.allocate(8), note("second"));
        assertThat(second).isSameAs(first);
        second.start();
        send(pair.get(1), "y");
        runUntilDone(second);
        assertThat(completed).containsExactly("second 1");
    }

    // ------------------------------------------------------------------ shutdown

    @Test
    @Clause("S-1")
    void shutdown_cancelsWhatIsPendingAndHandsItOut() {
        requireNetwork();
        List<Descriptor> pair = pair();
        operations.read(pair.get(1), Buffer.allocate(8), note("read")).start();
        operations
                .acceptEach(Sockets.listen(loop, anyPort()), op -> note("accept").accept(op))
                .start();
        settle();
        loop.defer(() -> report(loop.shutdown(Duration.ofSeconds(10)).toCompletableFuture()));
        loop.run();
        assertThat(completed).containsExactlyInAnyOrder("read cancelled", "accept cancelled");
        assertThat(reports).singleElement().matches(ShutdownReport::graceful);
        assertThat(reports.getFirst().operations()).isZero();
    }

    @Test
    @Clause("S-1")
    void shutdown_letsAWriteThatIsUnderWayFinish() {
        List<Descriptor> pair = pair();
        int size = 1 << 20;
        Buffer large = Buffer.allocate(size);
        while (large.writable() > 0) {
            large.put((byte) 7);
        }
        operations.write(pair.get(0), large, note("write")).start();
        int[] received = {0};
        ByteBuffer into = ByteBuffer.allocateDirect(1 << 16);
        loop.defer(
                () -> {
                    report(loop.shutdown(Duration.ofSeconds(10)).toCompletableFuture());
                    drain(pair.get(1), into, received, size);
                });
        loop.run();
        assertThat(completed).contains("write " + size);
        assertThat(reports).singleElement().matches(ShutdownReport::graceful);
    }

    /// Reads in a chain of callbacks, like a slow peer.
    private void drain(Descriptor from, ByteBuffer into, int[] received, int size) {
        int count = from.read(into.clear());
        received[0] += Math.max(0, count);
        if (received[0] < size) {
            loop.defer(() -> drain(from, into, received, size));
        }
    }

    @Test
    @Clause({"S-2", "S-3"})
    void close_ofTheLoop_abandonsWhatIsPendingAndReportsIt() {
        List<Descriptor> pair = pair();
        operations.read(pair.get(1), Buffer.allocate(8), note("read")).start();
        operations.read(pair.get(1), Buffer.allocate(8), note("read")).start();
        settle();
        report(loop.shutdown(Duration.ZERO).toCompletableFuture());
        loop.close();
        assertThat(completed).isEmpty();
        assertThat(reports).singleElement().matches(report -> report.operations() == 2);
        pair.forEach(Descriptor::close);
        assertThatThrownBy(() -> operations.accept(pair.get(0), op -> {}))
                .isInstanceOf(LoopTerminatedException.class);
    }

    private final List<ShutdownReport> reports = new ArrayList<>();

    private void report(CompletableFuture<ShutdownReport> outcome) {
        CompletableFuture<Void> _ = outcome.thenAccept(reports::add);
    }
}
