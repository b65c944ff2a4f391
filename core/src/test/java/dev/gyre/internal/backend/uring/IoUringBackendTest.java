package dev.gyre.internal.backend.uring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.AnotherThread;
import dev.gyre.Clause;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.SystemCallException;
import dev.gyre.WatchSpec;
import dev.gyre.conformance.On;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ReadinessHandler;
import dev.gyre.internal.backend.RecordingHandler;
import dev.gyre.internal.loop.Loop;
import dev.gyre.internal.sys.Errno;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.FaultyKernel.Plan;
import dev.gyre.internal.sys.FaultyUring;
import dev.gyre.internal.sys.IoUringAbi;
import dev.gyre.internal.sys.Linux;
import dev.gyre.internal.sys.LinuxFileCalls;
import dev.gyre.internal.sys.LinuxPollCalls;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.internal.sys.SyscallFactories;
import dev.gyre.internal.sys.TestPipe;
import dev.gyre.os.Pipe;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

@On("io_uring")
class IoUringBackendTest {
    private static final RecordingHandler HANDLER = new RecordingHandler();

    private final Plan plan = new Plan();
    private final FaultyUring uring = new FaultyUring(plan);
    private final SyscallFactories seam =
            new SyscallFactories(
                    () -> new FaultyKernel(plan),
                    SyscallFactories.LINUX.sockets(),
                    SyscallFactories.LINUX.files());
    private long descriptorsBefore;

    @BeforeEach
    void countDescriptors() {
        assumeTrue(
                UringSupport.isAvailable(), "this kernel refuses io_uring: `gyre doctor` says why");
        new TestPipe().close(); // Links what is linked once.
        descriptorsBefore = OpenDescriptors.count();
    }

    @AfterEach
    void nothingLeaked() {
        assertThat(plan.open()).as("descriptors the backend left open").isEmpty();
        assertThat(uring.mapped()).as("memory the backend left mapped").isEmpty();
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(descriptorsBefore);
    }

    private IoUringBackend open() {
        return IoUringBackend.open(seam, uring, 16);
    }

    private IoUringBackend open(int submissions, int completions) {
        return IoUringBackend.open(seam, uring, 16, submissions, completions);
    }

    private Loop openLoop() {
        return Loop.open(LoopConfig.DEFAULT, open());
    }

    private static List<Integer> takeAll(Backend backend) {
        return RecordingHandler.dispatchAll(backend);
    }

    private static List<Integer> poll(Backend backend) {
        backend.pollNow();
        return takeAll(backend);
    }

    // ------------------------------------------------------------------ creation

    @ParameterizedTest
    @CsvSource({
        "io_uring_setup, 1, EPERM",
        "io_uring_setup, 38, ENOSYS",
        "io_uring_setup, 12, ENOMEM",
        "io_uring_setup, 24, EMFILE",
        "mmap, 12, ENOMEM",
        "eventfd, 24, EMFILE",
        "epoll_create1, 24, EMFILE",
    })
    @Clause({"B-2", "B-4", "E-1", "E-3", "B-7"})
    void open_refused_givesBackWhatItHadAndSaysWhy(String call, int errno, String name) {
        plan.fail(call, errno);
        assertThatThrownBy(this::open)
                .isInstanceOfSatisfying(
                        SystemCallException.class,
                        e -> {
                            assertThat(e.errnoName()).isEqualTo(name);
                            assertThat(e.call()).startsWith(call);
                        });
    }

