package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.internal.sys.Errno;
import dev.gyre.io.operation.AcceptOperation;
import dev.gyre.io.operation.MessageOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.ReceiveOperation;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Operations on every backend: clauses O-1 to O-6.
public abstract class OperationContract extends OperationFixture {

    // ------------------------------------------------------------------ reading and writing

    @Test
    @Clause({"O-1", "O-3"})
    void read_ofWhatIsThere_completesInALaterTurnAndNeverInsideStart() {
        List<Descriptor> pair = pair();
        send(pair.get(0), "hello");
        Buffer buffer = Buffer.allocate(16);
        Operation read = operations.read(pair.get(1), buffer, note("read"));
        read.start();
        assertThat(completed).as("nothing completes inside start").isEmpty();
        assertThat(read.isPending()).isTrue();
        runUntilDone(read);
        assertThat(completed).containsExactly("read 5");
        assertThat(buffer.getText(US_ASCII)).isEqualTo("hello");
    }

    @Test
    @Clause({"O-1", "O-4"})
    void read_beforeAnythingIsThere_waitsForIt() {
        List<Descriptor> pair = pair();
        Buffer buffer = Buffer.allocate(16);
        Operation read = operations.read(pair.get(1), buffer, note("read")).start();
        settle();
        assertThat(completed).isEmpty();
        send(pair.get(0), "later");
        runUntilDone(read);
        assertThat(completed).containsExactly("read 5");
    }

    @Test
    @Clause({"O-1", "E-2"})
    void read_atTheEnd_completesWithZero() {
        List<Descriptor> pair = pair();
        send(pair.get(0), "last words");
        Sockets.shutdownOutput(loop, pair.get(0));
        assertThat(receive(pair.get(1))).isEqualTo("last words");
        assertThat(receive(pair.get(1))).isEmpty();
        assertThat(receive(pair.get(1))).as("and stays there").isEmpty();
    }

    @Test
    @Clause("O-4")
    void read_whenTheEndCameTogetherWithBytes_findsBoth() {
        List<Descriptor> ends = connection();
        Buffer buffer = Buffer.allocate(64);
        Operation read =
                operations.read(
                        ends.get(1),
                        buffer,
                        op -> {
                            note("read").accept(op);
                            if (op.result() > 0) {
                                op.start();
                            }
                        });
        read.start();
        settle();
        send(ends.get(0), "bye");
        Sockets.shutdownOutput(loop, ends.get(0));
        runUntilDone(read);
        assertThat(completed).containsExactly("read 3", "read 0");
    }

    @Test
    @Clause({"O-1", "O-8"})
    void write_ofMoreThanTheKernelTakes_completesOnceAllOfItIsGone() {
        List<Descriptor> pair = pair();
        int size = 1 << 22;
        Buffer large = Buffer.allocate(size);
        for (int i = 0; i < size; i++) {
            large.put((byte) ((i * 31) >>> 3));
        }
        Operation write = operations.write(pair.get(0), large, note("write")).start();
        settle();
        assertThat(completed).as("more than any socket buffer holds").isEmpty();
        int[] received = {0};
        Buffer into = Buffer.allocate(1 << 16);
        operations
                .read(
                        pair.get(1),
                        into,
                        op -> {
                            while (into.readable() > 0) {
                                int at = received[0]++;
                                assertThat(into.get()).isEqualTo((byte) ((at * 31) >>> 3));
                            }
                            into.clear();
                            if (received[0] < size) {
                                op.start();
                            }
                        })
                .start();
        runUntil("all received", () -> received[0] == size);
        runUntilDone(write);
        assertThat(completed).containsExactly("write " + size);
        assertThat(write.transferred()).isEqualTo(size);
        assertThat(large.readable()).isZero();
    }

    @Test
    @Clause({"O-1", "E-1"})
    void write_toAPeerThatIsGone_failsWithABrokenPipe() {
        List<Descriptor> pair = pair();
        pair.get(1).close();
        Operation write = operations.write(pair.get(0), bytes("anyone?"), note("write")).start();
        runUntilDone(write);
        assertThat(completed).containsExactly("write EPIPE");
        assertThat(write.failure()).hasMessageContaining("write on descriptor");
    }

