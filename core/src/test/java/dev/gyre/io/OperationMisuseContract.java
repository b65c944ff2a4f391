package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.ReceiveOperation;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/// Misuse of operations is rejected without side effects.
public abstract class OperationMisuseContract extends OperationFixture {
    @Test
    @Clause("O-8")
    void buffer_inFlight_isRefusedToEverybodyElse() {
        List<Descriptor> pair = pair();
        Buffer buffer = Buffer.allocate(8);
        Operation first = operations.read(pair.get(1), buffer, note("first")).start();
        Operation second = operations.read(pair.get(1), buffer, note("second"));
        assertThatThrownBy(second::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the buffer belongs to the read of descriptor");
        assertThatThrownBy(() -> buffer.put((byte) 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(buffer::clear).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(buffer::readable).isInstanceOf(IllegalStateException.class);
        assertThat(buffer.isInFlight()).isTrue();
        send(pair.get(0), "intact");
        runUntilDone(first);
        assertThat(buffer.isInFlight()).isFalse();
        assertThat(buffer.getText(US_ASCII)).isEqualTo("intact");
        assertThat(completed).containsExactly("first 6");
        assertThat(second.isPending()).isFalse();
    }

    @Test
    @Clause("O-8")
    void vector_withABufferTwice_isRefusedAndLendsNothing() {
        List<Descriptor> pair = pair();
        Buffer one = Buffer.allocate(8);
        Buffer two = Buffer.allocate(8);
        Operation read = operations.read(pair.get(1), List.of(one, two, one), note("read"));
        assertThatThrownBy(read::start).isInstanceOf(IllegalStateException.class);
        assertThat(one.isInFlight()).isFalse();
        assertThat(two.isInFlight()).isFalse();
    }

    @Test
    @Clause("O-8")
    void receivedBuffer_afterTheCallback_isRefused() {
        List<Descriptor> pair = pair();
        Buffer[] leaked = {null};
        operations
                .receive(
                        pair.get(1),
                        op -> {
                            if (op.result() > 0) {
                                leaked[0] = op.received();
                            }
                        })
                .start();
        send(pair.get(0), "mine?");
        runUntil("received", () -> leaked[0] != null);
        settle();
        assertThatThrownBy(() -> leaked[0].get())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("keep()");
    }

    @Test
    @Clause("O-8")
    void receivedBuffer_thatIsNotKept_isRefusedToOperationsAndGoesBackOnce() {
        List<Descriptor> pair = pair();
        List<String> refused = new ArrayList<>();
        int[] bytes = {0};
        ReceiveOperation receive =
                operations.receive(
                        pair.get(1),
                        op -> {
                            if (op.result() > 0) {
                                bytes[0] += op.received().readable();
                                Operation echo =
                                        operations.write(pair.get(1), op.received(), done -> {});
                                try {
                                    echo.start();
                                } catch (IllegalStateException e) {
                                    refused.add(e.getMessage());
                                }
                                op.received().release(); // It goes back by itself.
                            }
                        });
        receive.start();
        for (int i = 1; i <= 3; i++) {
            send(pair.get(0), "abc");
            int expected = 3 * i;
            runUntil("received", () -> bytes[0] == expected);
        }
        assertThat(refused).hasSize(3).allMatch(message -> message.contains("keep() it before"));
    }

    @Test
    @Clause("O-8")
    void keptBuffer_isReleasedOnceByAnyThread() throws Exception {
        List<Descriptor> pair = pair();
        Buffer[] kept = {null};
        operations
                .receive(
                        pair.get(1),
                        op -> {
                            if (op.result() > 0) {
                                kept[0] = op.keep();
                            }
                        })
                .start();
        send(pair.get(0), "kept");
        runUntil("received", () -> kept[0] != null);
        Buffer mine = kept[0];
        Operation write = operations.write(pair.get(1), mine, note("echo")).start();
        if (mine.isInFlight()) {
            assertThatThrownBy(mine::release).isInstanceOf(IllegalStateException.class);
        }
        runUntilDone(write);
        assertThat(receive(pair.get(0))).isEqualTo("kept");
        CompletableFuture.runAsync(mine::release).get();
        assertThatThrownBy(mine::release)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the loop again");
    }

    @Test
    @Clause("O-8")
    void slice_ofWhatIsReceived_endsWithTheCallback() {
        List<Descriptor> pair = pair();
        List<Buffer> slices = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        operations
                .receive(
                        pair.get(1),
                        op -> {
                            if (op.result() > 0) {
                                Buffer slice = op.received().slice(4);
                                slices.add(slice);
                                slices.add(slice.slice(2));
                                slice.release(); // It goes back by itself.
                                op.received().clear().put(new byte[8]);
                                texts.add(slices.get(1).getText(US_ASCII));
                                texts.add(slice.getText(US_ASCII));
                            }
                        })
                .start();
        send(pair.get(0), "fourmore");
        runUntil("received", () -> texts.size() == 2);
        assertThat(texts).containsExactly("fo", "ur");
        for (Buffer slice : slices) {
            assertThatThrownBy(slice::readable)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("the loop again")
                    .hasMessageContaining("valid during the callback only");
        }
    }

    @Test
    @Clause("O-8")
    void slice_ofWhatIsKept_outlivesItAndTheCallback() {
        List<Descriptor> pair = pair();
        Buffer[] slices = {null, null};
        operations
                .receive(
                        pair.get(1),
                        op -> {
                            if (op.result() > 0) {
                                slices[0] = op.received().slice(1);
                                Buffer kept = op.keep();
                                slices[1] = kept.slice(3);
                                kept.release();
                            }
                        })
                .start();
        send(pair.get(0), "1234");
        runUntil("received", () -> slices[1] != null);
        assertThatThrownBy(() -> slices[0].get())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("after keep()");
        Operation write = operations.write(pair.get(1), slices[1], op -> slices[1].release());
        write.start();
        runUntilDone(write);
        assertThat(receive(pair.get(0))).isEqualTo("234");
        assertThatThrownBy(slices[1]::release).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Clause("O-1")
    void startPromised_ofWhatCompletesManyTimes_isRefused() {
        List<Descriptor> pair = pair();
        ReceiveOperation receive = operations.receive(pair.get(1), op -> {});
        assertThatThrownBy(receive::startPromised)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("completes repeatedly");
    }

    @Test
    @Clause("O-1")
    void start_whilePending_isRefused() {
        List<Descriptor> pair = pair();
        Operation read = operations.read(pair.get(1), Buffer.allocate(8), note("read")).start();
        assertThatThrownBy(read::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is pending");
        assertThatThrownBy(read::release)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is pending");
        send(pair.get(0), "ok");
        runUntilDone(read);
        assertThat(completed).containsExactly("read 2");
    }

    @Test
    @Clause("O-1")
    void start_withAFullOrEmptyBuffer_isRefused() {
        List<Descriptor> pair = pair();
        Operation read = operations.read(pair.get(1), bytes("full"), note("read"));
        assertThatThrownBy(read::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no room");
        Operation write = operations.write(pair.get(0), Buffer.allocate(8), note("write"));
        assertThatThrownBy(write::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("nothing to write");
        assertThatThrownBy(() -> Buffer.allocate(0)).hasMessageContaining("from 1 to");
        assertThatThrownBy(() -> Buffer.allocate(Integer.MAX_VALUE)).hasMessageContaining("from 1");
        assertThatThrownBy(() -> operations.read(pair.get(1), List.of(), note("none")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("buffers must be from 1 to 1024, but are 0");
    }

    @Test
    @Clause("O-7")
    void start_onAClosedDescriptor_isRefused() {
        List<Descriptor> pair = pair();
        Buffer buffer = Buffer.allocate(8);
        Operation read = operations.read(pair.get(1), buffer, note("read"));
        pair.get(1).close();
        assertThatThrownBy(read::start).isInstanceOf(ClosedDescriptorException.class);
        assertThat(buffer.isInFlight()).isFalse();
    }

    @Test
    @Clause({"O-1", "W-1"})
    void watching_andOperations_doNotShareADescriptor() {
        List<Descriptor> pair = pair();
        loop.watch(pair.get(1), WatchSpec.reading(watcher -> {}));
        Operation read = operations.read(pair.get(1), Buffer.allocate(8), note("read"));
        assertThatThrownBy(read::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("unwatch");
        loop.unwatch(pair.get(1));
        read.start();
        assertThatThrownBy(() -> loop.watch(pair.get(1), WatchSpec.reading(watcher -> {})))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("cancel them first");
        boolean _ = read.cancel();
        runUntilDone(read);
        int[] seen = {0};
        loop.watch(
                pair.get(1),
                WatchSpec.reading(
                        watcher -> {
                            seen[0]++;
                            watcher.unwatch();
                        }));
        send(pair.get(0), "both in turn");
        runUntil("watched", () -> seen[0] == 1);
        assertThat(receive(pair.get(1))).isEqualTo("both in turn");
    }

    @Test
    @Clause("L-9")
    void start_onAnotherThread_isRefusedWhileTheLoopRuns() {
        List<Descriptor> pair = pair();
        Operation read = operations.read(pair.get(1), Buffer.allocate(8), note("read"));
        Throwable[] thrown = {null};
        loop.defer(
                () -> {
                    try {
                        CompletableFuture.runAsync(read::start).join();
                    } catch (CompletionException e) {
                        thrown[0] = e.getCause();
                    }
                });
        settle();
        assertThat(thrown[0])
                .isInstanceOf(WrongThreadException.class)
                .hasMessageContaining(Thread.currentThread().getName());
    }

    @Test
    @Clause({"O-1", "E-1"})
    void sockets_refuseWhatCannotBe() {
        requireNetwork();
        try (Descriptor listener = Sockets.listen(loop, anyPort())) {
            SocketAddress taken = Sockets.localAddress(loop, listener);
            assertThatThrownBy(() -> Sockets.listen(loop, taken))
                    .isInstanceOf(SystemCallException.class)
                    .hasMessageContaining("EADDRINUSE")
                    .hasMessageContaining(taken.toString());
        }
        assertThatThrownBy(
                        () ->
                                Sockets.listen(
                                        loop,
                                        InetSocketAddress.createUnresolved("example.invalid", 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not resolved");
    }

    @Test
    @Clause("O-1")
    void arguments_thatAreMissing_areNamed() {
        List<Descriptor> pair = pair();
        assertThatThrownBy(() -> operations.read(pair.get(0), Buffer.allocate(1), null))
                .hasMessageContaining("done");
        assertThatThrownBy(() -> operations.read(null, Buffer.allocate(1), op -> {}))
                .hasMessageContaining("descriptor");
        assertThatThrownBy(() -> operations.cancelAll(pair.get(0), null))
                .hasMessageContaining("key");
        assertThatThrownBy(() -> operations.sendFile(pair.get(0), -1, 1, pair.get(1), op -> {}))
                .hasMessageContaining("offset must be at least 0, but is -1");
        assertThatThrownBy(() -> operations.sendFile(pair.get(0), 0, 0, pair.get(1), op -> {}))
                .hasMessageContaining("bytes must be at least 1");
    }
}
