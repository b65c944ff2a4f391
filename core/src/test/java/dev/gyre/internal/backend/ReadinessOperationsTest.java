package dev.gyre.internal.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.backend.Opcode.Kind;
import dev.gyre.internal.sys.Errno;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

/// The queues of [ReadinessOperations]: serving, interest, cancelling and closing.
class ReadinessOperationsTest extends ReadinessFixture {
    // ------------------------------------------------------------------ serving

    @Test
    @Clause({"O-2", "O-4"})
    void reads_queuedForOneArrival_areServedByOneEventUntilItBlocks() {
        start(Opcode.READ, "first");
        start(Opcode.READ, "second");
        start(Opcode.READ, "third");
        assertThat(calls).as("the others wait behind the first").containsExactly("recv");
        operations.flush();
        assertThat(armed).containsExactly("register " + (Readiness.READ | EDGE));
        returns("recv", LENGTH, LENGTH);
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).containsExactly("first 8", "second 8");
        assertThat(operations.outstanding()).isEqualTo(1);
        assertThat(calls).as("until it would block").hasSize(4);
        returns("recv", 3, LENGTH);
        start(Opcode.READ, "fourth");
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).as("a short read has emptied it").containsExactly("third 3");
        assertThat(calls).hasSize(5);
    }

    @Test
    @Clause("O-4")
    void read_ofLessThanWasAskedFor_isTriedAgainWhereThatSaysNothing() {
        returns("recv", 3);
        start(Opcode.READ, "short");
        start(Opcode.READ, "behind");
        assertThat(calls).as("TCP: known to block").hasSize(1);
        operations.onReady(socket, Readiness.READ | Readiness.END);
        assertThat(calls).hasSize(2);
        returns("recv", 3, 0);
        operations.onReady(socket, Readiness.READ | Readiness.END);
        start(Opcode.READ, "end");
        assertThat(calls).as("the end follows, and has no edge of its own").hasSize(4);
        assertThat(completed()).containsExactly("short 3", "behind 3", "end 0");

        open(4, Traits.SOCKET | Traits.STREAM);
        calls.clear();
        returns("recv", 3);
        start(Opcode.READ, "short");
        start(Opcode.READ, "behind");
        assertThat(calls).as("other sockets stop short for other reasons").hasSize(2);
    }

    @Test
    @Clause("O-5")
    void read_thatFails_endsNoOther() {
        start(Opcode.READ, "first");
        start(Opcode.READ, "second");
        start(Opcode.READ, "third");
        start(Opcode.WRITE, "write");
        returns("recv", -Errno.EIO, LENGTH);
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).containsExactly("first EIO", "second 8");
        assertThat(operations.outstanding()).isEqualTo(2);
    }

    @Test
    @Clause("O-5")
    void read_thatFailsAfterAnErrorWasReported_endsAll() {
        start(Opcode.WRITE, "write");
        start(Opcode.READ, "first");
        start(Opcode.READ, "second");
        start(Opcode.READ_URGENT, "urgent");
        socketError = 0;
        returns("recv", -Errno.ECONNRESET);
        operations.onReady(socket, Readiness.READ | Readiness.ERROR);
        assertThat(completed())
                .containsExactly(
                        "urgent 0", "first ECONNRESET", "second ECONNRESET", "write ECONNRESET");
    }

    @Test
    @Clause("O-5")
    void error_thatTheKernelReportsInPlaceOfReadiness_endsAllAndArmsTheNextAnew() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        operations.flush();
        armed.clear();
        calls.clear();
        operations.onReady(socket, Readiness.READ | Readiness.error(Errno.ENOMEM));
        assertThat(completed()).containsExactly("read ENOMEM", "write ENOMEM");
        assertThat(calls).as("nothing was tried").isEmpty();
        start(Opcode.READ, "next");
        assertThat(calls).as("not known to block").containsExactly("recv");
        operations.flush();
        assertThat(armed).containsExactly("modify " + (Readiness.READ | EDGE));
    }

    @Test
    @Clause({"O-2", "O-4"})
    void readiness_ofOneKind_servesThatKindAndWaitingUrgentDataOnly() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        Map<Integer, String> served =
                Map.of(Readiness.READ, "recv", Readiness.END, "recv", Readiness.WRITE, "send");
        served.forEach(
                (ready, call) -> {
                    calls.clear();
                    operations.onReady(socket, ready);
                    assertThat(calls).as("readiness %d", ready).containsExactly(call);
                });
        start(Opcode.READ_URGENT, "urgent");
        served.forEach(
                (ready, call) -> {
                    calls.clear();
                    operations.onReady(socket, ready);
                    assertThat(calls).as("readiness %d", ready).containsExactly("urgent", call);
                });
        calls.clear();
        operations.onReady(socket, Readiness.URGENT);
        assertThat(calls).containsExactly("urgent");
        assertThat(completed()).isEmpty();
    }

    @Test
    @Clause({"O-5", "E-2"})
    void end_isFoundByEveryReadAndIsNoError() {
        returns("recv", 0, 0);
        start(Opcode.READ, "first");
        start(Opcode.READ, "second");
        assertThat(completed()).containsExactly("first 0", "second 0");
        start(Opcode.READ, "third");
        start(Opcode.WRITE, "write");
        returns("recv", 0);
        operations.onReady(socket, Readiness.READ | Readiness.ERROR);
        assertThat(completed()).containsExactly("third 0");
        assertThat(operations.outstanding()).as("the write still waits").isEqualTo(1);
    }

    // ------------------------------------------------------------------ urgent data

    @Test
    @Clause("O-2")
    void urgentData_thatIsReadyWithOther_isServedFirst() {
        start(Opcode.READ, "read");
        start(Opcode.READ_URGENT, "urgent");
        start(Opcode.WRITE, "write");
        returns("recv", LENGTH);
        returns("urgent", 1);
        returns("send", LENGTH);
        operations.onReady(socket, Readiness.READ | Readiness.WRITE | Readiness.URGENT);
        assertThat(completed()).containsExactly("urgent 1", "read 8", "write 8");
    }

    @Test
    @Clause("O-2")
    void urgentData_thatIsWaitedFor_isTriedBeforeARead() {
        start(Opcode.READ_URGENT, "urgent");
        returns("urgent", 1);
        returns("recv", LENGTH);
        start(Opcode.READ, "read");
        assertThat(completed()).containsExactly("urgent 1", "read 8");
        calls.clear();
        start(Opcode.READ, "read");
        assertThat(calls).as("no operation waits for urgent data").containsExactly("recv");
    }

    @Test
    @Clause({"O-2", "O-5"})
    void hangUp_endsTheWaitForUrgentDataWithTheSocketsError() {
        start(Opcode.READ_URGENT, "urgent");
        start(Opcode.WRITE, "write");
        socketError = Errno.ECONNRESET;
        operations.onReady(socket, Readiness.HANGUP);
        assertThat(completed()).containsExactly("urgent ECONNRESET", "write ECONNRESET");
        calls.clear();
        operations.onReady(socket, Readiness.HANGUP);
        assertThat(calls).as("no operation waits").doesNotContain("error");
    }

    @Test
    @Clause({"O-2", "O-5"})
    void hangUp_withoutAnError_endsTheWaitForUrgentDataOnly() {
        start(Opcode.READ_URGENT, "urgent");
        start(Opcode.WRITE, "write");
        operations.onReady(socket, Readiness.HANGUP);
        assertThat(completed()).containsExactly("urgent 0");
        assertThat(operations.outstanding()).isEqualTo(1);
    }

    // ------------------------------------------------------------------ interest

    @Test
    @Clause("O-4")
    void readiness_thatNobodyWaitsFor_isDroppedTheSecondTimeAndAskedForAgain() {
        start(Opcode.READ, "read");
        operations.flush();
        returns("recv", LENGTH);
        operations.onReady(socket, Readiness.READ);
        armed.clear();
        operations.onReady(socket, Readiness.READ);
        operations.flush();
        assertThat(armed).as("once is kept").isEmpty();
        operations.onReady(socket, Readiness.READ);
        operations.flush();
        assertThat(armed).containsExactly("modify 0");
        operations.onReady(socket, Readiness.READ);
        operations.flush();
        assertThat(armed).hasSize(1);
        start(Opcode.READ, "again");
        operations.flush();
        assertThat(armed).containsExactly("modify 0", "modify " + (Readiness.READ | EDGE));
        assertThat(completed()).containsExactly("read 8");
    }

    @Test
    @Clause("O-4")
    void readiness_thatWasWaitedForInBetween_keepsItsInterest() {
        start(Opcode.READ, "first");
        operations.flush();
        armed.clear();
        for (int i = 0; i < 5; i++) {
            returns("recv", LENGTH);
            operations.onReady(socket, Readiness.READ);
            operations.onReady(socket, Readiness.READ); // No operation waits.
            operations.flush();
            returns("recv", -Errno.EAGAIN);
            start(Opcode.READ, "next");
            operations.flush();
        }
        // The call blocks although readiness was reported, so the same interest is armed again.
        int reading = Readiness.READ | Readiness.END | EDGE;
        assertThat(armed).containsOnly("modify " + reading);
    }

    @Test
    @Clause("O-4")
    void interests_ofOneTick_areArmedTogether() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        start(Opcode.READ_URGENT, "urgent");
        assertThat(armed).isEmpty();
        operations.flush();
        operations.flush();
        int all = Readiness.READ | Readiness.WRITE | Readiness.URGENT;
        assertThat(armed).containsExactly("register " + (all | EDGE));
    }

    @Test
    @Clause({"O-5", "E-1"})
    void interest_thatIsRefused_endsWhatWaitsAndIsAskedForAgain() {
        armingErrno = Errno.ENOMEM;
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        operations.flush();
        assertThat(completed()).containsExactly("read ENOMEM", "write ENOMEM");
        armingErrno = 0;
        start(Opcode.READ, "again");
        operations.flush();
        assertThat(armed).last().isEqualTo("register " + (Readiness.READ | EDGE));
    }

    // ------------------------------------------------------------------ cancelling and closing

    @Test
    @Clause("O-6")
    void cancelAll_ofReadsOnly_leavesWritesAndUrgentData() {
        start(Opcode.READ, "first");
        start(Opcode.READ, "second");
        start(Opcode.READ_URGENT, "urgent");
        start(Opcode.WRITE, "write");
        operations.cancelAll(socket, null, Kind.READ.bit);
        assertThat(completed()).containsExactly("first ECANCELED", "second ECANCELED");
        operations.cancelAll(socket, null, Kind.URGENT.bit);
        assertThat(completed()).containsExactly("urgent ECANCELED");
        operations.cancelAll(socket, null, Kind.WRITE.bit);
        assertThat(completed()).containsExactly("write ECANCELED");
    }

    @Test
    @Clause("O-6")
    void cancelAll_byKeyAndKind_reachesAMultishotThatItsOwnerHas() {
        for (int kind : new int[] {Kind.WRITE.bit, Kind.READ.bit}) {
            for (String key : new String[] {"other", "key"}) {
                open(4, Traits.TCP);
                returns("recv", 3);
                Request each = request(Opcode.RECEIVE, "each");
                each.multishot = true;
                each.key = "key";
                operations.start(socket, each);
                assertThat(completed()).containsExactly("each 3 more");
                operations.cancelAll(socket, key, kind);
                operations.resume(each);
                boolean cancelled = kind == Kind.READ.bit && key.equals("key");
                assertThat(completed())
                        .isEqualTo(cancelled ? List.of("each ECANCELED") : List.of());
                results.clear();
            }
        }
    }

    @Test
    @Clause("O-6")
    void cancel_ofWhatIsThrough_changesNothing() {
        returns("recv", LENGTH);
        Request read = start(Opcode.READ, "read");
        operations.cancel(read);
        assertThat(completed()).containsExactly("read 8");
        operations.cancel(read);
        assertThat(read.cancelRequested).isFalse();
        operations.start(socket, read);
        operations.cancel(read);
        assertThat(completed()).containsExactly("read ECANCELED");
    }

    @Test
    @Clause({"O-6", "O-7"})
    void cancel_ofAMultishotBetweenTwoCompletions_endsItWhenItIsResumed() {
        returns("recv", 3, 3);
        Request each = startEach("each");
        operations.cancel(each); // Posted, not delivered.
        assertThat(completed()).containsExactly("each 3 more");
        operations.resume(each);
        assertThat(completed()).containsExactly("each ECANCELED");
        assertThat(operations.outstanding()).isZero();
    }

    @Test
    @Clause("O-7")
    void close_cancelsInOrderDeregistersAndSaysSo() {
        start(Opcode.READ, "read");
        start(Opcode.WRITE, "write");
        operations.flush();
        armed.clear();
        boolean[] released = {false};
        operations.close(socket, () -> released[0] = true);
        // A duplicate of the number would keep the kernel's registration alive.
        assertThat(armed).containsExactly("deregister");
        assertThat(released[0]).isTrue();
        assertThat(completed()).containsExactly("read ECANCELED", "write ECANCELED");
        operations.flush();
        assertThat(armed).hasSize(1);
    }

    @Test
    @Clause("O-7")
    void close_ofWhatWasNeverArmed_asksNothingOfTheKernel() {
        start(Opcode.READ, "read");
        operations.close(socket, () -> {});
        assertThat(completed()).containsExactly("read ECANCELED");
        DescriptorState other = operations.open(FD + 1, Traits.TCP);
        assertThat(other).as("it is still in a list").isNotSameAs(socket);
        operations.flush();
        operations.flush();
        assertThat(armed).isEmpty();
        assertThat(operations.open(FD + 2, Traits.TCP)).isSameAs(socket);
        assertThat(operations.open(FD + 3, Traits.TCP)).as("once").isNotSameAs(socket);
    }

    @Test
    @Clause({"O-7", "B-8"})
    void close_ofWhatIsIdle_makesTheStateAvailableAtOnce() {
        operations.close(socket, () -> {});
        assertThat(operations.open(FD + 1, Traits.TCP)).isSameAs(socket);
    }

    @Test
    @Clause({"O-7", "B-8"})
    void close_whileABufferIsWaitedFor_makesTheStateAvailableWhenOneComesBack() {
        open(1, Traits.TCP);
        int taken = operations.buffers().acquire();
        start(Opcode.RECEIVE, "receive");
        operations.flush();
        operations.close(socket, () -> {});
        assertThat(completed()).containsExactly("receive ECANCELED");
        assertThat(operations.open(FD + 1, Traits.TCP)).isNotSameAs(socket);
        calls.clear();
        operations.releaseBuffer(taken);
        operations.flush();
        assertThat(calls).isEmpty();
        assertThat(operations.open(FD + 2, Traits.TCP)).isSameAs(socket);
    }

    @Test
    @Clause({"O-7", "B-8"})
    void close_makesTheStateAvailableOnceNothingRefersToIt() {
        returns("recv", 3);
        Request each = startEach("each");
        assertThat(completed()).containsExactly("each 3 more");
        operations.close(socket, () -> {});
        DescriptorState other = operations.open(FD + 1, Traits.TCP);
        assertThat(other).as("its handler still has the multishot").isNotSameAs(socket);
        operations.resume(each);
        assertThat(completed()).containsExactly("each ECANCELED");
        assertThat(operations.open(FD + 2, Traits.TCP)).isSameAs(socket);
        assertThat(operations.open(FD + 3, Traits.TCP)).isNotSameAs(socket);
    }
}
