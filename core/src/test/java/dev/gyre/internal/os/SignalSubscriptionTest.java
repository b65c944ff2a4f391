package dev.gyre.internal.os;

import static dev.gyre.os.Signal.SIGQUIT;
import static dev.gyre.os.Signal.SIGUSR1;
import static dev.gyre.os.Signal.SIGWINCH;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.SystemCallException;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultySignalCalls;
import dev.gyre.internal.sys.TestSignals;
import dev.gyre.os.Signal;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// Real signals through a signalfd. The other threads of this JVM do not block them, so only this
/// thread does, the check of the others is faked, and all signals are sent to this thread.
class SignalSubscriptionTest {
    private final FaultyKernel.Plan plan = new FaultyKernel.Plan();
    private final FaultyKernel.Plan loopsPlan = new FaultyKernel.Plan();
    private final SignalRegistry takers = new SignalRegistry(new JvmSignalHandlers());
    private final List<Throwable> uncaught = new ArrayList<>();
    private final List<Signal> heard = new ArrayList<>();
    private final EventLoop loop = guarded("first");
    private SignalSources sources;
    private TestSignals.Unblocking unblocking;

    @TempDir Path threads;

    private EventLoop guarded(String name) {
        EventLoop opened =
                Loop.open(
                        LoopConfig.DEFAULT
                                .withName(name)
                                .withUncaughtHandler((thread, e) -> uncaught.add(e)),
                        EpollBackend.open(() -> new FaultyKernel(loopsPlan), 64));
        opened.after(
                Duration.ofSeconds(10),
                timer -> {
                    throw new AssertionError("no signal came within 10 s");
                });
        return opened;
    }

    @BeforeEach
    void block() throws IOException {
        Files.createDirectory(threads.resolve("1"));
        Files.writeString(
                threads.resolve("1/status"),
                "SigBlk:\t%x\n".formatted(BlockedSignals.bits(Set.of(SIGUSR1, SIGQUIT))));
        sources =
                new SignalSources(
                        takers,
                        new BlockedSignals(() -> new FaultySignalCalls(plan), threads),
                        () -> new FaultySignalCalls(plan),
                        () -> new FaultyKernel(plan));
        unblocking = TestSignals.block(SIGUSR1);
    }

    @AfterEach
    void close() {
        loop.close();
        unblocking.close();
        assertThat(plan.open()).as("descriptors of signals left open").isEmpty();
        assertThat(loopsPlan.open()).as("descriptors of loops left open").isEmpty();
        assertThat(uncaught).isEmpty();
    }

    private SignalSubscription begin(EventLoop on, Signal... signals) {
        return SignalSubscription.open(
                sources,
                on,
                EnumSet.copyOf(List.of(signals)),
                signal -> {
                    assertThat(on.isLoopThread()).isTrue();
                    heard.add(signal);
                });
    }

    /// A tick that polls without a signal counts too: a few of them are enough.
    private void runUntilHeard(int count) {
        while (heard.size() < count) {
            loop.runOne();
        }
    }

    @Test
    @Clause("Y-1")
    void open_aSignalThatIsBlocked_isReadFromADescriptor() {
        SignalSubscription taking = begin(loop, SIGUSR1);
        assertThat(taking).hasToString("Signals[SIGUSR1 by signalfd]");
        assertThat(plan.count("signalfd")).isOne();
        TestSignals.raise(SIGUSR1);
        runUntilHeard(1);
        TestSignals.raise(SIGUSR1);
        runUntilHeard(2);
        assertThat(heard).containsExactly(SIGUSR1, SIGUSR1);
    }

    @Test
    @Clause("Y-1")
    void open_oneBlockedAndOneNot_deliversBoth() {
        SignalSubscription taking = begin(loop, SIGUSR1, SIGWINCH);
        assertThat(taking)
                .hasToString("Signals[SIGUSR1 by signalfd, SIGWINCH by the JVM's handler]");
        TestSignals.raise(SIGUSR1);
        runUntilHeard(1);
        TestSignals.send(SIGWINCH);
        runUntilHeard(2);
        assertThat(heard).containsExactly(SIGUSR1, SIGWINCH);
    }

    @Test
    @Clause("Y-1")
    void open_withASignalPending_deliversIt() {
        TestSignals.raise(SIGUSR1);
        begin(loop, SIGUSR1);
        runUntilHeard(1);
        assertThat(heard).containsExactly(SIGUSR1);
    }

    @Test
    @Clause("Y-1")
    void close_withASignalPending_leavesItToTheNextTaker() {
        SignalSubscription first = begin(loop, SIGUSR1);
        TestSignals.raise(SIGUSR1);
        first.close();
        assertThat(plan.open()).isEmpty();
        begin(loop, SIGUSR1);
        runUntilHeard(1);
        assertThat(heard).containsExactly(SIGUSR1);
    }

