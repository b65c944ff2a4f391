package dev.gyre.internal.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.GroupReport;
import dev.gyre.LogCapture;
import dev.gyre.LoopConfig;
import dev.gyre.LoopGroupConfig;
import dev.gyre.LoopState;
import dev.gyre.internal.loop.Loop;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/// Threads that do not start, and loops that cannot be opened.
class GroupFaultsTest {
    private static final LoopGroupConfig CONFIG = LoopGroupConfig.DEFAULT;
    private static final Duration LIMIT = Duration.ofSeconds(20);

    /// Fails when the loop with this number is opened or started, counted over all.
    private static final class FaultyHost implements LoopHost {
        private final LoopHost threads = new ThreadHost();
        private final List<Loop> opened = new CopyOnWriteArrayList<>();
        private final int failingOpen;
        private final int failingStart;
        private int starts;

        FaultyHost(int failingOpen, int failingStart) {
            this.failingOpen = failingOpen;
            this.failingStart = failingStart;
        }

        @Override
        public Loop open(int index, LoopConfig config) {
            if (opened.size() == failingOpen) {
                throw new OutOfMemoryError("provoked");
            }
            Loop loop = threads.open(index, config);
            opened.add(loop);
            return loop;
        }

        @Override
        public void start(Group group, int index) {
            if (starts++ == failingStart) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            threads.start(group, index);
        }

        @Override
        public boolean isThreadOf(Group group) {
            return threads.isThreadOf(group);
        }
    }

    private static void assertAllTerminated(FaultyHost host) {
        assertThat(host.opened).allMatch(loop -> loop.state() == LoopState.TERMINATED);
    }

    @Test
    @Clause("G-1")
    void open_secondLoopFails_closesTheFirst() {
        FaultyHost host = new FaultyHost(1, -1);
        assertThatThrownBy(() -> Group.open(3, CONFIG, host))
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessage("provoked");
        assertThat(host.opened).hasSize(1);
        assertAllTerminated(host);
    }

    @Test
    @Clause("G-1")
    void start_anyThreadFails_leavesNoLoopRunning() {
        for (int failing = 0; failing < 3; failing++) {
            FaultyHost host = new FaultyHost(-1, failing);
            Group group = Group.open(3, CONFIG, host);
            assertThatThrownBy(group::start)
                    .isInstanceOf(OutOfMemoryError.class)
                    .hasMessage("unable to create native thread");
            assertThat(group.isTerminated()).isTrue();
            assertThat(host.opened).hasSize(3);
            assertAllTerminated(host);
        }
    }

    @Test
    @Clause("G-1")
    void loopFailed_memoryRunsOutWhileItIsReplaced_closesTheGroup() throws InterruptedException {
        FaultyHost host = new FaultyHost(2, -1);
        try (LogCapture log = new LogCapture();
                Group group = Group.open(2, CONFIG, host)) {
            group.start();
            group.next()
                    .submit(
                            () -> {
                                throw new OutOfMemoryError("first");
                            });
            GroupReport report = group.await();
            assertThat(report.failures())
                    .singleElement()
                    .satisfies(
                            failure -> {
                                assertThat(failure.cause()).hasMessage("first");
                                assertThat(failure.cause().getSuppressed()[0])
                                        .hasMessage("provoked");
                                assertThat(failure.replaced()).isFalse();
                            });
            assertThat(log.messages())
                    .anyMatch(message -> message.contains("cannot open a replacement"));
            assertAllTerminated(host);
        }
    }

    @Test
    @Clause("G-1")
    void next_withATerminatedLoop_returnsTheOthers() {
        try (Group group = Group.open(3, CONFIG)) {
            EventLoop closed = group.loops().get(1);
            closed.close();
            for (int i = 0; i < 6; i++) {
                assertThat(group.next()).isNotSameAs(closed);
            }
        }
    }

    @Test
    @Clause("G-1")
    void loopFailed_logThrows_theNewLoopRuns() {
        try (ThrowingLog _ = new ThrowingLog();
                Group group = Group.open(2, CONFIG)) {
            group.start();
            EventLoop failing = group.loops().getFirst();
            failing.submit(
                    () -> {
                        throw new InternalError("provoked");
                    });
            while (group.loops().getFirst() == failing) {
                LockSupport.parkNanos(100_000);
            }
            CompletableFuture<Thread> ran = new CompletableFuture<>();
            group.loops().getFirst().submit(() -> ran.complete(Thread.currentThread()));
            assertThat(ran).succeedsWithin(LIMIT);
            assertThat(group.shutdown(Duration.ZERO).toCompletableFuture().join().failures())
                    .singleElement()
                    .satisfies(
                            failure ->
                                    assertThat(failure.cause().getSuppressed())
                                            .singleElement()
                                            .asString()
                                            .contains("the log is full"));
        }
    }

