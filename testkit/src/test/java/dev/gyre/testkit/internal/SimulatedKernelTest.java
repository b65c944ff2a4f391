package dev.gyre.testkit.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.conformance.On;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.Linux;
import dev.gyre.testkit.Faults;
import dev.gyre.testkit.SimulationError;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The simulated kernel alone. [DifferentialTest] compares it with Linux.
@On("simulated")
class SimulatedKernelTest {
    private static final int LISTENER = 0;
    private static final int CLIENT = 1;
    private static final int SERVER = 2;
    private static final byte[] HELLO = {'h', 'e', 'l', 'l', 'o'};

    private final SimulatedKernel kernel = new SimulatedKernel(1);
    private CallSide calls;

    @BeforeEach
    void openCalls() {
        kernel.latency(0, 0);
        calls = new CallSide(kernel.syscalls());
    }

    /// Handles: listener, client, server.
    private void connection() {
        assertThat(calls.socket(Linux.SOCK_STREAM)).isZero();
        assertThat(calls.bind(LISTENER)).isZero();
        assertThat(calls.listen(LISTENER, 1)).isZero();
        assertThat(calls.socket(Linux.SOCK_STREAM)).isZero();
        assertThat(calls.connect(CLIENT, LISTENER)).isEqualTo(-Errno.EINPROGRESS);
        assertThat(calls.accept(LISTENER)).isZero();
    }

    // ------------------------------------------------------------------ ends of connections

    /// An action of one side, and the results of two reads and two sends of the other.
    @ParameterizedTest
    @CsvSource({
        "nothing,            -11, -11,   5,   5",
        "half-close,           0,   0,   5,   5",
        "close,                0,   0,   5, -32",
        "close with unread, -104,   0, -32, -32",
        "close both ways,      0,   0,   5, -32",
    })
    @Clause("B-6")
    void end_ofOneSide_isMetByTheOtherAsOnLinux(
            String how, long read, long again, long send, long sendAgain) {
        connection();
        switch (how) {
            case "half-close" -> calls.shutdown(SERVER, Linux.SHUT_WR);
            case "close both ways" -> calls.shutdown(SERVER, Linux.SHUT_RDWR);
            case "close" -> calls.closeHandle(SERVER);
            case "close with unread" -> {
                calls.send(CLIENT, HELLO, 0);
                calls.closeHandle(SERVER);
            }
            default -> {}
        }
        assertThat(calls.receive(CLIENT, 10, 0).result()).isEqualTo(read);
        assertThat(calls.receive(CLIENT, 10, 0).result()).isEqualTo(again);
        assertThat(calls.send(CLIENT, HELLO, 0)).isEqualTo(send);
        assertThat(calls.send(CLIENT, HELLO, 0)).isEqualTo(sendAgain);
    }

    @Test
    @Clause("B-6")
    void reset_withBytesUnread_letsThemBeReadFirst() {
        connection();
        calls.send(SERVER, HELLO, 0);
        calls.send(CLIENT, HELLO, 0);
        calls.closeHandle(SERVER); // With unread input: a reset.
        assertThat(calls.receive(CLIENT, 10, 0).result()).isEqualTo(5);
        assertThat(calls.receive(CLIENT, 10, 0).result()).isEqualTo(-Errno.ECONNRESET);
        assertThat(calls.receive(CLIENT, 10, 0).result()).isZero();
    }

    @Test
    @Clause("B-6")
    void connect_whereNobodyListens_isRefusedThroughTheSocketsError() {
        calls.socket(Linux.SOCK_STREAM);
        calls.bind(0);
        calls.socket(Linux.SOCK_STREAM);
        assertThat(calls.connect(1, 0)).isEqualTo(-Errno.EINPROGRESS);
        assertThat(calls.ready(1) & Linux.EPOLLERR).isNotZero();
        assertThat(calls.takeError(1)).isEqualTo(Errno.ECONNREFUSED);
        assertThat(calls.takeError(1)).as("told once").isZero();
    }

    @Test
    @Clause("B-6")
    void backlog_thatIsFull_makesAClientTryAgainASecondLater() {
        connection(); // A backlog of one: two connections fit.
        for (int client = 3; client < 6; client++) {
            calls.socket(Linux.SOCK_STREAM);
            calls.connect(client, LISTENER);
        }
        assertThat(calls.ready(4) & Linux.EPOLLOUT).as("the second").isNotZero();
        assertThat(calls.ready(5)).as("the third has no answer yet").isZero();
        calls.accept(LISTENER);
        long before = kernel.nanoTime();
        kernel.moveTo(kernel.nextNanos());
        kernel.runDue();
        assertThat(kernel.nanoTime() - before).isEqualTo(1_000_000_000L);
        assertThat(calls.ready(5) & Linux.EPOLLOUT).isNotZero();
    }

