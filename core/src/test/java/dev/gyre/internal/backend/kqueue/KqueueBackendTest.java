package dev.gyre.internal.backend.kqueue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.RecordingHandler;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.FaultyKqueue;
import dev.gyre.internal.sys.Kevent;
import dev.gyre.internal.sys.KqueueFlavour;
import dev.gyre.internal.sys.SyscallFactories;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// The faults, ends and filters of kqueue.
@On("kqueue")
class KqueueBackendTest {
    private static final int BOTH = Readiness.READ | Readiness.WRITE;

    private final Plan plan = new Plan();
    private FakeKqueue kernel = new FakeKqueue(KqueueFlavour.MACOS);

    @AfterEach
    void nothingLeaked() {
        assertThat(plan.open()).as("descriptors the backend left open").isEmpty();
    }

    private KqueueBackend open() {
        return KqueueBackend.open(
                () -> new FaultyKqueue(kernel, plan), kernel.flavour, SyscallFactories.LINUX, 16);
    }

    private FakeConduit sockets() {
        return new FakeConduit(kernel, FakeDescriptor.sockets());
    }

    private FakeConduit pipe() {
        return new FakeConduit(kernel, FakeDescriptor.pipe());
    }

    private static List<Integer> look(Backend backend) {
        backend.pollNow();
        return RecordingHandler.dispatchAll(backend);
    }

    // ------------------------------------------------------------------ creation

    @ParameterizedTest
    @CsvSource({
        "kqueue, 24, EMFILE",
        "kqueue, 23, ENFILE",
        "kqueue, 12, ENOMEM",
        "fcntl, 12, ENOMEM",
        "kevent, 12, ENOMEM",
    })
    @Clause({"B-5", "E-1", "E-3"})
    void open_refused_closesWhatWasOpenedAndSaysWhy(String call, int errno, String name) {
        plan.fail(call, errno);
        assertThatThrownBy(this::open)
                .isInstanceOfSatisfying(
                        SystemCallException.class,
                        e -> {
                            assertThat(e.errnoName()).isEqualTo(name);
                            assertThat(e.call()).startsWith(call);
                        });
        assertThat(kernel.openNumbers()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"pipe, 24", "fcntl, 12", "kevent, 12"})
    @Clause({"B-5", "E-1", "E-3"})
    void open_refusedASelfPipe_closesWhatWasOpened(String call, int errno) {
        kernel.refuse(kernel.flavour.userFilter(), Errno.EINVAL);
        switch (call) {
            case "fcntl" -> plan.answer("fcntl", () -> 0); // The queue's; the pipe's comes second.
            case "kevent" -> kernel.refuse(Kevent.EVFILT_READ, errno);
            default -> {}
        }
        if (!call.equals("kevent")) {
            plan.fail(call, errno);
        }
        assertThatThrownBy(this::open)
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining(Errno.name(errno));
        assertThat(kernel.openNumbers()).isEmpty();
    }

    @Test
    @Clause("E-3")
    void open_outOfMemory_leaksNothing() {
        for (boolean user : new boolean[] {true, false}) {
            kernel.refuse(kernel.flavour.userFilter(), user ? 0 : Errno.EINVAL);
            AtomicInteger made = new AtomicInteger();
            assertThatThrownBy(
                            () ->
                                    KqueueBackend.open(
                                            () -> {
                                                if (made.incrementAndGet() == 3) {
                                                    throw new OutOfMemoryError("injected");
                                                }
                                                return new FaultyKqueue(kernel, plan);
                                            },
                                            kernel.flavour,
                                            SyscallFactories.LINUX,
                                            16))
                    .isInstanceOf(OutOfMemoryError.class);
            assertThat(kernel.openNumbers()).isEmpty();
        }
    }

    @Test
    @Clause({"B-5", "Q-6"})
    void open_withUserEvents_needsOneDescriptorOnly() {
        KqueueBackend backend = open();
        assertThat(plan.open()).hasSize(1);
        backend.close();
        kernel.refuse(kernel.flavour.userFilter(), Errno.EINVAL);
        KqueueBackend piped = open();
        assertThat(plan.open()).hasSize(3);
        piped.close();
    }