    @Test
    @Clause("G-1")
    void loopFailed_theReplacementThrowsTheSameError_closesTheGroup() {
        OutOfMemoryError same = new OutOfMemoryError("always the same");
        AtomicBoolean failing = new AtomicBoolean();
        try (LogCapture _ = new LogCapture();
                Group group = Group.open(2, CONFIG)) {
            var _ =
                    group.perLoop(
                            loop -> {
                                if (failing.get()) {
                                    throw same;
                                }
                                return loop;
                            });
            group.start();
            failing.set(true);
            group.next()
                    .submit(
                            () -> {
                                throw same;
                            });
            assertThat(ended(group))
                    .succeedsWithin(LIMIT)
                    .satisfies(report -> assertThat(report.failures()).hasSize(1));
        }
    }

    @Test
    @Clause("G-1")
    void exited_whileTheGroupRuns_closesTheGroup() {
        LoopHost threads = new ThreadHost();
        LoopHost host =
                new LoopHost() {
                    @Override
                    public Loop open(int index, LoopConfig config) {
                        return threads.open(index, config);
                    }

                    @Override
                    public void start(Group group, int index) {
                        if (index == 0) {
                            threads.start(group, index);
                        } else {
                            // As if an exception had ended the thread.
                            Thread.ofPlatform().start(group::exited);
                        }
                    }
                };
        try (Group group = Group.open(2, CONFIG, host)) {
            group.start();
            assertThat(ended(group)).succeedsWithin(LIMIT);
            assertThat(group.loops()).allMatch(loop -> loop.state() == LoopState.TERMINATED);
        }
    }

    @Test
    @Clause("G-1")
    void shutdown_whileTheGroupStarts_endsIt() {
        for (int threads = 0; threads < 2; threads++) {
            ShutdownInStart host = new ShutdownInStart(threads);
            try (Group group = Group.open(3, CONFIG, host)) {
                // Never completes, and no loop may have a thread for the deadline.
                group.onShutdown(_ -> new CompletableFuture<>());
                group.start();
                assertThat(host.ended).as("%d of 3 threads started", threads).succeedsWithin(LIMIT);
                assertAllTerminated(host.faulty);
            }
        }
    }

    /// Shuts the group down before the loop with this index starts.
    private static final class ShutdownInStart implements LoopHost {
        private final FaultyHost faulty = new FaultyHost(-1, -1);
        private final int index;
        private CompletableFuture<GroupReport> ended = new CompletableFuture<>();

        ShutdownInStart(int index) {
            this.index = index;
        }

        @Override
        public Loop open(int index, LoopConfig config) {
            return faulty.open(index, config);
        }

        @Override
        public void start(Group group, int index) {
            if (index == this.index) {
                ended = group.shutdown(Duration.ofDays(1)).toCompletableFuture();
            }
            faulty.start(group, index);
        }
    }

    @Test
    @Clause("G-1")
    void start_affinityThrowsAndSoDoesTheLog_runsTheLoops() {
        LoopHost host =
                new ThreadHost(
                        (_, _) -> {
                            throw new UnsatisfiedLinkError("no sched_setaffinity");
                        });
        LoopGroupConfig config = CONFIG.withCpuAffinity(true);
        try (LogCapture log = new LogCapture();
                Group group = Group.open(2, config, host)) {
            group.start();
            group.forEach(loop -> assertThat(loop.isLoopThread()).isTrue());
            assertThat(log.messages())
                    .singleElement()
                    .asString()
                    .contains("unpinned", "UnsatisfiedLinkError", "withCpuAffinity(false)");
        }
        try (ThrowingLog _ = new ThrowingLog();
                Group group = Group.open(2, config, new ThreadHost((_, _) -> -1))) {
            group.start();
            group.forEach(loop -> assertThat(loop.isLoopThread()).isTrue());
        }
    }

    private static CompletableFuture<GroupReport> ended(Group group) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return group.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
    }

    /// A logger that throws, until closed.
    private static final class ThrowingLog extends Handler implements AutoCloseable {
        // Strongly referenced: a collected logger loses its handlers.
        private final Logger logger = Logger.getLogger("dev.gyre");

        ThrowingLog() {
            logger.setUseParentHandlers(false);
            logger.addHandler(this);
        }

        @Override
        public void publish(LogRecord entry) {
            throw new IllegalStateException("the log is full");
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            logger.removeHandler(this);
            logger.setUseParentHandlers(true);
        }
    }
}