    @Test
    @Clause("O-1")
    void vectors_areFilledAndEmptiedOneAfterTheOther() {
        List<Descriptor> pair = pair();
        List<Buffer> out =
                List.of(bytes("one "), Buffer.allocate(8), bytes("two "), bytes("three"));
        Operation write = operations.write(pair.get(0), out, note("write")).start();
        runUntilDone(write);
        List<Buffer> in = List.of(Buffer.allocate(3), Buffer.allocate(5), Buffer.allocate(64));
        Operation read = operations.read(pair.get(1), in, note("read")).start();
        runUntilDone(read);
        assertThat(completed).containsExactly("write 13", "read 13");
        assertThat(in)
                .extracting(b -> b.getText(US_ASCII))
                .containsExactly("one", " two ", "three");
        assertThat(out).extracting(Buffer::readable).containsOnly(0);
    }

    @Test
    @Clause("O-1")
    void writeVector_ofMoreThanTheKernelTakes_goesOnWhereItStopped() {
        List<Descriptor> pair = pair();
        int size = 1 << 20;
        List<Buffer> out = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Buffer part = Buffer.allocate(size + i);
            while (part.writable() > 0) {
                part.put((byte) i);
            }
            out.add(part);
        }
        Operation write = operations.write(pair.get(0), out, note("write")).start();
        long all = 5L * size + 10;
        long[] received = {0};
        int[] last = {0};
        Buffer into = Buffer.allocate(1 << 16);
        operations
                .read(
                        pair.get(1),
                        into,
                        op -> {
                            while (into.readable() > 0) {
                                byte value = into.get();
                                assertThat(value).isBetween((byte) last[0], (byte) (last[0] + 1));
                                last[0] = value;
                                received[0]++;
                            }
                            into.clear();
                            if (received[0] < all) {
                                op.start();
                            }
                        })
                .start();
        runUntil("all received", () -> received[0] == all);
        runUntilDone(write);
        assertThat(completed).containsExactly("write " + all);
    }

    // ------------------------------------------------------------------ order

    @Test
    @Clause("O-2")
    void reads_ofOneDescriptor_completeInTheOrderOfTheirStart() {
        List<Descriptor> pair = pair();
        for (int i = 0; i < 4; i++) {
            operations.read(pair.get(1), Buffer.allocate(2), note("read" + i)).start();
        }
        settle();
        send(pair.get(0), "aabbccdd");
        runUntil("four reads", () -> completed.size() == 4);
        assertThat(completed).containsExactly("read0 2", "read1 2", "read2 2", "read3 2");
    }

    @Test
    @Clause({"O-2", "O-8"})
    void writes_ofOneDescriptor_doNotMixTheirBytes() {
        List<Descriptor> pair = pair();
        int size = 1 << 20;
        for (int i = 0; i < 4; i++) {
            Buffer part = Buffer.allocate(size);
            while (part.writable() > 0) {
                part.put((byte) i);
            }
            operations.write(pair.get(0), part, note("write" + i)).start();
        }
        int[] received = {0};
        Buffer into = Buffer.allocate(1 << 16);
        operations
                .read(
                        pair.get(1),
                        into,
                        op -> {
                            while (into.readable() > 0) {
                                assertThat(into.get()).isEqualTo((byte) (received[0]++ / size));
                            }
                            into.clear();
                            if (received[0] < 4 * size) {
                                op.start();
                            }
                        })
                .start();
        runUntil("all through", () -> received[0] == 4 * size && completed.size() == 4);
        assertThat(completed)
                .containsExactly(
                        "write0 " + size, "write1 " + size, "write2 " + size, "write3 " + size);
    }

    @Test
    @Clause("O-3")
    void operation_thatRestartsForEver_leavesTimersAndOthersTheirTurn() {
        List<Descriptor> pair = pair();
        Buffer one = Buffer.allocate(1);
        int[] rounds = {0};
        boolean[] over = {false};
        operations
                .write(
                        pair.get(0),
                        one.put((byte) 1),
                        op -> {
                            rounds[0]++;
                            one.clear().put((byte) 1);
                            if (!over[0]) {
                                op.start();
                            }
                        })
                .start();
        Buffer into = Buffer.allocate(1 << 16);
        operations
                .read(
                        pair.get(1),
                        into,
                        op -> {
                            into.clear();
                            if (!over[0]) {
                                op.start();
                            }
                        })
                .start();
        int[] fired = {0};
        loop.after(
                Duration.ZERO,
                timer -> {
                    over[0] = ++fired[0] == 50;
                    if (!over[0]) {
                        timer.reschedule(Duration.ZERO);
                    }
                });
        runUntil("the timer fired", () -> over[0]);
        assertThat(rounds[0]).isPositive();
    }

    // ------------------------------------------------------------------ connections

    @Test
    @Clause("O-1")
    void connection_carriesBytesBothWays() {
        requireNetwork();
        List<Descriptor> ends = connection();
        send(ends.get(0), "ping");
        assertThat(receive(ends.get(1))).isEqualTo("ping");
        send(ends.get(1), "pong");
        assertThat(receive(ends.get(0))).isEqualTo("pong");
        assertThat(Sockets.peerAddress(loop, ends.get(0)))
                .isEqualTo(Sockets.localAddress(loop, ends.get(1)));
    }

    @Test
    @Clause({"O-1", "O-5"})
    void connect_whereNobodyListens_isRefused() {
        requireNetwork();
        SocketAddress gone;
        try (Descriptor listener = Sockets.listen(loop, anyPort())) {
            gone = Sockets.localAddress(loop, listener);
        }
        Descriptor client = Sockets.stream(loop, gone);
        Operation connect = operations.connect(client, gone, note("connect")).start();
        runUntilDone(connect);
        assertThat(completed).containsExactly("connect ECONNREFUSED");
        client.close();
    }

    @Test
    @Clause({"O-1", "B-4"})
    void acceptEach_goesOnUntilItIsCancelled() {
        requireNetwork();
        Descriptor listener = Sockets.listen(loop, anyPort());
        SocketAddress address = Sockets.localAddress(loop, listener);
        List<Descriptor> accepted = new ArrayList<>();
        AcceptOperation accept =
                operations.acceptEach(
                        listener,
                        op -> {
                            if (op.result() >= 0) {
                                assertThat(op.hasMore()).isTrue();
                                assertThat(op.peer()).isInstanceOf(InetSocketAddress.class);
                                accepted.add(op.accepted());
                            } else {
                                assertThat(op.hasMore()).isFalse();
                                note("accept").accept(op);
                            }
                        });
        accept.start();
        List<Descriptor> clients = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Descriptor client = Sockets.stream(loop, address);
            clients.add(client);
            operations.connect(client, address, op -> {}).start();
        }
        runUntil("all accepted", () -> accepted.size() == 20);
        assertThat(accept.isPending()).isTrue();
        assertThat(accept.cancel()).isTrue();
        runUntilDone(accept);
        assertThat(completed).containsExactly("accept cancelled");
        clients.forEach(Descriptor::close);
        accepted.forEach(Descriptor::close);
        listener.close();
    }

    @Test
    @Clause("O-1")
    void accepted_thatNobodyTakes_isClosed() {
        requireNetwork();
        try (Descriptor listener = Sockets.listen(loop, anyPort())) {
            SocketAddress address = Sockets.localAddress(loop, listener);
            Descriptor client = Sockets.stream(loop, address);
            operations.connect(client, address, op -> {}).start();
            AcceptOperation accept = operations.accept(listener, op -> {});
            accept.start();
            runUntilDone(accept);
            assertThat(receive(client)).as("the other side is closed").isEmpty();
            client.close();
        }
    }

    // ------------------------------------------------------------------ receive buffers

    @Test
    @Clause({"O-1", "B-4"})
    void receive_takesABufferOnlyForWhatArrives() {
        List<Descriptor> ends = connection();
        StringBuilder text = new StringBuilder();
        ReceiveOperation receive =
                operations.receive(
                        ends.get(1),
                        op -> {
                            if (op.result() > 0) {
                                text.append(op.received().getText(US_ASCII));
                            } else {
                                note("receive").accept(op);
                                assertThat(op.hasMore()).isFalse();
                            }
                        });
        receive.start();
        for (int i = 0; i < 10; i++) {
            send(ends.get(0), "part" + i + " ");
            int expected = (i + 1) * 6;
            runUntil("part " + i, () -> text.length() == expected);
        }
        assertThat(text)
                .hasToString("part0 part1 part2 part3 part4 part5 part6 part7 part8 part9 ");
        Sockets.shutdownOutput(loop, ends.get(0));
        runUntilDone(receive);
        assertThat(completed).containsExactly("receive 0");
    }

    @Test
    @Clause({"O-8", "B-4", "E-3"})
    void receive_whenAllBuffersAreOut_waitsForOneToComeBack() {
        loop.close();
        loop = open(config().withReceiveBuffers(2, 64));
        operations = Operations.on(loop);
        List<Descriptor> ends = connection();
        List<Buffer> kept = new ArrayList<>();
        StringBuilder text = new StringBuilder();
        ReceiveOperation receive =
                operations.receive(
                        ends.get(1),
                        op -> {
                            if (op.result() > 0) {
                                kept.add(op.keep());
                            }
                        });
        receive.start();
        String all = "0123456789abcdef".repeat(40);
        send(ends.get(0), all);
        runUntil("both buffers are out", () -> kept.size() == 2);
        settle();
        assertThat(kept).hasSize(2);
        while (text.length() < all.length()) {
            runUntil("another one", () -> !kept.isEmpty());
            Buffer first = kept.removeFirst();
            text.append(first.getText(US_ASCII));
            first.release();
        }
        assertThat(text).hasToString(all);
        assertThat(receive.isPending()).isTrue();
    }

    // ------------------------------------------------------------------ messages

    @Test
    @Clause("O-1")
    void messages_carryTheirAddresses() {
        assumeTrue(hasDatagrams(), "this kernel is in memory and has no datagrams");
        SocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        Descriptor one = Sockets.datagram(loop, any);
        Descriptor two = Sockets.datagram(loop, any);
        SocketAddress ofTwo = Sockets.localAddress(loop, two);
        Buffer into = Buffer.allocate(8);
        MessageOperation in = operations.receiveMessage(two, into, note("in"));
        in.start();
        settle();
        MessageOperation out = operations.sendMessage(one, bytes("to you"), note("out"));
        out.to(ofTwo).start();
        runUntil("both through", () -> completed.size() == 2);
        assertThat(completed).containsExactlyInAnyOrder("out 6", "in 6");
        assertThat(in.peer()).isEqualTo(Sockets.localAddress(loop, one));
        assertThat(in.isTruncated()).isFalse();
        assertThat(into.getText(US_ASCII)).isEqualTo("to you");
        into.clear();
        in.start();
        MessageOperation longer = operations.sendMessage(one, bytes("far too long"), note("out"));
        longer.to(ofTwo).start();
        runUntilDone(in);
        assertThat(in.isTruncated()).isTrue();
        one.close();
        two.close();
    }

    // ------------------------------------------------------------------ errors

    @Test
    @Clause("O-5")
    void reset_completesWhatIsQueuedWithThatError() {
        requireNetwork();
        List<Descriptor> ends = connection();
        send(ends.get(1), "unread"); // Closing with unread bytes resets the connection.
        runUntil("it has arrived", () -> arrived(ends.get(0)));
        Buffer tail = Buffer.allocate(8);
        operations.read(ends.get(1), tail, note("first")).start();
        operations.read(ends.get(1), Buffer.allocate(8), note("second")).start();
        settle();
        ends.get(0).close();
        runUntil("both through", () -> completed.size() == 2);
        assertThat(completed).containsExactly("first ECONNRESET", "second ECONNRESET");
    }

    /// Whether a byte is readable. Consumes it, so more must follow.
    private boolean arrived(Descriptor end) {
        Operation read = operations.read(end, Buffer.allocate(1), op -> {}).start();
        settle();
        if (read.isPending()) {
            boolean _ = read.cancel();
            runUntilDone(read);
        }
        return read.result() == 1;
    }

    @Test
    @Clause("O-1")
    void failure_namesTheCallTheErrorAndTheDescriptor() {
        requireNetwork();
        Descriptor client = Sockets.stream(loop, anyPort());
        Operation read = operations.read(client, Buffer.allocate(8), note("read")).start();
        runUntilDone(read);
        assertThat(read.result()).isEqualTo(-Errno.ENOTCONN);
        assertThat(read.failure())
                .hasMessageContaining("read on descriptor " + client.fd())
                .hasMessageContaining("ENOTCONN");
        client.close();
    }

    @Test
    @Clause("L-8")
    void runUntilEmpty_waitsForOperations() {
        List<Descriptor> pair = pair();
        operations.read(pair.get(1), Buffer.allocate(8), note("read")).start();
        loop.after(
                Duration.ofMillis(5),
                timer -> operations.write(pair.get(0), bytes("now"), note("write")).start());
        loop.runUntilEmpty();
        assertThat(completed).containsExactlyInAnyOrder("write 3", "read 3");
        assertThat(loop.metrics().operations()).isZero();
    }

    @Test
    @Clause("B-8")
    void preallocated_operationsAndDescriptorsAreUsed() {
        loop.close();
        loop = open(config().withPreallocated(8, 8));
        operations = Operations.on(loop);
        List<Descriptor> pair = pair();
        send(pair.get(0), "x");
        assertThat(receive(pair.get(1))).isEqualTo("x");
    }
}