    // ------------------------------------------------------------------ waiting

    @Test
    @Clause({"B-5", "T-6"})
    void pollUntil_interrupted_waitsOnlyForWhatIsLeft() {
        KqueueBackend backend = open();
        plan.fail("kevent_wait", Errno.EINTR, 3);
        backend.wake();
        backend.pollUntil(System.nanoTime() + Duration.ofHours(1).toNanos());
        List<Long> timeouts = plan.timeoutsNanos();
        assertThat(timeouts).as("three interrupted, one whole").hasSize(4);
        for (int i = 1; i < 4; i++) {
            assertThat(timeouts.get(i))
                    .as("each shorter than the one before")
                    .isLessThan(timeouts.get(i - 1));
        }
        backend.close();
    }

    @Test
    @Clause({"B-5", "T-6"})
    void pollUntil_asksForTheNanosecond() {
        KqueueBackend backend = open();
        backend.wake();
        long before = System.nanoTime();
        backend.pollUntil(before + 1_234_567_890_123L);
        assertThat(plan.timeoutsNanos().getLast())
                .as("the rest of the timeout, to the nanosecond")
                .isLessThanOrEqualTo(1_234_567_890_123L)
                .isGreaterThanOrEqualTo(1_234_567_890_123L - (System.nanoTime() - before));
        backend.close();
    }

    @Test
    @Clause({"B-5", "T-6"})
    void pollUntil_aDistantDeadline_isAskedForInDays() {
        KqueueBackend backend = open();
        plan.answer("kevent_wait", () -> 0);
        backend.wake();
        backend.pollUntil(System.nanoTime() + Duration.ofDays(10_000).toNanos());
        assertThat(plan.timeoutsNanos())
                .as("one that ended early, and another")
                .containsExactly(Duration.ofDays(1).toNanos(), Duration.ofDays(1).toNanos());
        backend.close();
    }

    @Test
    @Clause("B-5")
    void pollNow_interrupted_triesAgain() {
        KqueueBackend backend = open();
        plan.fail("kevent_wait", Errno.EINTR);
        backend.pollNow();
        assertThat(plan.count("kevent_wait")).isEqualTo(2);
        backend.close();
    }