    @Test
    @Clause("B-6")
    void closeOfAListener_resetsWhoeverWaits() {
        connection();
        calls.socket(Linux.SOCK_STREAM);
        calls.connect(3, LISTENER);
        calls.closeHandle(LISTENER);
        assertThat(calls.receive(3, 1, 0).result()).isEqualTo(-Errno.ECONNRESET);
        assertThat(calls.receive(CLIENT, 1, 0).result())
                .as("who was accepted stays")
                .isEqualTo(-Errno.EAGAIN);
    }

    // ------------------------------------------------------------------ numbers

    @Test
    @Clause("B-6")
    void numbers_theLowestFreeOne_isGivenFirst() {
        calls.pipe();
        calls.eventfd();
        int first = calls.number(0);
        calls.closeHandle(0);
        calls.eventfd();
        assertThat(calls.number(3)).isEqualTo(first);
    }

    @Test
    @Clause({"B-6", "E-3"})
    void numbers_whenTheyAreOut_areRefusedAndNothingLeaks() {
        kernel.descriptorLimit(3 + 1 + 1); // With the epoll of the test.
        int before = kernel.openDescriptors();
        assertThat(calls.pipe()).isEqualTo(-Errno.EMFILE);
        assertThat(kernel.openDescriptors()).isEqualTo(before);
        assertThat(calls.eventfd()).isZero();
        assertThat(calls.eventfd()).isEqualTo(-Errno.EMFILE);
    }

    // ------------------------------------------------------------------ edges

    @Test
    @Clause({"B-6", "W-7"})
    void edge_comesWithEachArrivalAndWithEachChange() {
        connection();
        int mask = Linux.EPOLLIN | Linux.EPOLLET;
        calls.control(Linux.EPOLL_CTL_ADD, CLIENT, mask);
        assertThat(calls.waitNow()).isEmpty();
        calls.send(SERVER, HELLO, 0);
        assertThat(calls.waitNow()).containsEntry((long) CLIENT, Linux.EPOLLIN);
        assertThat(calls.waitNow()).isEmpty();
        calls.send(SERVER, HELLO, 0);
        assertThat(calls.waitNow()).as("another arrival").hasSize(1);
        calls.control(Linux.EPOLL_CTL_MOD, CLIENT, mask);
        assertThat(calls.waitNow()).as("a change").hasSize(1);
    }

    @Test
    @Clause("B-6")
    void edgeForWriting_comesWhenThereIsRoomAgain() {
        connection();
        byte[] much = new byte[1 << 17];
        long sent = calls.send(CLIENT, much, 0);
        assertThat(sent).isLessThan(much.length);
        while (sent > 0) {
            sent = calls.send(CLIENT, much, 0);
        }
        assertThat(sent).isEqualTo(-Errno.EAGAIN);
        calls.control(Linux.EPOLL_CTL_ADD, CLIENT, Linux.EPOLLOUT | Linux.EPOLLET);
        assertThat(calls.waitNow()).isEmpty();
        while (calls.receive(SERVER, 60_000, 0).result() > 0) {
            assertThat(kernel.openDescriptors()).isPositive();
        }
        assertThat(calls.waitNow()).containsEntry((long) CLIENT, Linux.EPOLLOUT);
    }

    // ------------------------------------------------------------------ waiting

    @Test
    @Clause("B-6")
    void read_thatWouldBlockForEver_isAnError() {
        calls.pipe();
        int flags = kernel.syscalls().kernels().get().fcntl(calls.number(0), Linux.F_GETFL, 0);
        kernel.syscalls()
                .kernels()
                .get()
                .fcntl(calls.number(0), Linux.F_SETFL, flags & ~Linux.O_NONBLOCK);
        assertThatThrownBy(() -> calls.read(0, 1))
                .isInstanceOf(SimulationError.class)
                .hasMessageContaining("would block forever");
    }

