package dev.gyre.internal.backend.epoll;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.BackendContract;
import dev.gyre.internal.backend.Conduit;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.RealConduit;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.internal.sys.TestPipe;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

@On("epoll")
class EpollBackendTest extends BackendContract {
    private final Plan plan = new Plan();
    private long descriptorsBefore;

    @BeforeEach
    void countDescriptors() {
        new TestPipe().close(); // Links the calls that are linked once.
        descriptorsBefore = OpenDescriptors.count();
    }

    @Override
    protected void nothingLeaked() {
        assertThat(plan.open()).as("descriptors the backend left open").isEmpty();
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(descriptorsBefore);
    }

    @Override
    protected EpollBackend open() {
        return EpollBackend.open(() -> new FaultyKernel(plan), 16);
    }

    @Override
    protected Conduit pipe() {
        return RealConduit.pipe();
    }

    @Override
    protected Conduit sockets() {
        return RealConduit.sockets();
    }

    private Loop openLoop() {
        return Loop.open(LoopConfig.DEFAULT, open());
    }

    // ------------------------------------------------------------------ creation

    @ParameterizedTest
    @CsvSource({
        "epoll_create1, 24, EMFILE",
        "epoll_create1, 23, ENFILE",
        "epoll_create1, 12, ENOMEM",
        "eventfd, 24, EMFILE",
        "eventfd, 12, ENOMEM",
        "epoll_ctl, 12, ENOMEM",
        "epoll_ctl, 28, ENOSPC",
    })
    @Clause({"E-1", "E-3", "B-7"})
    void open_refused_closesWhatWasOpenedAndSaysWhy(String call, int errno, String name) {
        plan.fail(call, errno);
        assertThatThrownBy(this::open)
                .isInstanceOfSatisfying(
                        SystemCallException.class,
                        e -> {
                            assertThat(e.errnoName()).isEqualTo(name);
                            assertThat(e.call()).startsWith(call);
                            assertThat(e.kind()).isEqualTo(SystemCallException.Kind.RESOURCE);
                        });
    }

    @ParameterizedTest
    @CsvSource({"timerfd_create", "epoll_ctl"})
    @Clause({"E-1", "T-6", "B-7"})
    void open_refusedATimerfd_closesWhatWasOpened(String call) {
        plan.fail("epoll_pwait2", Errno.ENOSYS);
        if (call.equals("epoll_ctl")) {
            plan.answer("epoll_ctl", () -> 0); // That of the eventfd; the timerfd's comes second.
        }
        plan.fail(call, Errno.ENOMEM);
        assertThatThrownBy(this::open).isInstanceOf(SystemCallException.class);
    }

    // ------------------------------------------------------------------ waiting

    @Test
    @Clause({"T-6", "B-7"})
    void pollUntil_interrupted_waitsOnlyForWhatIsLeft() {
        EpollBackend backend = open();
        plan.fail("epoll_pwait2", Errno.EINTR, 3);
        plan.answer("epoll_pwait2", () -> 0);
        backend.pollUntil(System.nanoTime() + Duration.ofHours(1).toNanos());
        List<Long> timeouts = plan.timeoutsNanos();
        assertThat(timeouts).as("the probe, three interrupted, one whole").hasSize(5);
        for (int i = 2; i < 5; i++) {
            assertThat(timeouts.get(i))
                    .as("each shorter than the one before")
                    .isLessThan(timeouts.get(i - 1));
        }
        backend.close();
    }

    @Test
    @Clause("T-6")
    void pollUntil_asksForTheNanosecond() {
        EpollBackend backend = open();
        plan.answer("epoll_pwait2", () -> 0);
        long before = System.nanoTime();
        backend.pollUntil(before + 1_234_567_890_123L);
        assertThat(plan.timeoutsNanos().getLast())
                .as("the rest of the timeout, to the nanosecond")
                .isLessThanOrEqualTo(1_234_567_890_123L)
                .isGreaterThanOrEqualTo(1_234_567_890_123L - (System.nanoTime() - before));
        backend.close();
    }

    @Test
    @Clause("Q-6")
    void wake_whoseSignalTheKernelHasNotReported_staysPending() {
        EpollBackend backend = open();
        backend.wake();
        plan.answer("epoll_wait", () -> 0); // Polls, and finds nothing yet.
        backend.pollNow();
        assertThat(backend.dispatchNext()).isNull();
        backend.wake();
        assertThat(plan.count("write")).as("one signal in flight").isEqualTo(1);
        backend.pollNow();
        assertThat(backend.dispatchNext()).isNull();
        backend.wake();
        assertThat(plan.count("write")).as("the first was drained").isEqualTo(2);
        backend.close();
    }

