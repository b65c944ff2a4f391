package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.io.operation.AcceptOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Operations;
import dev.gyre.io.operation.ReceiveOperation;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.Test;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What users of other event loops ran into, one by one: CONTRIBUTING has the list.
abstract class HardshipContract extends OperationFixture {
    /// More turns than an idle loop makes until a timer is due; one that spins makes thousands.
    private static final int FEW_TURNS = 12;

    private void assertSleepsWhileNobodyAsks(String what) {
        boolean[] over = {false};
        long before = loop.metrics().ticks();
        loop.after(Duration.ofMillis(50), timer -> over[0] = true);
        runUntil("the timer fired", () -> over[0]);
        assertThat(loop.metrics().ticks() - before)
                .as("turns while %s: a loop that is told again and again spins", what)
                .isLessThanOrEqualTo(FEW_TURNS);
    }

    /// Has had its interest armed, and nobody reads.
    private List<Descriptor> idleConnection() {
        List<Descriptor> ends = connection();
        Operation read = operations.read(ends.get(1), Buffer.allocate(8), op -> {}).start();
        settle();
        send(ends.get(0), "x");
        runUntilDone(read);
        return ends;
    }

    // ------------------------------------------------------------------ lost reads

    @Test
    @Clause("O-6")
    void lostRead_afterCancellingAReceiveAndStartingItAgain() {
        List<Descriptor> ends = connection();
        StringBuilder text = new StringBuilder();
        ReceiveOperation receive =
                operations.receive(
                        ends.get(1),
                        op -> {
                            if (op.result() > 0) {
                                text.append(op.received().getText(US_ASCII));
                            }
                        });
        for (int i = 0; i < 60; i++) {
            receive.start();
            Operation write = operations.write(ends.get(0), bytes("abc"), op -> {}).start();
            for (int turns = i % 4; turns > 0; turns--) {
                loop.defer(() -> {});
                loop.runSome();
            }
            boolean _ = receive.cancel();
            runUntilDone(receive);
            runUntilDone(write);
        }
        receive.start();
        runUntil("all of it", () -> text.length() == 180);
        assertThat(text).hasToString("abc".repeat(60));
    }

    @Test
    @Clause({"O-6", "O-8"})
    void lostRead_afterCancellingAReceiveThatHadNoBuffer() {
        loop.close();
        loop = open(config().withReceiveBuffers(1, 64));
        operations = Operations.on(loop);
        List<Descriptor> ends = connection();
        List<Buffer> kept = new ArrayList<>();
        ReceiveOperation receive =
                operations.receive(
                        ends.get(1),
                        op -> {
                            if (op.result() > 0) {
                                kept.add(op.keep());
                            } else {
                                note("receive").accept(op);
                            }
                        });
        receive.start();
        send(ends.get(0), "12345678".repeat(8) + "and more");
        runUntil("the only buffer is out", () -> kept.size() == 1);
        settle();
        assertThat(receive.cancel()).isTrue();
        runUntilDone(receive);
        assertThat(completed).containsExactly("receive cancelled");
        assertThat(receive(ends.get(1))).as("there all the time").isEqualTo("and more");
        kept.forEach(Buffer::release);
    }

    // ------------------------------------------------------------------ buffers

    @Test
    @Clause({"O-1", "O-8"})
    void buffer_filledInPart_showsNoneOfWhatWasInItBefore() {
        loop.close();
        loop = open(config().withReceiveBuffers(1, 64));
        operations = Operations.on(loop);
        List<Descriptor> ends = connection();
        List<String> parts = new ArrayList<>();
        operations
                .receive(
                        ends.get(1),
                        op -> {
                            if (op.result() > 0) {
                                assertThat(op.received().readable()).isEqualTo((int) op.result());
                                parts.add(op.received().getText(US_ASCII));
                            }
                        })
                .start();
        send(ends.get(0), "0123456789abcdef".repeat(4));
        runUntil("the first", () -> String.join("", parts).length() == 64);
        send(ends.get(0), "xy");
        runUntil("the second", () -> String.join("", parts).length() == 66);
        assertThat(parts).last().isEqualTo("xy");
        Buffer own = Buffer.allocate(16);
        operations.cancelAll(ends.get(1));
        settle();
        send(ends.get(0), "first");
        Operation read = operations.read(ends.get(1), own, note("read")).start();
        runUntilDone(read);
        assertThat(own.readable()).as("five of sixteen").isEqualTo(5);
        assertThat(own.writable()).isEqualTo(11);
    }

    // ------------------------------------------------------------------ accepting

    @Test
    @Clause({"O-1", "O-5"})
    void accept_goesOnAfterPeersThatHungUpAtOnce() {
        Descriptor listener = Sockets.listen(loop, anyPort());
        SocketAddress address = Sockets.localAddress(loop, listener);
        List<Descriptor> accepted = new ArrayList<>();
        AcceptOperation accept = operations.acceptEach(listener, op -> accepted.add(op.accepted()));
        for (int i = 0; i < 10; i++) {
            Descriptor gone = Sockets.stream(loop, address);
            Operation connect = operations.connect(gone, address, op -> {}).start();
            runUntilDone(connect);
            gone.close();
        }
        accept.start();
        settle();
        int before = accepted.size();
        Descriptor client = Sockets.stream(loop, address);
        operations.connect(client, address, op -> {}).start();
        runUntil("the one that stays", () -> accepted.size() > before);
        assertThat(accept.isPending()).isTrue();
        send(client, "hello");
        assertThat(receive(accepted.getLast())).isEqualTo("hello");
        listener.close();
        client.close();
        accepted.forEach(Descriptor::close);
    }