    @Test
    @Clause("B-6")
    void latency_delaysBytesAndKeepsTheirOrder() {
        kernel.latency(1_000_000, 500_000);
        calls.socket(Linux.SOCK_STREAM);
        calls.bind(LISTENER);
        calls.listen(LISTENER, 1);
        calls.socket(Linux.SOCK_STREAM);
        calls.connect(CLIENT, LISTENER);
        assertThat(calls.ready(CLIENT)).as("no answer yet").isZero();
        drain();
        assertThat(kernel.elapsedNanos()).isBetween(2_000_000L, 5_000_000L);
        calls.accept(LISTENER);
        for (byte i = 0; i < 100; i++) {
            calls.send(CLIENT, new byte[] {i}, 0);
        }
        assertThat(calls.receive(SERVER, 200, 0).result()).isEqualTo(-Errno.EAGAIN);
        drain();
        int hash = 7;
        for (byte i = 0; i < 100; i++) {
            hash = 31 * hash + i;
        }
        assertThat(calls.receive(SERVER, 200, 0)).isEqualTo(new CallSide.Received(100, hash));
    }

    private void drain() {
        while (kernel.hasEvents()) {
            kernel.moveTo(kernel.nextNanos());
            kernel.runDue();
        }
    }

    // ------------------------------------------------------------------ faults

    @Test
    @Clause("B-6")
    void shortRead_isFollowedByAnotherEdge() {
        connection();
        kernel.faults(Faults.none().withShortReads(1));
        calls.send(SERVER, HELLO, 0);
        calls.control(Linux.EPOLL_CTL_ADD, CLIENT, Linux.EPOLLIN | Linux.EPOLLET);
        assertThat(calls.waitNow()).hasSize(1);
        assertThat(calls.receive(CLIENT, 5, 0).result()).isBetween(1L, 4L);
        drain();
        assertThat(calls.waitNow()).as("the rest is announced").hasSize(1);
    }

    @Test
    @Clause("B-6")
    void spuriousBlock_isFollowedByAnotherEdge() {
        connection();
        kernel.faults(Faults.none().withSpuriousBlocks(1));
        calls.send(SERVER, HELLO, 0);
        calls.control(Linux.EPOLL_CTL_ADD, CLIENT, Linux.EPOLLOUT | Linux.EPOLLET);
        assertThat(calls.waitNow()).hasSize(1);
        assertThat(calls.send(CLIENT, HELLO, 0)).isEqualTo(-Errno.EAGAIN);
        drain();
        assertThat(calls.waitNow()).as("that it is writable is announced").hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"4, interrupts", "105, noBuffers"})
    @Clause("B-6")
    void fault_thatIsCertain_refusesEverySend(int errno, String which) {
        connection();
        Faults none = Faults.none();
        kernel.faults(which.equals("interrupts") ? none.withInterrupts(1) : none.withNoBuffers(1));
        assertThat(calls.send(CLIENT, HELLO, 0)).isEqualTo(-errno);
        kernel.faults(none);
        assertThat(calls.send(CLIENT, HELLO, 0)).isEqualTo(5);
        assertThat(calls.receive(SERVER, 10, 0).result())
                .as("nothing was sent before")
                .isEqualTo(5);
    }

    @Test
    @Clause({"B-6", "E-3"})
    void exhaustion_ofAnAccept_leavesTheConnectionWaiting() {
        connection();
        calls.socket(Linux.SOCK_STREAM);
        calls.connect(3, LISTENER);
        kernel.faults(Faults.none().withExhaustion(1));
        assertThat(calls.accept(LISTENER)).isIn(-Errno.EMFILE, -Errno.ENFILE);
        kernel.faults(Faults.none());
        assertThat(calls.accept(LISTENER)).isZero();
    }

    @Test
    @Clause("B-6")
    void abort_ofAnAccept_resetsThePeer() {
        connection();
        calls.socket(Linux.SOCK_STREAM);
        calls.connect(3, LISTENER);
        kernel.faults(Faults.none().withAborts(1));
        assertThat(calls.accept(LISTENER)).isEqualTo(-Errno.ECONNABORTED);
        assertThat(calls.accept(LISTENER)).isEqualTo(-Errno.EAGAIN);
        assertThat(calls.receive(3, 1, 0).result()).isEqualTo(-Errno.ECONNRESET);
    }

    @Test
    @Clause("B-6")
    void lateness_tellsOfAnEventLaterButTells() {
        connection();
        calls.control(Linux.EPOLL_CTL_ADD, CLIENT, Linux.EPOLLIN | Linux.EPOLLET);
        calls.send(SERVER, HELLO, 0);
        kernel.faults(Faults.none().withDelays(1));
        assertThat(calls.waitNow()).isEmpty();
        kernel.faults(Faults.none());
        drain();
        assertThat(calls.waitNow()).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"-0.1", "1.1", "NaN"})
    void faults_withNoProbability_areRefused(double probability) {
        assertThatThrownBy(() -> Faults.none().withResets(probability))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("resets")
                .hasMessageContaining(Double.toString(probability));
    }
}
