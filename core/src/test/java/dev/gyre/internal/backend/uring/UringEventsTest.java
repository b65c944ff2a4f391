package dev.gyre.internal.backend.uring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.Opcode;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.RecordingHandler;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.TestPipe;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;

/// Events of watched descriptors. As on epoll, they report the state when the loop polls, not the
/// state when the kernel posted the CQE.
@On("io_uring")
class UringEventsTest extends UringFixture {
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final RecordingHandler HANDLER = new RecordingHandler();

    private List<Integer> poll() {
        backend.pollNow();
        return RecordingHandler.dispatchAll(backend);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, Readiness.EDGE, Readiness.ONE_SHOT})
    @Clause({"W-7", "B-4"})
    void event_readBeforeThePoll_isNotReported(int mode) {
        try (TestPipe pipe = new TestPipe()) {
            backend.register(pipe.reader(), Readiness.READ | mode, HANDLER);
            assertThat(poll()).isEmpty();
            pipe.write();
            pipe.read();
            assertThat(poll()).isEmpty();
            pipe.write();
            assertThat(poll()).as("it is still armed").containsExactly(Readiness.READ);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, Readiness.EDGE})
    @Clause({"L-7", "W-7", "B-4"})
    void event_readBetweenTwoRuns_isNotReported(int mode) {
        try (TestPipe pipe = new TestPipe()) {
            backend.register(pipe.reader(), Readiness.READ | mode, HANDLER);
            pipe.write();
            assertThat(poll()).containsExactly(Readiness.READ);
            backend.detach();
            pipe.write();
            pipe.read();
            pipe.read();
            assertThat(poll()).isEmpty();
            pipe.write();
            assertThat(poll()).containsExactly(Readiness.READ);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, Readiness.EDGE, Readiness.ONE_SHOT})
    @Clause({"L-7", "W-7", "B-4"})
    void event_collectedOnLeaving_isReportedOnceByTheNextRun(int mode) {
        // In flight, so that the end of the run waits for its CQE.
        started(requests.open(pair()[0], STREAM_SOCKET), Opcode.READ, 16);
        try (TestPipe pipe = new TestPipe()) {
            backend.register(pipe.reader(), Readiness.READ | mode, HANDLER);
            assertThat(poll()).isEmpty();
            pipe.write();
            backend.detach();
            assertThat(poll()).containsExactly(Readiness.READ);
            if (mode != 0) {
                assertThat(poll()).isEmpty();
            }
        }
    }

    @Test
    @Clause({"W-7", "B-4"})
    void edge_ofOneDirection_reportsBothThatAreReady() {
        int[] pair = pair();
        int interest = Readiness.READ | Readiness.WRITE | Readiness.EDGE;
        backend.register(pair[0], interest, HANDLER);
        assertThat(poll()).containsExactly(Readiness.WRITE);
        send(pair[1], "x");
        assertThat(poll()).containsExactly(Readiness.READ | Readiness.WRITE);
    }

    @Test
    @Clause({"W-7", "B-4"})
    void event_thatCannotBeConfirmed_isReportedAsTheKernelHadIt() {
        try (TestPipe pipe = new TestPipe()) {
            backend.register(pipe.reader(), Readiness.READ, HANDLER);
            pipe.write();
            plan.fail("poll", Errno.ENOMEM);
            assertThat(poll()).containsExactly(Readiness.READ);
        }
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    @Clause({"W-3", "B-4"})
    void number_reopenedAndWatched_getsNothingOfTheOldOnes(boolean deregisters, boolean confirms) {
        RecordingHandler old = new RecordingHandler();
        try (TestPipe first = new TestPipe();
                TestPipe second = new TestPipe()) {
            int number = kernel.fcntl(first.reader(), F_DUPFD_CLOEXEC, 0);
            own.add(number);
            backend.register(number, Readiness.READ, old);
            assertThat(poll()).isEmpty();
            first.write();
            backend.detach(); // The poll's completion is in the ring now, and not taken.
            if (deregisters) {
                backend.deregister(number, old);
            }
            kernel.close(number);
            assertThat(kernel.fcntl(second.reader(), F_DUPFD_CLOEXEC, number)).isEqualTo(number);
            backend.register(number, Readiness.READ, HANDLER);
            if (!confirms) {
                plan.fail("poll", Errno.ENOMEM);
            }
            assertThat(poll()).isEmpty();
            second.write();
            backend.pollNow();
            assertThat(backend.dispatchNext()).isSameAs(HANDLER);
            assertThat(backend.dispatchNext()).isNull();
        }
    }
}