    @Test
    @Clause({"B-5", "E-1", "L-10"})
    void wait_refused_leavesRunAndTheLoopCanRunAgain() {
        Loop loop = Loop.open(LoopConfig.DEFAULT, open());
        List<String> log = new ArrayList<>();
        plan.fail("kevent_wait", Errno.EINVAL);
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
    @Clause("B-5")
    void wait_thatFindsTheBackendClosed_dropsWhatTheKernelWrote() {
        KqueueBackend backend = open();
        FakeConduit pipe = pipe();
        backend.register(pipe.reader(), Readiness.READ, new RecordingHandler());
        plan.answer(
                "kevent_wait",
                () -> {
                    backend.close();
                    return 1;
                });
        backend.pollNow();
        assertThat(backend.dispatchNext()).isNull();
    }

    // ------------------------------------------------------------------ waking

    @ParameterizedTest
    @CsvSource({"kevent, 0", "write, 22"})
    @Clause({"B-5", "Q-6"})
    void wake_interrupted_triesAgainAndOnABadDescriptorIsTakenAsTheEnd(String call, int refused) {
        kernel.refuse(kernel.flavour.userFilter(), refused);
        KqueueBackend backend = open();
        plan.fail(call, Errno.EINTR, 2);
        backend.wake();
        assertThat(backend.wakeups()).isEqualTo(1);
        assertThat(look(backend)).isEmpty();
        plan.fail(call, Errno.EBADF);
        backend.wake();
        long calls = plan.count(call);
        backend.wake();
        assertThat(plan.count(call)).as("the flag stayed set").isEqualTo(calls);
        backend.close();
    }

    @Test
    @Clause({"B-5", "Q-6"})
    void wake_withAFullPipe_isHeardAndThePipeIsEmptied() {
        kernel.refuse(kernel.flavour.userFilter(), Errno.EINVAL);
        KqueueBackend backend = open();
        int writer = plan.open().stream().mapToInt(Integer::intValue).max().orElseThrow();
        kernel.fill(writer);
        backend.wake();
        assertThat(backend.wakeups()).as("a signal to a full pipe counts").isEqualTo(1);
        plan.fail("read", Errno.EINTR);
        assertThat(look(backend)).isEmpty();
        long deadline = System.nanoTime() + 1_000_000;
        backend.pollUntil(deadline);
        assertThat(System.nanoTime() - deadline).as("drained to the last byte").isNotNegative();
        backend.close();
    }

    @Test
    @Clause({"B-5", "Q-6"})
    void anyCall_afterClose_reachesNoDescriptor() {
        KqueueBackend backend = open();
        backend.close();
        FakeConduit successor = pipe(); // It has the number of the queue.
        int calls = plan.calls().size();
        assertThatThrownBy(
                        () ->
                                backend.register(
                                        successor.reader(), Readiness.READ, new RecordingHandler()))
                .isInstanceOf(LoopTerminatedException.class);
        backend.deregister(successor.reader(), new RecordingHandler());
        backend.wake();
        backend.close();
        assertThat(plan.calls()).as("no call after close").hasSize(calls);
    }

    @Test
    @Clause("S-1")
    void close_closesTheQueueBeforeThePipeThatWakes() {
        kernel.refuse(kernel.flavour.userFilter(), Errno.EINVAL);
        KqueueBackend backend = open();
        plan.fail("close", Errno.EBADF, 3);
        backend.close();
        assertThat(plan.calls().stream().filter(call -> call.startsWith("close ")))
                .as("the queue was opened first; refusals keep nothing open")
                .containsExactly("close 3", "close 4", "close 5");
    }

    @ParameterizedTest
    @CsvSource({"9, 0", "5, 1", "0, 1"}) // EBADF, EIO, and zero bytes: the end of the pipe
    @Clause({"B-5", "Q-6"})
    void wake_whosePipeIsNotDrained_staysPendingUntilItIs(int errno, int logged) {
        kernel.refuse(kernel.flavour.userFilter(), Errno.EINVAL);
        KqueueBackend backend = open();
        backend.wake();
        try (LogCapture log = new LogCapture()) {
            plan.fail("read", errno, 2);
            assertThat(look(backend)).isEmpty();
            backend.wake();
            assertThat(backend.wakeups()).as("still pending: nothing written").isEqualTo(1);
            backend.pollUntil(System.nanoTime() + Duration.ofHours(1).toNanos());
            backend.wake();
            assertThat(backend.wakeups()).as("reported again, and not drained").isEqualTo(1);
            assertThat(log.messages()).as("once, however often it fails").hasSize(logged);
        }
        assertThat(look(backend)).as("now drained").isEmpty();
        backend.wake();
        assertThat(backend.wakeups()).isEqualTo(2);
        backend.close();
    }

    // ------------------------------------------------------------------ changes

    @ParameterizedTest
    @EnumSource(
            value = KqueueFlavour.class,
            names = {"MACOS", "FREEBSD"})
    @Clause({"B-5", "E-1"})
    void register_refusedOneFilter_keepsNeitherAndSaysItInOurNumbers(KqueueFlavour flavour) {
        kernel = new FakeKqueue(flavour);
        KqueueBackend backend = open();
        FakeConduit sockets = sockets();
        int before = kernel.filters();
        kernel.refuse(Kevent.EVFILT_WRITE, Errno.ENOBUFS); // 55 there, 105 here.
        assertThatThrownBy(() -> backend.register(sockets.reader(), BOTH, new RecordingHandler()))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("kevent")
                .hasMessageContaining("ENOBUFS");
        assertThat(kernel.filters()).isEqualTo(before);
        sockets.write();
        assertThat(look(backend)).isEmpty();
        kernel.refuse(Kevent.EVFILT_WRITE, 0);
        backend.register(sockets.reader(), BOTH, new RecordingHandler());
        assertThat(look(backend)).containsExactly(Readiness.READ | Readiness.WRITE);
        backend.close();
    }

    @Test
    @Clause({"B-5", "E-1"})
    void register_refusedAsAWhole_isForgotten() {
        KqueueBackend backend = open();
        FakeConduit sockets = sockets();
        plan.fail("kevent", Errno.ENOMEM);
        assertThatThrownBy(() -> backend.register(sockets.reader(), BOTH, new RecordingHandler()))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("ENOMEM");
        backend.modify(sockets.reader(), BOTH);
        assertThat(look(backend)).isEmpty();
        backend.close();
    }

    @Test
    @Clause("B-5")
    void register_interrupted_isMadeOnce() {
        KqueueBackend backend = open();
        FakeConduit sockets = sockets();
        plan.fail("kevent", Errno.EINTR, 2);
        backend.register(
                sockets.reader(), Readiness.WRITE | Readiness.EDGE, new RecordingHandler());
        assertThat(look(backend)).containsExactly(Readiness.WRITE);
        backend.close();
    }

    @Test
    @Clause({"B-5", "W-9"})
    void modify_toAnEmptyMask_deletesTheFilters() {
        KqueueBackend backend = open();
        int before = kernel.filters();
        FakeConduit sockets = sockets();
        backend.register(sockets.reader(), BOTH, new RecordingHandler());
        assertThat(kernel.filters()).isEqualTo(before + 2);
        backend.modify(sockets.reader(), Readiness.READ);
        assertThat(kernel.filters()).isEqualTo(before + 1);
        backend.modify(sockets.reader(), 0);
        assertThat(kernel.filters()).isEqualTo(before);
        backend.close();
    }

    @Test
    @Clause({"B-5", "W-7"})
    void oneShot_whoseOtherFilterIsReadyToo_butInAnotherBatch_isOneEvent() {
        KqueueBackend backend =
                KqueueBackend.open(
                        () -> new FaultyKqueue(kernel, plan),
                        kernel.flavour,
                        SyscallFactories.LINUX,
                        1);
        FakeConduit sockets = sockets();
        sockets.write();
        backend.register(sockets.reader(), BOTH | Readiness.ONE_SHOT, new RecordingHandler());
        int bits = look(backend).getFirst();
        assertThat(bits).isIn(Readiness.READ, Readiness.WRITE);
        assertThat(look(backend)).as("the array holds one; the other was disarmed").isEmpty();
        backend.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = KqueueFlavour.class,
            names = {"MACOS", "FREEBSD"})
    @Clause({"B-5", "O-5"})
    void filter_thatReportsAnError_carriesItsNumberInOurTerms(KqueueFlavour flavour) {
        kernel = new FakeKqueue(flavour);
        KqueueBackend backend = open();
        FakeConduit sockets = sockets();
        backend.register(sockets.reader(), BOTH, new RecordingHandler());
        kernel.failFilter(sockets.reader(), Kevent.EVFILT_READ, Errno.ENOBUFS);
        kernel.failFilter(sockets.reader(), Kevent.EVFILT_WRITE, Errno.ENOMEM);
        int event = look(backend).getFirst();
        assertThat(event & Readiness.EVENTS)
                .isEqualTo(Readiness.READ | Readiness.WRITE | Readiness.ERROR);
        assertThat(Readiness.errno(event)).as("the first of the two").isEqualTo(Errno.ENOBUFS);
        backend.close();
    }

    @Test
    @Clause("B-5")
    void urgentData_isAFilterOfItsOwnOnMacosAndRefusedElsewhere() {
        KqueueBackend backend = open();
        FakeConduit sockets = sockets();
        backend.register(
                sockets.reader(), Readiness.READ | Readiness.URGENT, new RecordingHandler());
        kernel.sendUrgent(sockets.reader());
        assertThat(look(backend)).containsExactly(Readiness.URGENT);
        backend.close();
        kernel = new FakeKqueue(KqueueFlavour.FREEBSD);
        KqueueBackend other = open();
        FakeConduit others = sockets();
        assertThatThrownBy(
                        () ->
                                other.register(
                                        others.reader(), Readiness.URGENT, new RecordingHandler()))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("EOPNOTSUPP");
        other.close();
    }

    // ------------------------------------------------------------------ ends

    @Test
    @Clause({"B-5", "W-6"})
    void halfClose_ofASocket_isReadableAndAnEndButNoHangUp() {
        KqueueBackend backend = open();
        FakeConduit sockets = sockets();
        backend.register(
                sockets.reader(), BOTH | Readiness.EDGE | Readiness.END, new RecordingHandler());
        assertThat(look(backend)).containsExactly(Readiness.WRITE);
        sockets.write();
        kernel.shutDown(sockets.writer());
        List<Integer> events = look(backend);
        assertThat(events).hasSize(1);
        assertThat(events.getFirst() & ~Readiness.WRITE).isEqualTo(Readiness.READ | Readiness.END);
        backend.modify(sockets.reader(), Readiness.READ);
        assertThat(look(backend)).as("an end without interest in it").containsExactly(1);
        backend.close();
    }

    @Test
    @Clause({"B-5", "W-6"})
    void ownShutdown_ofASocket_isNoHangUp() {
        KqueueBackend backend = open();
        FakeConduit sockets = sockets();
        backend.register(sockets.reader(), BOTH, new RecordingHandler());
        kernel.shutDown(sockets.reader());
        assertThat(look(backend)).containsExactly(Readiness.WRITE);
        backend.close();
    }

    @Test
    @Clause({"B-5", "W-6"})
    void reset_ofASocket_isAnErrorWhateverIsWatched() {
        KqueueBackend backend = open();
        for (int interest : new int[] {Readiness.READ, Readiness.WRITE, BOTH}) {
            FakeConduit sockets = sockets();
            RecordingHandler handler = new RecordingHandler();
            backend.register(sockets.reader(), interest | Readiness.EDGE, handler);
            look(backend);
            kernel.reset(sockets.reader(), Errno.ECONNRESET);
            int expected = Readiness.ERROR | Readiness.HANGUP;
            List<Integer> events = look(backend);
            assertThat(events).hasSize(1);
            assertThat(events.getFirst() & expected).isEqualTo(expected);
            backend.deregister(sockets.reader(), handler);
        }
        backend.close();
    }

    @Test
    @Clause({"B-5", "W-6"})
    void writer_thatBreaksWhileTheLoopSleeps_isToldAtOnce() throws InterruptedException {
        KqueueBackend backend = open();
        FakeConduit pipe = pipe();
        pipe.closeReader();
        Thread other =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    try {
                                        kernel.awaitWaiter();
                                    } catch (InterruptedException e) {
                                        throw new AssertionError(e);
                                    }
                                    backend.register(
                                            pipe.writer(), Readiness.WRITE, new RecordingHandler());
                                });
        backend.pollUntil(System.nanoTime() + Duration.ofHours(1).toNanos());
        other.join();
        List<Integer> events = RecordingHandler.dispatchAll(backend);
        if (events.isEmpty()) { // Woken just before it was noted.
            events = look(backend);
        }
        assertThat(events).containsExactly(Readiness.WRITE | Readiness.ERROR);
        backend.close();
    }

    @Test
    @Clause({"B-5", "B-8"})
    void brokenWriters_moreThanABatchHolds_areAllTold() {
        KqueueBackend backend = open();
        for (int i = 0; i < 50; i++) {
            FakeConduit pipe = pipe();
            pipe.closeReader();
            backend.register(
                    pipe.writer(), Readiness.WRITE | Readiness.EDGE, new RecordingHandler());
        }
        List<Integer> batches = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            batches.add(look(backend).size());
        }
        assertThat(batches).containsExactly(32, 18, 0);
        backend.close();
    }
}