    @Test
    @Clause({"B-4", "E-3"})
    void open_refusedTheSecondMapping_givesTheFirstBack() {
        AtomicInteger first = new AtomicInteger();
        // Only the second mapping fails.
        FaultyUring second =
                new FaultyUring(plan) {
                    @Override
                    public synchronized long mmap(long length, int fd, long offset) {
                        return first.incrementAndGet() == 2
                                ? -Errno.ENOMEM
                                : super.mmap(length, fd, offset);
                    }
                };
        assertThatThrownBy(() -> IoUringBackend.open(seam, second, 16))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("ENOMEM");
        assertThat(second.mapped()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                0,
                IoUringAbi.IORING_SETUP_NO_SQARRAY,
                IoUringAbi.IORING_SETUP_DEFER_TASKRUN,
                IoUringAbi.IORING_SETUP_SINGLE_ISSUER | IoUringAbi.IORING_SETUP_COOP_TASKRUN,
                IoUringAbi.IORING_SETUP_SINGLE_ISSUER
                        | IoUringAbi.IORING_SETUP_COOP_TASKRUN
                        | IoUringAbi.IORING_SETUP_SUBMIT_ALL,
            })
    @Clause("B-4")
    void open_onAKernelThatLacksFlags_worksWithout(int lacking) {
        uring.withoutFlags(lacking);
        IoUringBackend backend = open();
        assertThat(uring.setupFlags()).hasSize(1);
        assertThat(uring.setupFlags().getFirst() & lacking).isZero();
        try (TestPipe pipe = new TestPipe()) {
            backend.register(pipe.reader(), Readiness.READ, HANDLER);
            assertThat(poll(backend)).isEmpty();
            pipe.write();
            backend.pollUntil(System.nanoTime() + Duration.ofMinutes(1).toNanos());
            assertThat(takeAll(backend)).containsExactly(Readiness.READ);
            assertThat(poll(backend)).as("level-triggered").containsExactly(Readiness.READ);
            backend.wake();
            assertThat(poll(backend)).containsExactly(Readiness.READ);
        }
        backend.close();
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                IoUringAbi.IORING_FEAT_SINGLE_MMAP,
                IoUringAbi.IORING_FEAT_NODROP,
                IoUringAbi.IORING_FEAT_EXT_ARG,
                IoUringAbi.IORING_FEAT_RSRC_TAGS
            })
    @Clause({"B-2", "B-4"})
    void open_onAKernelTooOld_isRefused(int feature) {
        uring.withoutFeatures(feature);
        assertThatThrownBy(this::open)
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("ENOSYS");
    }

    @Test
    void descriptors_areNotInheritedByChildren() {
        IoUringBackend backend = open();
        assertThat(plan.open()).hasSize(3);
        for (int fd : plan.open()) {
            assertThat(new LinuxPollCalls().fcntl(fd, Linux.F_GETFD, 0))
                    .as("FD_CLOEXEC of %d", fd)
                    .isEqualTo(Linux.FD_CLOEXEC);
        }
        assertThat(plan.count("madvise")).as("mappings with MADV_DONTFORK").isEqualTo(2);
        backend.close();
    }

    // ------------------------------------------------------------------ wait

    @Test
    @Clause({"T-6", "B-7"})
    void pollUntil_interrupted_waitsOnlyForWhatIsLeft() {
        IoUringBackend backend = open();
        plan.fail("io_uring_enter", Errno.EINTR, 3);
        plan.answer(
                "io_uring_enter",
                () -> {
                    backend.close();
                    return -Errno.ETIME;
                });
        backend.pollUntil(System.nanoTime() + Duration.ofHours(1).toNanos());
        assertThat(uring.timeoutsNanos()).as("three interrupted, one complete").hasSize(4);
        for (int i = 1; i < 4; i++) {
            assertThat(uring.timeoutsNanos().get(i))
                    .as("each shorter than the one before")
                    .isLessThan(uring.timeoutsNanos().get(i - 1));
        }
    }

    @Test
    @Clause("T-6")
    void pollUntil_withNothingReady_isNeverEarly() {
        IoUringBackend backend = open();
        for (int i = 0; i < 20; i++) {
            long deadline = System.nanoTime() + 300_000L;
            backend.pollUntil(deadline);
            assertThat(System.nanoTime() - deadline).isNotNegative();
            assertThat(backend.dispatchNext()).isNull();
        }
        backend.pollUntil(System.nanoTime() - 1);
        backend.close();
    }

    @Test
    @Clause({"Q-6", "B-4"})
    void wake_whoseSignalTheKernelHasNotReported_staysPending() {
        IoUringBackend backend = open();
        assertThat(poll(backend)).isEmpty();
        backend.wake();
        plan.answer("io_uring_enter", () -> 0); // Looks, and sees nothing yet.
        assertThat(poll(backend)).isEmpty();
        backend.wake();
        assertThat(plan.count("write")).as("one pending signal").isEqualTo(1);
        assertThat(poll(backend)).isEmpty();
        backend.wake();
        assertThat(plan.count("write")).as("the first was drained").isEqualTo(2);
        assertThat(plan.count("read")).as("the eventfd is never read").isZero();
        backend.close();
    }

    @Test
    @Clause("Q-6")
    void wake_onceDrained_doesNotWakeAgain() {
        IoUringBackend backend = open();
        backend.wake();
        assertThat(poll(backend)).isEmpty();
        long deadline = System.nanoTime() + 2_000_000;
        backend.pollUntil(deadline);
        assertThat(System.nanoTime() - deadline)
                .as("a wait that the old signal does not end")
                .isNotNegative();
        backend.close();
    }

    @Test
    @Clause({"Q-6", "B-4"})
    void wake_beforeTheFirstWait_endsIt() {
        IoUringBackend backend = open();
        backend.wake();
        backend.pollUntil(System.nanoTime() + Duration.ofHours(1).toNanos());
        assertThat(backend.dispatchNext()).isNull();
        backend.close();
    }

    @Test
    @Clause({"Q-6", "B-4"})
    void wake_onceDrained_doesNotWakeAgainOnAnotherThread() {
        IoUringBackend backend = open();
        backend.wake();
        assertThat(poll(backend)).isEmpty();
        backend.detach();
        AtomicLong late = new AtomicLong(Long.MIN_VALUE);
        AnotherThread.runs(
                () -> {
                    long deadline = System.nanoTime() + 2_000_000;
                    backend.pollUntil(deadline);
                    late.set(System.nanoTime() - deadline);
                });
        assertThat(late.get()).isNotNegative();
        backend.close();
    }

    @Test
    @Clause("B-4")
    void pollNow_withNothingToTellOrToHear_makesNoCall() {
        IoUringBackend backend = open();
        try (TestPipe pipe = new TestPipe()) {
            backend.register(pipe.reader(), Readiness.READ, HANDLER);
            assertThat(poll(backend)).isEmpty();
            long before = plan.count("io_uring_enter");
            assertThat(poll(backend)).isEmpty();
            assertThat(plan.count("io_uring_enter")).isEqualTo(before);
            pipe.write();
            assertThat(poll(backend)).containsExactly(Readiness.READ);
        }
        backend.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EAGAIN, Errno.EBUSY})
    @Clause({"B-4", "E-3"})
    void enter_congested_losesNothing(int errno) {
        IoUringBackend backend = open();
        try (TestPipe pipe = new TestPipe()) {
            backend.register(pipe.reader(), Readiness.READ, HANDLER);
            pipe.write();
            plan.fail("io_uring_enter", errno, 3);
            backend.pollUntil(System.nanoTime() + Duration.ofMinutes(1).toNanos());
            assertThat(takeAll(backend)).containsExactly(Readiness.READ);
        }
        backend.close();
    }

    @Test
    @Clause("B-4")
    void enter_thatLostCompletions_asksForEverythingAnew() {
        IoUringBackend backend = open();
        try (TestPipe pipe = new TestPipe()) {
            backend.register(pipe.reader(), Readiness.READ, HANDLER);
            assertThat(poll(backend)).isEmpty();
            pipe.write();
            plan.fail("io_uring_enter", Errno.EBADR);
            backend.pollNow();
            assertThat(takeAll(backend)).isEmpty();
            assertThat(poll(backend)).containsExactly(Readiness.READ);
            assertThat(uring.setupFlags()).as("a new ring").hasSize(2);
        }
        backend.close();
    }

    @Test
    @Clause({"E-1", "L-10", "B-4"})
    void enter_refused_leavesRunAndTheLoopCanRunAgain() {
        Loop loop = openLoop();
        List<String> log = new ArrayList<>();
        plan.fail("io_uring_enter", Errno.EFAULT);
        assertThatThrownBy(loop::run)
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("EFAULT");
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
        loop.submit(() -> log.add("task"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("task");
        loop.close();
    }

    // ------------------------------------------------------------------ queues

    @Test
    @Clause("B-4")
    void submissions_beyondTheQueue_areAllMade() {
        IoUringBackend backend = open(4, 64);
        List<TestPipe> pipes = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            TestPipe pipe = new TestPipe();
            pipes.add(pipe);
            backend.register(pipe.reader(), Readiness.READ | Readiness.EDGE, HANDLER);
            pipe.write();
        }
        int total = 0;
        for (int i = 0; i < 10; i++) {
            total += poll(backend).size();
        }
        assertThat(total).isEqualTo(40);
        pipes.forEach(TestPipe::close);
        backend.close();
    }

    @Test
    @Clause("B-4")
    void submissions_whileTheQueueStaysFull_waitTheirTurn() {
        IoUringBackend backend = open(2, 64);
        List<TestPipe> pipes = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            TestPipe pipe = new TestPipe();
            pipes.add(pipe);
            backend.register(pipe.reader(), Readiness.READ | Readiness.ONE_SHOT, HANDLER);
            pipe.write();
        }
        plan.fail("io_uring_enter", Errno.EBUSY, 5);
        int total = 0;
        while (total < 10) {
            backend.pollUntil(System.nanoTime() + Duration.ofMinutes(1).toNanos());
            total += takeAll(backend).size();
        }
        assertThat(total).isEqualTo(10);
        assertThat(poll(backend)).as("each reported once").isEmpty();
        pipes.forEach(TestPipe::close);
        backend.close();
    }

    @Test
    @Clause("B-4")
    void completions_beyondTheQueue_allArrive() {
        IoUringBackend backend = open(4, 4);
        List<TestPipe> pipes = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            TestPipe pipe = new TestPipe();
            pipes.add(pipe);
            backend.register(pipe.reader(), Readiness.READ | Readiness.ONE_SHOT, HANDLER);
        }
        assertThat(poll(backend)).isEmpty();
        pipes.forEach(TestPipe::write);
        int total = 0;
        while (total < 200) {
            backend.pollUntil(System.nanoTime() + Duration.ofMinutes(1).toNanos());
            total += takeAll(backend).size();
        }
        assertThat(total).isEqualTo(200);
        assertThat(poll(backend)).as("each reported once").isEmpty();
        pipes.forEach(TestPipe::close);
        backend.close();
    }

    @Test
    @Clause("B-4")
    void multishot_thatOverflowEnds_isArmedAgain() {
        IoUringBackend backend = open(4, 4);
        List<TestPipe> pipes = new ArrayList<>();
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < 64; i++) {
            TestPipe pipe = new TestPipe();
            pipes.add(pipe);
            int number = i;
            backend.register(
                    pipe.reader(), Readiness.READ | Readiness.EDGE, bits -> seen.add(number));
        }
        assertThat(poll(backend)).isEmpty();
        for (int round = 0; round < 3; round++) {
            seen.clear();
            pipes.forEach(TestPipe::write);
            while (seen.size() < 64) {
                backend.pollUntil(System.nanoTime() + Duration.ofMinutes(1).toNanos());
                while (backend.dispatchNext() != null) {
                    // Its handler records the number.
                }
            }
            pipes.forEach(TestPipe::read);
        }
        pipes.forEach(TestPipe::close);
        backend.close();
    }

    // ------------------------------------------------------------------ registration

    @Test
    @Clause({"B-4", "W-3"})
    void dispatchNext_ofAnEventForAnEarlierRegistration_passesItOver() {
        IoUringBackend backend = open();
        try (TestPipe pipe = new TestPipe()) {
            List<String> log = new ArrayList<>();
            ReadinessHandler old = bits -> log.add("old");
            backend.register(pipe.reader(), Readiness.READ, old);
            pipe.write();
            backend.pollNow();
            backend.deregister(pipe.reader(), old);
            backend.register(pipe.reader(), Readiness.READ, bits -> log.add("new"));
            backend.deregister(pipe.reader(), old); // Not his any more.
            assertThat(backend.dispatchNext()).isNull();
            backend.pollNow();
            assertThat(backend.dispatchNext()).isNotNull();
            assertThat(log).containsExactly("new");
        }
        backend.close();
    }

    @Test
    @Clause({"W-7", "B-4"})
    void edge_reportsEachChangeOnce() {
        IoUringBackend backend = open();
        try (TestPipe pipe = new TestPipe()) {
            backend.register(pipe.reader(), Readiness.READ | Readiness.EDGE, HANDLER);
            pipe.write();
            assertThat(poll(backend)).containsExactly(Readiness.READ);
            assertThat(poll(backend)).isEmpty();
            pipe.write();
            assertThat(poll(backend)).containsExactly(Readiness.READ);
            assertThat(poll(backend)).isEmpty();
            backend.modify(pipe.reader(), Readiness.READ | Readiness.EDGE);
            assertThat(poll(backend)).as("rearmed").containsExactly(Readiness.READ);
        }
        backend.close();
    }

    @Test
    @Clause({"W-7", "B-4"})
    void oneShot_reportsOnceUntilModified() {
        IoUringBackend backend = open();
        try (TestPipe pipe = new TestPipe()) {
            int interest = Readiness.READ | Readiness.ONE_SHOT;
            backend.register(pipe.reader(), interest, HANDLER);
            pipe.write();
            assertThat(poll(backend)).containsExactly(Readiness.READ);
            pipe.write();
            assertThat(poll(backend)).isEmpty();
            backend.modify(pipe.reader(), interest);
            assertThat(poll(backend)).containsExactly(Readiness.READ);
            assertThat(poll(backend)).isEmpty();
        }
        backend.close();
    }

    @Test
    @Clause({"W-9", "B-4"})
    void modify_toAnEmptyMask_reportsNotEvenAHangUp() {
        IoUringBackend backend = open();
        TestPipe pipe = new TestPipe();
        backend.register(pipe.reader(), Readiness.READ, HANDLER);
        assertThat(poll(backend)).isEmpty();
        backend.modify(pipe.reader(), 0);
        pipe.closeWriter();
        assertThat(poll(backend)).isEmpty();
        backend.modify(pipe.reader(), Readiness.READ);
        assertThat(poll(backend)).containsExactly(Readiness.HANGUP);
        pipe.closeReader();
        backend.close();
    }

    @Test
    @Clause({"W-8", "B-4"})
    void register_ofWhatCannotBePolled_isRefused() {
        IoUringBackend backend = open();
        for (String path : List.of(System.getProperty("gyre.root") + "/pom.xml", "/dev/zero")) {
            int fd = new LinuxFileCalls().open(path, Linux.O_RDONLY | Linux.O_CLOEXEC);
            assertThatThrownBy(() -> backend.register(fd, Readiness.READ, HANDLER))
                    .isInstanceOf(SystemCallException.class)
                    .hasMessageContaining("EPERM")
                    .hasMessageContaining("a regular file is always ready");
            assertThat(new LinuxPollCalls().close(fd)).isZero();
        }
        assertThatThrownBy(() -> backend.register(9_999, Readiness.READ, HANDLER))
                .isInstanceOf(SystemCallException.class)
                .hasMessageContaining("EBADF");
        assertThatThrownBy(() -> backend.register(-1, Readiness.READ, HANDLER))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1");
        assertThat(poll(backend)).isEmpty();
        backend.close();
    }

    @Test
    @Clause({"B-4", "B-3"})
    void register_whileTheLoopSleeps_wakesItAndTakesEffect() throws InterruptedException {
        Loop loop = openLoop();
        Thread runner = Thread.ofPlatform().start(loop::run);
        while (loop.state() != LoopState.SLEEPING) {
            Thread.onSpinWait();
        }
        try (TestPipe pipe = new TestPipe()) {
            CountDownLatch ready = new CountDownLatch(1);
            loop.backend()
                    .register(
                            pipe.reader(),
                            Readiness.READ | Readiness.EDGE,
                            bits -> ready.countDown());
            pipe.write();
            ready.await();
            loop.close();
        }
        runner.join();
    }

    @Test
    @Clause({"B-4", "W-4"})
    void deregister_onTheLoopThread_letsGoOfTheFileAtOnce() {
        IoUringBackend backend = open();
        TestPipe pipe = new TestPipe();
        backend.register(pipe.writer(), Readiness.WRITE | Readiness.EDGE, HANDLER);
        backend.register(pipe.reader(), Readiness.READ, HANDLER);
        assertThat(poll(backend)).containsExactly(Readiness.WRITE);
        backend.deregister(pipe.writer(), HANDLER);
        pipe.closeWriter();
        assertThat(poll(backend)).as("no poll holds the writer").containsExactly(Readiness.HANGUP);
        backend.deregister(pipe.reader(), HANDLER);
        pipe.closeReader();
        backend.close();
    }

    @Test
    @Clause({"B-4", "W-4"})
    void deregister_betweenRunsByAnotherThread_letsGoOfTheFile() {
        IoUringBackend backend = open();
        TestPipe pipe = new TestPipe();
        backend.register(pipe.writer(), Readiness.WRITE | Readiness.EDGE, HANDLER);
        backend.register(pipe.reader(), Readiness.READ | Readiness.EDGE, HANDLER);
        assertThat(poll(backend)).containsExactly(Readiness.WRITE);
        backend.detach();
        AnotherThread.runs(() -> backend.deregister(pipe.writer(), HANDLER));
        pipe.closeWriter();
        backend.pollUntil(System.nanoTime() + Duration.ofMinutes(1).toNanos());
        assertThat(takeAll(backend)).containsExactly(Readiness.HANGUP);
        backend.deregister(pipe.reader(), HANDLER);
        pipe.closeReader();
        backend.close();
    }

    @Test
    @Clause({"S-3", "B-4"})
    void register_afterClose_isRefusedAndReachesNoDescriptor() {
        IoUringBackend backend = open();
        backend.close();
        long calls = plan.calls().size();
        assertThatThrownBy(() -> backend.register(0, Readiness.READ, HANDLER))
                .isInstanceOf(LoopTerminatedException.class);
        assertThatThrownBy(() -> backend.modify(0, Readiness.READ))
                .isInstanceOf(LoopTerminatedException.class);
        backend.deregister(0, HANDLER);
        backend.wake();
        backend.close();
        assertThat(plan.calls()).as("no call after close").hasSize((int) calls);
    }

    // ------------------------------------------------------------------ threads

    @Test
    @Clause({"B-4", "L-2"})
    void loop_runByOneThreadAndThenByAnother_keepsItsWatches() {
        Loop loop = openLoop();
        try (Pipe pipe = Pipe.open()) {
            List<Thread> ranOn = new ArrayList<>();
            WatchSpec reading =
                    WatchSpec.reading(
                            watcher -> {
                                watcher.descriptor().read(ByteBuffer.allocate(1));
                                ranOn.add(Thread.currentThread());
                            });
            AnotherThread.runs(() -> loop.watch(pipe.reader(), reading));
            Runnable turn =
                    () -> {
                        pipe.writer().write(ByteBuffer.allocate(1));
                        loop.runOne();
                    };
            turn.run();
            AnotherThread.runs(turn);
            turn.run();
            assertThat(ranOn).hasSize(3);
            assertThat(ranOn.get(0)).isSameAs(ranOn.get(2)).isNotSameAs(ranOn.get(1));
            AnotherThread.runs(loop::close);
        }
    }

    @Test
    @Clause({"B-4", "S-4"})
    void openAndClose_manyTimes_leavesNothing() {
        for (int i = 0; i < 200; i++) {
            open().close();
        }
        assertThat(uring.mapped()).isEmpty();
    }

    @Test
    @Clause("B-4")
    void ring_usedForLong_isRegisteredAndUnregisteredOnLeaving() {
        IoUringBackend backend = open();
        for (int i = 0; i < 1_500; i++) {
            backend.wake();
            backend.pollNow();
            assertThat(backend.dispatchNext()).isNull();
        }
        assertThat(plan.calls())
                .contains("io_uring_register " + IoUringAbi.IORING_REGISTER_RING_FDS)
                .doesNotContain("io_uring_register " + IoUringAbi.IORING_UNREGISTER_RING_FDS);
        backend.detach();
        assertThat(plan.calls())
                .contains("io_uring_register " + IoUringAbi.IORING_UNREGISTER_RING_FDS);
        backend.close();
    }
}
