package dev.gyre.io;

import static org.assertj.core.api.Assertions.assertThat;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.internal.io.TestDescriptors;
import dev.gyre.internal.sys.Errno;
import dev.gyre.io.operation.AcceptOperation;
import dev.gyre.io.operation.Operation;
import dev.gyre.io.operation.Sockets;

import org.junit.jupiter.api.Test;

import java.util.List;

/// What operations cost over epoll, counted in calls: clauses O-3 and O-4.
@On("epoll")
class ReadinessCallsTest extends FaultFixture {

    /// Answers each message, as often as they come.
    private Operation echo(Descriptor end) {
        Buffer buffer = Buffer.allocate(64);
        Operation[] read = {null};
        Operation write =
                operations.write(
                        end,
                        buffer,
                        op -> {
                            buffer.clear();
                            read[0].start();
                        });
        read[0] =
                operations.read(
                        end,
                        buffer,
                        op -> {
                            if (op.result() > 0) {
                                write.start();
                            }
                        });
        return read[0].start();
    }

    @Test
    @Clause({"O-3", "O-4"})
    void message_inTurn_costsOneReceiveOneSendAndNoChangeOfInterest() {
        List<Descriptor> pair = keptConnection();
        echo(pair.get(1));
        Buffer buffer = Buffer.allocate(64);
        int[] answers = {0};
        Operation[] ask = {null};
        Operation hear =
                operations.read(
                        pair.get(0),
                        buffer,
                        op -> {
                            answers[0]++;
                            buffer.clear();
                        });
        ask[0] = operations.write(pair.get(0), buffer, op -> hear.start());
        exchange(ask[0], buffer, answers, 10);
        long received = plan.count("recv");
        long sent = plan.count("send");
        long changed = plan.count("epoll_ctl");
        exchange(ask[0], buffer, answers, 100);
        assertThat(plan.count("send") - sent).as("send, of both sides").isEqualTo(200);
        assertThat(plan.count("recv") - received).as("recv, of both sides").isEqualTo(200);
        assertThat(plan.count("epoll_ctl") - changed).as("epoll_ctl").isZero();
        operations.cancelAll(pair.get(1));
        settle();
    }

    private void exchange(Operation ask, Buffer buffer, int[] answers, int times) {
        for (int i = 0; i < times; i++) {
            int before = answers[0];
            buffer.clear().put("question".getBytes(US_ASCII));
            ask.start();
            // The buffer is written whole before the answer is read into it.
            runUntil("an answer", () -> answers[0] > before);
        }
    }

    @Test
    @Clause({"O-3", "O-4"})
    void read_afterAShortOne_isNotTriedBeforeSomethingComes() {
        List<Descriptor> pair = keptConnection();
        Buffer buffer = Buffer.allocate(64);
        Operation read = operations.read(pair.get(1), buffer, note("read"));
        TestDescriptors.write(pair.get(0), TEXT);
        read.start();
        runUntilDone(read);
        long before = plan.count("recv");
        read.start();
        settle();
        assertThat(plan.count("recv")).as("known to block").isEqualTo(before);
        TestDescriptors.write(pair.get(0), TEXT);
        runUntilDone(read);
        assertThat(plan.count("recv")).isEqualTo(before + 1);
        assertThat(completed).containsExactly("read 6", "read 6");
    }

    @Test
    @Clause("O-4")
    void flood_thatNobodyReads_wakesTwiceAndIsAllThereAfterwards() {
        List<Descriptor> pair = keptPair();
        Buffer buffer = Buffer.allocate(1 << 16);
        Operation read = operations.read(pair.get(1), buffer, note("read")).start();
        settle();
        TestDescriptors.write(pair.get(0), TEXT);
        runUntilDone(read);
        settle();
        long events = plan.events();
        long changes = plan.count("epoll_ctl");
        for (int i = 0; i < 100; i++) {
            TestDescriptors.write(pair.get(0), TEXT);
            settle();
        }
        assertThat(plan.events() - events).as("events while nobody asked").isEqualTo(2);
        assertThat(plan.count("epoll_ctl") - changes).as("interest dropped once").isEqualTo(1);
        buffer.clear();
        read.start();
        runUntilDone(read);
        assertThat(completed).containsExactly("read 6", "read 600");
        buffer.clear();
        read.start();
        settle();
        TestDescriptors.write(pair.get(0), TEXT);
        runUntilDone(read);
        assertThat(completed).as("interest came back").endsWith("read 6");
    }

    @Test
    @Clause({"O-4", "E-3"})
    void accept_outOfDescriptors_neitherSpinsNorStopsForGood() {
        Descriptor listener = keep(Sockets.listen(loop, anyPort()));
        int[] accepted = {0};
        AcceptOperation accept =
                operations.acceptEach(
                        listener,
                        op -> {
                            if (op.result() >= 0) {
                                accepted[0]++;
                            } else {
                                note("accept").accept(op);
                            }
                        });
        accept.start();
        settle();
        plan.fail("accept4", Errno.EMFILE);
        peerOf(listener);
        runUntilDone(accept);
        assertThat(completed).containsExactly("accept EMFILE");
        long calls = plan.count("accept4");
        settle();
        long events = plan.events();
        settle();
        settle();
        assertThat(plan.count("accept4")).as("nobody asked again").isEqualTo(calls);
        assertThat(plan.events()).as("the kernel does not go on about it").isEqualTo(events);
        accept.start();
        peerOf(listener);
        runUntil("both are accepted", () -> accepted[0] == 2);
        assertThat(accept.cancel()).isTrue();
        runUntilDone(accept);
        assertThat(completed).containsExactly("accept EMFILE", "accept cancelled");
    }

    @Test
    @Clause("O-4")
    void descriptorState_closedWhileItsInterestChanges_isUsedAgain() {
        for (int i = 0; i < 20; i++) {
            List<Descriptor> pair = pair();
            Operation read = operations.read(pair.get(1), Buffer.allocate(8), note("read")).start();
            pair.forEach(Descriptor::close); // Before the end of the tick that would arm it.
            runUntilDone(read);
            settle();
            List<Descriptor> next = pair();
            Operation fresh =
                    operations.read(next.get(1), Buffer.allocate(8), note("fresh")).start();
            settle();
            TestDescriptors.write(next.get(0), TEXT);
            runUntilDone(fresh);
            next.forEach(Descriptor::close);
        }
        assertThat(completed).hasSize(40).containsOnly("read cancelled", "fresh 6");
    }
}
