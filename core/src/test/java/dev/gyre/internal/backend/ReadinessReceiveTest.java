package dev.gyre.internal.backend;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.internal.backend.DescriptorState.Traits;
import dev.gyre.internal.sys.Errno;

import org.junit.jupiter.api.Test;

/// Receives into the buffers of the loop, and multishots, of [ReadinessOperations].
class ReadinessReceiveTest extends ReadinessFixture {
    // ------------------------------------------------------------------ the loop's buffers

    @Test
    @Clause("O-8")
    void receive_takesABufferOnlyForWhatArrives() {
        start(Opcode.RECEIVE, "receive");
        assertThat(operations.buffers().available()).isEqualTo(4);
        returns("recv", 5);
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).containsExactly("receive 5");
        assertThat(operations.buffers().available()).isEqualTo(3);
        calls.clear();
        start(Opcode.RECEIVE, "next");
        assertThat(calls).as("a short one has emptied it").isEmpty();
        returns("recv", -Errno.EIO);
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).containsExactly("next EIO");
        assertThat(operations.buffers().available()).isEqualTo(3);
    }

    @Test
    @Clause("O-8")
    void receive_ofAFullBufferOrBeforeAnEnd_isFollowedByAnotherTry() {
        returns("recv", 4_096, 3);
        start(Opcode.RECEIVE, "full");
        start(Opcode.RECEIVE, "rest");
        assertThat(calls).hasSize(2);
        start(Opcode.RECEIVE, "blocked");
        assertThat(calls).hasSize(2);
        returns("recv", 3);
        operations.onReady(socket, Readiness.READ | Readiness.END);
        returns("recv", 0);
        start(Opcode.RECEIVE, "end");
        assertThat(completed()).containsExactly("full 4096", "rest 3", "blocked 3", "end 0");
    }

    @Test
    @Clause({"O-8", "E-3"})
    void receive_withoutABuffer_goesOnWhenOneComesBack() {
        open(1, Traits.TCP);
        returns("recv", 3);
        Request first = start(Opcode.RECEIVE, "first");
        assertThat(completed()).containsExactly("first 3");
        operations.onReady(socket, Readiness.READ);
        calls.clear();
        start(Opcode.RECEIVE, "second");
        operations.flush();
        assertThat(calls).as("no buffer").isEmpty();
        operations.releaseBuffer(first.buffer);
        returns("recv", 4);
        operations.flush();
        assertThat(completed()).containsExactly("second 4");
        operations.flush();
        assertThat(calls).hasSize(1);
    }

    @Test
    @Clause({"O-8", "E-3"})
    void receives_thatShareOneBuffer_getItInTurn() {
        open(1, Traits.TCP);
        int taken = operations.buffers().acquire();
        DescriptorState other = operations.open(FD + 1, Traits.TCP);
        Request first = start(Opcode.RECEIVE, "first");
        Request second = request(Opcode.RECEIVE, "second");
        operations.start(other, second);
        returns("recv", 3, 4);
        operations.releaseBuffer(taken);
        operations.flush();
        assertThat(completed()).containsExactly("first 3");
        operations.flush();
        assertThat(completed()).as("no buffer for the other one").isEmpty();
        operations.releaseBuffer(first.buffer);
        operations.flush();
        assertThat(completed()).containsExactly("second 4");
    }

    @Test
    @Clause("O-8")
    void receive_thatWouldBlockOrEnds_keepsNoBufferAndIsRemembered() {
        Request blocked = start(Opcode.RECEIVE, "blocked");
        operations.cancel(blocked);
        start(Opcode.RECEIVE, "next");
        assertThat(calls).as("known to block").hasSize(1);
        returns("recv", 0, 0);
        operations.onReady(socket, Readiness.READ);
        start(Opcode.RECEIVE, "again");
        assertThat(completed()).containsExactly("blocked ECANCELED", "next 0", "again 0");
        assertThat(operations.buffers().available()).isEqualTo(4);

        open(4, Traits.SOCKET | Traits.STREAM);
        calls.clear();
        returns("recv", 3);
        start(Opcode.RECEIVE, "short");
        start(Opcode.RECEIVE, "behind");
        assertThat(calls).as("not TCP: a short read does not drain it").hasSize(2);
    }

    // ------------------------------------------------------------------ multishots

    @Test
    @Clause({"O-1", "O-9"})
    void multishot_goesOnUntilTheEndOfTheStream() {
        returns("recv", 4_096, 0);
        Request each = startEach("each");
        assertThat(completed()).containsExactly("each 4096 more");
        assertThat(socket.delivered()).containsExactly(each);
        operations.resume(each);
        assertThat(socket.delivered()).isEmpty();
        assertThat(completed()).containsExactly("each 0");
        assertThat(operations.outstanding()).isZero();
        assertThat(operations.completions().completedCount()).isEqualTo(1);
    }

    @Test
    @Clause({"O-1", "O-9"})
    void multishotAccept_whoseDescriptorHasNumberZero_goesOn() {
        returns("accept4", 0);
        Request each = request(Opcode.ACCEPT, "each");
        each.multishot = true;
        operations.start(socket, each);
        assertThat(completed()).containsExactly("each 0 more");
        operations.resume(each);
        assertThat(operations.outstanding()).isEqualTo(1);
        returns("accept4", -Errno.EMFILE);
        operations.onReady(socket, Readiness.READ);
        assertThat(completed()).containsExactly("each EMFILE");
    }

    @Test
    @Clause({"O-3", "O-9"})
    void hasCompleted_isTrueUntilAllAreTaken() {
        assertThat(operations.hasCompleted()).isFalse();
        returns("recv", LENGTH);
        start(Opcode.READ, "read");
        assertThat(operations.hasCompleted()).isTrue();
        assertThat(operations.outstanding()).isEqualTo(1);
        completed();
        assertThat(operations.hasCompleted()).isFalse();
        assertThat(operations.outstanding()).isZero();
    }
}