    @Test
    @Clause("E-3")
    void open_outOfMemory_leaksNothing() {
        AtomicInteger made = new AtomicInteger();
        assertThatThrownBy(
                        () ->
                                EpollBackend.open(
                                        () -> {
                                            if (made.incrementAndGet() == 3) {
                                                throw new OutOfMemoryError("injected");
                                            }
                                            return new FaultyKernel(plan);
                                        },
                                        16))
                .isInstanceOf(OutOfMemoryError.class);
    }

    @Test
    void descriptors_areNotInheritedByChildren() {
        plan.fail("epoll_pwait2", Errno.ENOSYS); // With a timerfd too.
        EpollBackend backend = open();
        assertThat(plan.open()).hasSize(3);
        for (int fd : plan.open()) {
            assertThat(new LinuxPollCalls().fcntl(fd, Linux.F_GETFD, 0))
                    .as("FD_CLOEXEC of %d", fd)
                    .isEqualTo(Linux.FD_CLOEXEC);
        }
        backend.close();
    }

    @Test
    @Clause("B-7")
    void pollNow_interrupted_triesAgain() {
        EpollBackend backend = open();
        plan.fail("epoll_wait", Errno.EINTR);
        backend.pollNow();
        assertThat(plan.count("epoll_wait")).isEqualTo(2);
        backend.close();
    }

    @ParameterizedTest
    @CsvSource({"38", "1"})
    @Clause("T-6")
    void pollUntil_withoutPwait2_waitsByTimerfdAndNeverEarly(int errno) {
        plan.fail("epoll_pwait2", errno);
        EpollBackend backend = open();
        for (int i = 0; i < 20; i++) {
            long deadline = System.nanoTime() + 300_000L;
            backend.pollUntil(deadline);
            assertThat(System.nanoTime() - deadline).isNotNegative();
            assertThat(backend.dispatchNext()).isNull();
        }
        // Fewer than 20, where this thread had to wait for a processor.
        long armed = plan.count("timerfd_settime");
        backend.pollUntil(System.nanoTime() - 1);
        assertThat(plan.count("timerfd_settime")).as("nothing to wait for").isEqualTo(armed);
        backend.wake();
        backend.pollUntil(System.nanoTime() + Duration.ofHours(1).toNanos());
        assertThat(plan.count("timerfd_settime")).as("an hour to wait").isEqualTo(armed + 1);
        assertThat(plan.count("epoll_pwait2")).as("only the probe").isEqualTo(1);
        backend.close();
    }

    @Test
    @Clause("T-6")
    void loop_withoutPwait2_keepsItsTimersAndItsWakeUps() throws InterruptedException {
        plan.fail("epoll_pwait2", Errno.ENOSYS);
        Loop loop = openLoop();
        List<Long> lateness = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            loop.after(
                    Duration.ofMillis(i),
                    timer -> lateness.add(System.nanoTime() - timer.firedDeadlineNanos()));
        }
        loop.runUntilEmpty();
        assertThat(lateness).hasSize(5).allMatch(late -> late >= 0);
        Thread runner = Thread.ofPlatform().start(loop::run);
        CountDownLatch ran = new CountDownLatch(1);
        loop.submit(ran::countDown);
        ran.await();
        loop.close();
        runner.join();
    }

    @Test
    @Clause({"E-1", "L-10"})
    void wait_refused_leavesRunAndTheLoopCanRunAgain() {
        Loop loop = openLoop();
        List<String> log = new ArrayList<>();
        plan.fail("epoll_pwait2", Errno.EINVAL);
        assertThatThrownBy(loop::run)
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("EINVAL");
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
        loop.submit(() -> log.add("task"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("task");
        loop.close();
    }

    @Test
    @Clause("B-3")
    void wait_thatFindsTheBackendClosed_dropsWhatTheKernelWrote() {
        EpollBackend backend = open();
        try (TestPipe pipe = new TestPipe()) {
            backend.register(pipe.reader(), Readiness.READ, ready -> {});
            plan.answer(
                    "epoll_wait",
                    () -> {
                        backend.close();
                        return 1;
                    });
            backend.pollNow();
            assertThat(backend.dispatchNext()).isNull();
        }
    }

    // ------------------------------------------------------------------ registering

    @Test
    @Clause("S-3")
    void anyCall_afterClose_reachesNoDescriptor() {
        EpollBackend backend = open();
        backend.close();
        long calls = plan.calls().size();
        assertThatThrownBy(() -> backend.register(0, Readiness.READ, bits -> {}))
                .isInstanceOf(LoopTerminatedException.class);
        assertThatThrownBy(() -> backend.modify(0, Readiness.READ))
                .isInstanceOf(LoopTerminatedException.class);
        backend.deregister(0, bits -> {});
        backend.wake();
        backend.close();
        assertThat(plan.calls()).as("no call after close").hasSize((int) calls);
    }

    @Test
    @Clause("S-1")
    void close_thatTheKernelCallsBad_stillClosesTheRest() {
        plan.fail("close", Errno.EBADF, 2);
        EpollBackend backend = open();
        backend.close();
        assertThat(plan.count("close")).isEqualTo(2);
    }
}