    // ------------------------------------------------------------------ spinning

    @Test
    @Clause("O-4")
    void hangUp_whileNobodyReads_letsTheLoopSleep() {
        List<Descriptor> ends = idleConnection();
        ends.get(0).close();
        assertSleepsWhileNobodyAsks("the peer is gone and nobody reads");
        assertThat(receive(ends.get(1))).as("and is told to who asks").isEmpty();
    }

    @Test
    @Clause("O-4")
    void reset_whileNobodyReads_letsTheLoopSleep() {
        List<Descriptor> ends = idleConnection();
        send(ends.get(1), "unread"); // Closing with unread bytes resets the connection.
        settle();
        ends.get(0).close();
        assertSleepsWhileNobodyAsks("the connection is reset and nobody reads");
        Operation read = operations.read(ends.get(1), Buffer.allocate(8), note("read")).start();
        runUntilDone(read);
        assertThat(completed).containsExactly("read ECONNRESET");
    }

    @Test
    @Clause("O-4")
    void flood_whileNobodyReads_letsTheLoopSleepAndIsNotLost() {
        List<Descriptor> ends = idleConnection();
        for (int i = 0; i < 20; i++) {
            send(ends.get(0), "drop");
        }
        settle();
        assertSleepsWhileNobodyAsks("bytes wait and nobody reads");
        StringBuilder text = new StringBuilder();
        while (text.length() < 80) {
            text.append(receive(ends.get(1)));
        }
        assertThat(text).hasToString("drop".repeat(20));
    }

    // ------------------------------------------------------------------ time

    @Test
    @Clause({"T-1", "T-6"})
    void timer_ofAnOddFractionOfAMillisecond_isNeverEarly() {
        List<Long> early = new ArrayList<>();
        int[] fired = {0};
        for (int i = 0; i < 20; i++) {
            Duration delay = Duration.ofNanos(1_990_000L + i * 499_999L);
            loop.defer(
                    () -> {
                        long due = loop.nowNanos() + delay.toNanos();
                        loop.after(
                                delay,
                                timer -> {
                                    fired[0]++;
                                    if (loop.nowNanos() - due < 0) {
                                        early.add(due - loop.nowNanos());
                                    }
                                });
                    });
        }
        runUntil("all fired", () -> fired[0] == 20);
        assertThat(early).as("nanoseconds too early").isEmpty();
    }

    // ------------------------------------------------------------------ numbers that come again

    @Test
    @Clause({"O-7", "O-9", "W-3"})
    void staleEvent_ofTheSameTurn_reachesNoLaterOwnerOfTheNumber() {
        for (int round = 0; round < 20; round++) {
            completed.clear();
            List<Descriptor> one = pair();
            List<Descriptor> two = pair();
            List<Descriptor> fresh = new ArrayList<>();
            Buffer buffer = Buffer.allocate(8);
            operations
                    .read(
                            one.get(1),
                            Buffer.allocate(8),
                            op -> {
                                two.get(1).close();
                                two.get(0).close();
                                fresh.addAll(pair());
                                operations.read(fresh.get(0), buffer, note("a")).start();
                                operations
                                        .read(fresh.get(1), Buffer.allocate(8), note("b"))
                                        .start();
                            })
                    .start();
            operations.read(two.get(1), Buffer.allocate(8), op -> {}).start();
            settle();
            operations.write(one.get(0), bytes("1"), op -> {}).start();
            operations.write(two.get(0), bytes("stale"), op -> {}).start();
            runUntil("opened anew", () -> fresh.size() == 2);
            settle();
            assertThat(completed).as("nothing was sent to these").isEmpty();
            send(fresh.get(1), "fresh");
            runUntil("read", () -> !completed.isEmpty());
            assertThat(completed).containsExactly("a 5");
            assertThat(buffer.getText(US_ASCII)).isEqualTo("fresh");
            fresh.forEach(Descriptor::close);
            one.forEach(Descriptor::close);
            runUntil("closed", () -> completed.size() == 2);
        }
    }

    @Test
    @Clause({"O-7", "W-3"})
    void staleEvent_forAPooledStateOfAnotherDescriptor_reachesNobody() {
        List<Descriptor> idle = idleConnection();
        send(idle.get(0), "for nobody");
        idle.get(1).close();
        idle.get(0).close();
        List<Descriptor> next = connection();
        Operation read = operations.read(next.get(1), Buffer.allocate(8), note("read")).start();
        settle();
        assertThat(completed).isEmpty();
        send(next.get(0), "mine");
        runUntilDone(read);
        assertThat(completed).containsExactly("read 4");
    }
}