    @Test
    @Clause("Y-1")
    void open_onTwoLoops_eitherReadDeliversToBoth() {
        try (EventLoop other = guarded("other")) {
            begin(loop, SIGUSR1);
            List<Signal> heardByOther = new ArrayList<>();
            SignalSubscription.open(sources, other, EnumSet.of(SIGUSR1), heardByOther::add);
            for (EventLoop reader : List.of(loop, other)) {
                heard.clear();
                heardByOther.clear();
                TestSignals.raise(SIGUSR1);
                EventLoop follower = reader == loop ? other : loop;
                while (heard.isEmpty() && heardByOther.isEmpty()) {
                    reader.runOne();
                }
                // By now it is queued: no descriptor has to be polled.
                follower.runOne();
                assertThat(heard).containsExactly(SIGUSR1);
                assertThat(heardByOther).containsExactly(SIGUSR1);
            }
        }
    }

    @Test
    @Clause("Y-1")
    void dispatch_aBurst_isDeliveredOnce() {
        begin(loop, SIGUSR1);
        for (int i = 0; i < 10_000; i++) {
            takers.dispatch(SIGUSR1);
        }
        runUntilHeard(1);
        loop.submit(() -> heard.add(SIGWINCH));
        runUntilHeard(2);
        assertThat(heard).as("one that waits stands for all").containsExactly(SIGUSR1, SIGWINCH);
    }

    @Test
    @Clause("Y-1")
    void dispatch_duringTheCallback_isDeliveredAgain() {
        List<Signal> told = new ArrayList<>();
        SignalSubscription.open(
                sources,
                loop,
                EnumSet.of(SIGUSR1),
                signal -> {
                    told.add(signal);
                    if (told.size() == 1) {
                        takers.dispatch(SIGUSR1);
                    }
                });
        takers.dispatch(SIGUSR1);
        loop.runOne();
        loop.runOne();
        assertThat(told).hasSize(2);
    }

    @Test
    @Clause("Y-1")
    void dispatch_aTerminatedLoop_reachesTheOthers() {
        SignalSubscription late = begin(loop, SIGUSR1);
        SignalSubscription.open(sources, loop, EnumSet.of(SIGUSR1), heard::add);
        try (EventLoop ending = guarded("ending")) {
            begin(ending, SIGUSR1);
            // As if the signal arrived between the loop's last task and the release of its
            // resources: dispatched by a resource that is closed before this one.
            ending.own(() -> takers.dispatch(SIGUSR1));
        }
        runUntilHeard(2);
        assertThat(heard).containsExactly(SIGUSR1, SIGUSR1);
        assertThat(late.isOpen()).isTrue();
    }

    @Test
    @Clause("Y-1")
    void open_signalfdRefused_leavesNothingBehind() {
        plan.fail("signalfd", Errno.EMFILE);
        assertThatThrownBy(() -> begin(loop, SIGUSR1, SIGWINCH))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("signalfd: EMFILE")
                .hasMessageContaining("ulimit -n");
        assertThat(TestHandlers.of(SIGWINCH)).hasToString("SIG_DFL");
        takers.dispatch(SIGUSR1);
        assertThat(loop.runFor(Duration.ZERO)).isZero();
    }

    @Test
    @Clause("Y-1")
    void open_watchingRefused_leavesNothingBehind() {
        loopsPlan.fail("epoll_ctl", Errno.ENOSPC);
        assertThatThrownBy(() -> begin(loop, SIGUSR1, SIGWINCH))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("epoll_ctl(ADD)");
        assertThat(plan.open()).isEmpty();
        assertThat(TestHandlers.of(SIGWINCH)).hasToString("SIG_DFL");
    }

    @Test
    @Clause("Y-1")
    void open_handlerRefusedByTheJvm_givesBackWhatItHas() {
        // Passes the checks, since it counts as blocked, and is then rejected by the JVM.
        SignalSubscription taking = begin(loop, SIGWINCH);
        assertThatThrownBy(() -> takers.add(taking, SIGQUIT, true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("SIGQUIT");
        taking.close();
        assertThat(TestHandlers.of(SIGWINCH)).hasToString("SIG_DFL");
    }

    @Test
    @Clause("Y-1")
    void read_interruptedOrEmpty_isTriedAgain() {
        plan.fail("read", Errno.EINTR).fail("read", Errno.EAGAIN);
        begin(loop, SIGUSR1);
        TestSignals.raise(SIGUSR1);
        runUntilHeard(1);
        assertThat(heard).containsExactly(SIGUSR1);
        assertThat(plan.count("read")).isEqualTo(3);
    }

    @Test
    void read_lessThanOneSignal_isNone() {
        plan.answer("read", () -> 4);
        begin(loop, SIGUSR1);
        TestSignals.raise(SIGUSR1);
        runUntilHeard(1);
        assertThat(heard).containsExactly(SIGUSR1);
    }

    @Test
    @Clause({"Y-1", "L-8"})
    void open_byADescriptor_doesNotKeepTheLoopAlive() {
        try (EventLoop empty = EventLoop.open()) {
            begin(empty, SIGUSR1);
            assertThat(empty.runUntilEmpty()).isZero();
        }
        assertThat(plan.open()).as("closed with its loop").isEmpty();
    }
}
