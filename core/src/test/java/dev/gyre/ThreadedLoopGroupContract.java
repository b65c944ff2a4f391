package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gyre.internal.sys.ThreadAffinity;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// The contract of groups whose loops run on threads.
public abstract class ThreadedLoopGroupContract extends LoopGroupContract {
    private final List<LoopGroup> groups = new ArrayList<>();

    protected abstract BackendKind backend();

    @Override
    protected LoopGroup open(int size, LoopGroupConfig config) {
        LoopGroup group =
                LoopGroup.of(
                        size, config.withLoopConfig(config.loopConfig().withBackend(backend())));
        groups.add(group);
        assumeTrue(
                group.loops().stream().allMatch(loop -> loop.metrics().backendFallback().isEmpty()),
                "this kernel refuses the backend: `gyre doctor` says why");
        return group;
    }

    @Override
    protected void runUntil(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            LockSupport.parkNanos(100_000);
        }
    }

    @AfterEach
    void closeGroups() {
        groups.forEach(LoopGroup::close);
    }

    @Test
    @Clause("G-1")
    void start_runsEachLoopOnItsOwnNamedThread() throws InterruptedException {
        LoopGroup group = open(3, CONFIG);
        Thread.ofVirtual().start(group::start).join();
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        group.forEach(_ -> threads.add(Thread.currentThread()));
        assertThat(threads)
                .extracting(Thread::getName)
                .containsExactlyInAnyOrder("group-0", "group-1", "group-2");
        assertThat(threads).as("they keep the JVM alive").noneMatch(Thread::isDaemon);
        group.close();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Test
    @Clause("G-1")
    void shutdown_rightAfterTheStart_runsTheAcceptedTasks() {
        for (int i = 0; i < 50; i++) {
            LoopGroup group = open(2, CONFIG);
            List<String> ran = new CopyOnWriteArrayList<>();
            group.loops().forEach(loop -> loop.submit(() -> ran.add(loop.config().name())));
            group.start();
            assertThat(shutDown(group, LONG).isGraceful()).isTrue();
            assertThat(ran).containsExactlyInAnyOrder("group-0", "group-1");
        }
    }

    @Test
    @Clause("G-1")
    void stop_ofOneLoop_shutsTheGroupDown() {
        LoopGroup group = start(2, CONFIG);
        group.loops().getLast().stop();
        runUntil(group::isTerminated);
        assertThat(shutDown(group, LONG).isGraceful()).isTrue();
    }

    @Test
    @Clause("G-1")
    void await_interrupted_throwsAndTheGroupContinues() throws InterruptedException {
        LoopGroup group = start(2, CONFIG);
        List<Exception> thrown = new CopyOnWriteArrayList<>();
        Thread waiting =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    try {
                                        var _ = group.await();
                                    } catch (InterruptedException e) {
                                        thrown.add(e);
                                    }
                                });
        waiting.interrupt();
        waiting.join();
        assertThat(thrown).hasSize(1);
        group.forEach(loop -> assertThat(loop.isLoopThread()).isTrue());
    }

    @Test
    @Clause("G-1")
    void close_interrupted_keepsTheInterruptAndTheGroupEnds() {
        LoopGroup group = start(2, CONFIG);
        Thread.currentThread().interrupt();
        group.close();
        assertThat(Thread.interrupted()).isTrue();
        runUntil(group::isTerminated);
    }

    @Test
    @Clause("G-1")
    void startShutdownAndClose_fromSeveralThreads_endTheGroup() throws InterruptedException {
        for (int i = 0; i < 50; i++) {
            LoopGroup group = open(2, CONFIG);
            CountDownLatch go = new CountDownLatch(1);
            List<Throwable> thrown = new CopyOnWriteArrayList<>();
            List<Runnable> actions =
                    List.of(
                            group::start,
                            () -> {
                                var _ = group.shutdown(Duration.ofSeconds(1));
                            },
                            group::close,
                            () -> group.forEach(_ -> {}),
                            () -> group.loops().forEach(LoopGroupContract::fail));
            List<Thread> threads = new ArrayList<>();
            for (Runnable action : actions) {
                threads.add(
                        Thread.ofVirtual()
                                .start(
                                        () -> {
                                            try {
                                                go.await();
                                                action.run();
                                            } catch (IllegalStateException
                                                    | LoopTerminatedException
                                                    | WrongThreadException e) {
                                                // The group has ended, or has started meanwhile.
                                            } catch (Throwable e) {
                                                thrown.add(e);
                                            }
                                        }));
            }
            go.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
            group.close();
            assertThat(thrown).isEmpty();
            assertThat(group.isTerminated()).isTrue();
            assertThat(group.loops()).allMatch(loop -> loop.state() == LoopState.TERMINATED);
        }
    }

    @Test
    @Clause("G-1")
    void cpuAffinity_restrictsEachThreadToOneProcessor() {
        BitSet allowed = ThreadAffinity.processors();
        assumeTrue(allowed.cardinality() > 1, "one processor only");
        LoopGroup group = start(3, CONFIG.withCpuAffinity(true));
        List<BitSet> used = new CopyOnWriteArrayList<>();
        group.forEach(_ -> used.add(ThreadAffinity.processors()));
        assertThat(used).allMatch(each -> each.cardinality() == 1);
        BitSet all = new BitSet();
        used.forEach(all::or);
        assertThat(all.cardinality()).isEqualTo(Math.min(3, allowed.cardinality()));
        assertThat(ThreadAffinity.processors()).as("of this thread").isEqualTo(allowed);
    }

    @Test
    @Clause("G-1")
    void run_afterTheEnd_throws() {
        LoopGroup group = open(1, CONFIG);
        group.close();
        assertThatThrownBy(group::run).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @Clause("G-1")
    void run_firstSignalDrainsAndTheSecondCloses_alsoAfterAFailure() throws Exception {
        LoopGroup group = open(2, CONFIG);
        List<Duration> drains = new CopyOnWriteArrayList<>();
        group.onShutdown(
                deadline -> {
                    drains.add(deadline);
                    return new CompletableFuture<>();
                });
        CompletableFuture<GroupReport> report = CompletableFuture.supplyAsync(group::run);
        // The signals are received before a loop runs: they do not end this process.
        runUntil(() -> group.loops().stream().allMatch(loop -> loop.metrics().ticks() > 0));
        failAndReplace(group, 0);
        runUntil(() -> group.loops().getFirst().metrics().ticks() > 0);
        sendTerm();
        runUntil(() -> !drains.isEmpty());
        assertThat(report).isNotDone();
        sendTerm();
        assertThat(report.get().failures()).hasSize(1);
        assertThat(drains).as("one loop acts on a signal").containsExactly(LONG);
    }

    private static void sendTerm() throws Exception {
        String pid = String.valueOf(ProcessHandle.current().pid());
        assertThat(new ProcessBuilder("kill", "-TERM", pid).start().waitFor()).isZero();
    }

    @Test
    @Clause({"G-1", "G-5"})
    void cpuAffinity_isNotInheritedByExecutorsAndOtherGroups() {
        BitSet allowed = ThreadAffinity.processors();
        assumeTrue(allowed.cardinality() > 1, "one processor only");
        LoopGroup group = start(1, CONFIG.withCpuAffinity(true));
        EventLoop loop = group.loops().getFirst();
        BoundedExecutor compute = BoundedExecutor.platformThreads("compute", 1, 1);
        LoopGroup other = open(2, CONFIG);
        LoopGroup pinned = open(2, CONFIG.withCpuAffinity(true));
        List<CompletableFuture<BitSet>> used = new CopyOnWriteArrayList<>();
        group.forEach(
                _ -> {
                    for (Executor each : List.of(compute, loop.config().executor())) {
                        used.add(CompletableFuture.supplyAsync(ThreadAffinity::processors, each));
                    }
                    other.start();
                    pinned.start();
                });
        other.forEach(
                _ -> used.add(CompletableFuture.completedFuture(ThreadAffinity.processors())));
        assertThat(used).hasSize(4);
        for (CompletableFuture<BitSet> each : used) {
            assertThat(each).succeedsWithin(LONG).isEqualTo(allowed);
        }
        BitSet all = new BitSet();
        pinned.forEach(_ -> all.or(ThreadAffinity.processors()));
        assertThat(all.cardinality()).as("a processor for each loop").isEqualTo(2);
    }

    @Test
    @Clause("G-1")
    void run_signalThatALoopReceivesLate_isNotTheSecondOne() throws Exception {
        LoopGroup group = open(2, CONFIG);
        List<String> ran = new CopyOnWriteArrayList<>();
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        CompletableFuture<GroupReport> report = CompletableFuture.supplyAsync(group::run);
        runUntil(() -> group.loops().stream().allMatch(loop -> loop.metrics().ticks() > 0));
        EventLoop late = group.loops().getLast();
        late.submit(
                () -> {
                    blocked.countDown();
                    try {
                        release.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
        blocked.await();
        late.submit(() -> ran.add("accepted"));
        sendTerm();
        runUntil(() -> group.loops().getFirst().state() == LoopState.TERMINATED);
        release.countDown();
        assertThat(report.get().isGraceful()).isTrue();
        assertThat(ran).containsExactly("accepted");
    }
}
