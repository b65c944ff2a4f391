package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.AnotherThread;
import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.ShutdownReport;
import dev.gyre.SubmitResult;
import dev.gyre.WatchSpec;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.backend.epoll.EpollBackend;
import dev.gyre.internal.base.TestLoopContext;
import dev.gyre.internal.io.FakeDescriptors;
import dev.gyre.internal.sys.FaultyKernel;
import dev.gyre.internal.sys.OpenDescriptors;
import dev.gyre.io.Buffer;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

class ShutdownTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final ScriptedBackend backend = new ScriptedBackend();
    private final FakeDescriptors fakes = new FakeDescriptors();
    private final List<String> log = new ArrayList<>();
    private final Loop loop = Loop.open(LoopConfig.DEFAULT, backend);

    private static ShutdownReport outcomeOf(Loop loop) {
        CompletableFuture<ShutdownReport> outcome =
                loop.shutdown(Duration.ZERO).toCompletableFuture();
        assertThat(outcome).as("the loop has not ended").isDone();
        return outcome.join();
    }

    @Test
    @Clause("S-1")
    void shutdown_finishesAcceptedWorkAndWhatItLeadsTo() {
        // The loss that the wrong order of drains would cause: task, its completion, its microtask.
        loop.submit(
                () -> {
                    loop.shutdown(LONG);
                    log.add("task");
                    loop.submitPriority(
                            () -> {
                                log.add("completion");
                                loop.microtask(() -> log.add("microtask"));
                                loop.defer(
                                        () -> {
                                            log.add("deferred");
                                            loop.submitPriority(() -> log.add("last"));
                                        });
                            });
                });
        loop.submit(() -> log.add("accepted before"));
        loop.run();
        assertThat(log)
                .containsExactly(
                        "task", "accepted before", "completion", "microtask", "deferred", "last");
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
        assertThat(outcomeOf(loop)).isEqualTo(new ShutdownReport(true, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    }

    @Test
    @Clause({"S-1", "Q-2", "Q-4"})
    void shutdown_whileDraining_refusesTasksAndAcceptsPriorityOnes() {
        loop.submit(
                () -> {
                    loop.shutdown(LONG);
                    assertThat(loop.state()).isEqualTo(LoopState.TERMINATING);
                    assertThat(loop.trySubmit(() -> log.add("refused")))
                            .isEqualTo(SubmitResult.TERMINATED);
                    assertThatThrownBy(() -> loop.submit(() -> log.add("refused")))
                            .isInstanceOf(LoopTerminatedException.class)
                            .hasMessageContaining("TERMINATING");
                    loop.submitPriority(() -> log.add("priority"));
                });
        loop.run();
        assertThat(log).containsExactly("priority");
        assertThatThrownBy(() -> loop.submitPriority(() -> {}))
                .isInstanceOf(LoopTerminatedException.class)
                .hasMessageContaining("TERMINATED");
        assertThat(loop.metrics().failures()).isZero();
    }

    @Test
    @Clause("S-1")
    void shutdown_calledByMany_givesAllTheOneOutcome() {
        List<CompletableFuture<ShutdownReport>> outcomes = new ArrayList<>();
        loop.submit(
                () -> {
                    outcomes.add(loop.shutdown(LONG).toCompletableFuture());
                    outcomes.add(loop.shutdown(Duration.ZERO).toCompletableFuture());
                });
        loop.submit(() -> log.add("the first deadline counts"));
        loop.run();
        outcomes.add(loop.shutdown(LONG).toCompletableFuture());
        assertThat(log).hasSize(1);
        assertThat(outcomes).hasSize(3).allMatch(CompletableFuture::isDone);
        assertThat(outcomes).extracting(CompletableFuture::join).containsOnly(outcomeOf(loop));
        assertThat(backend.closes()).isEqualTo(1);
    }

    @Test
    @Clause("S-1")
    void outcome_completedByACaller_isItsOwnCopy() {
        loop.submit(
                () -> {
                    CompletableFuture<ShutdownReport> mine =
                            loop.shutdown(LONG).toCompletableFuture();
                    assertThat(mine.complete(new ShutdownReport(false, 9, 9, 9, 9, 9, 9, 9, 9, 9)))
                            .isTrue();
                });
        loop.run();
        assertThat(outcomeOf(loop).tasks()).isZero();
    }

    @Test
    @Clause("S-2")
    void shutdown_pastItsDeadline_becomesCloseAndReportsByKind() {
        loop.after(LONG, timer -> log.add("timer"));
        loop.watch(fakes.get(5), WatchSpec.reading(ready -> log.add("io")));
        loop.submit(
                () -> {
                    loop.shutdown(Duration.ofMillis(10));
                    loop.submitPriority(() -> log.add("abandoned"));
                    loop.submitPriority(() -> log.add("abandoned"));
                    loop.defer(() -> log.add("abandoned"));
                    loop.microtask(() -> backend.advance(Duration.ofMillis(10).toNanos()));
                });
        loop.submit(() -> log.add("abandoned"));
        loop.run();
        assertThat(log).isEmpty();
        assertThat(outcomeOf(loop)).isEqualTo(new ShutdownReport(false, 1, 2, 0, 1, 0, 0, 1, 1, 0));
        assertThat(outcomeOf(loop).abandoned()).isEqualTo(4);
    }

    @Test
    @Clause("S-2")
    void shutdown_ofWorkThatNeverEnds_endsAtTheDeadline() {
        loop.submitPriority(
                new Runnable() {
                    @Override
                    public void run() {
                        backend.advance(1_000_000);
                        loop.submitPriority(this);
                        loop.microtask(() -> {});
                        loop.shutdown(Duration.ofSeconds(1));
                    }
                });
        loop.run();
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
        assertThat(outcomeOf(loop).priorityTasks()).isEqualTo(1);
        assertThat(outcomeOf(loop).graceful()).isFalse();
    }

    @Test
    @Clause({"S-1", "Q-4"})
    void shutdown_withPriorityTasksThatSubmitEachOther_stillRunsAcceptedTasks() {
        int[] ran = {0};
        loop.submit(() -> log.add("accepted"));
        loop.submitPriority(
                new Runnable() {
                    @Override
                    public void run() {
                        loop.shutdown(LONG);
                        if (log.isEmpty() && ++ran[0] < 5 * Tick.PRIORITY_FLOOD) {
                            loop.submitPriority(this);
                        }
                    }
                });
        loop.run();
        assertThat(log).containsExactly("accepted");
        assertThat(ran[0]).isEqualTo(Tick.PRIORITY_FLOOD);
        assertThat(outcomeOf(loop).graceful()).isTrue();
    }

    @Test
    @Clause("S-3")
    void close_onTheLoopThread_dropsWhatIsQueuedAndReportsIt() {
        AtomicBoolean observed = new AtomicBoolean();
        Loop observedLoop =
                Loop.open(
                        LoopConfig.DEFAULT.withObserver(
                                new LoopObserver() {
                                    @Override
                                    public void onTerminated(
                                            EventLoop ended, ShutdownReport report) {
                                        observed.set(report.tasks() == 2 && backend.closes() == 1);
                                    }
                                }),
                        backend);
        observedLoop.submit(
                () -> {
                    observedLoop.microtask(() -> log.add("dropped"));
                    observedLoop.close();
                    log.add("the callback itself goes on");
                });
        observedLoop.submit(() -> log.add("dropped"));
        observedLoop.submit(() -> log.add("dropped"));
        observedLoop.run();
        assertThat(log).containsExactly("the callback itself goes on");
        assertThat(outcomeOf(observedLoop))
                .isEqualTo(new ShutdownReport(false, 2, 0, 1, 0, 0, 0, 0, 0, 0));
        assertThat(observed).isTrue();
    }

    @Test
    @Clause("S-3")
    void close_hurriesAShutdownThatHasBegun() {
        loop.submit(
                () -> {
                    loop.shutdown(LONG);
                    loop.submitPriority(loop::close);
                    loop.submitPriority(() -> log.add("dropped"));
                });
        loop.run();
        assertThat(log).isEmpty();
        assertThat(outcomeOf(loop).priorityTasks()).isEqualTo(1);
    }

    @Test
    @Clause("S-4")
    void shutdown_ofALoopNeverRun_returnsAtOnceAndReportsWhatNobodyRan() {
        loop.submit(() -> log.add("never"));
        loop.submitPriority(() -> log.add("never"));
        loop.microtask(() -> log.add("never"));
        ShutdownReport report = loop.shutdown(LONG).toCompletableFuture().join();
        assertThat(report).isEqualTo(new ShutdownReport(false, 1, 1, 1, 0, 0, 0, 0, 0, 0));
        assertThat(log).isEmpty();
        assertThat(backend.closes()).isEqualTo(1);
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
    }

    @Test
    @Clause("Q-2")
    void submit_betweenTheStateAndTheClosedLane_isRefused() {
        LoopComponents components =
                new LoopComponents(LoopConfig.DEFAULT, backend, loop, new TestLoopContext());
        components.state.move(LoopState.AWAKE, LoopState.TERMINATING);
        assertThat(components.ingress.submit(() -> {})).isEqualTo(SubmitResult.TERMINATED);
        assertThat(components.ingress.external.depth()).isZero();
    }

    @Test
    @Clause({"S-1", "Q-2"})
    void carryOut_beforeWhoBeganHasClosedTheLane_letsNoTaskInBehindTheDrain() {
        LoopComponents components =
                new LoopComponents(LoopConfig.DEFAULT, backend, loop, new TestLoopContext());
        Shutdown shutdown = new Shutdown(components, new Tick(components));
        components.state.move(LoopState.AWAKE, LoopState.RUNNING);
        // Another thread began the shutdown, and is held up right here.
        components.state.move(LoopState.RUNNING, LoopState.TERMINATING);
        shutdown.run(true);
        assertThat(components.ingress.external.offer(() -> log.add("lost")))
                .isEqualTo(ExternalLane.Offer.CLOSED);
    }

    @Test
    @Clause("S-4")
    void shutdown_ofAnIdleLoopNeverRun_isGraceful() {
        assertThat(loop.shutdown(LONG).toCompletableFuture().join().graceful()).isTrue();
    }

    @Test
    @Clause({"S-4", "L-5"})
    void shutdown_ofAnIdleLoopWithAnInternalTaskQueued_isGraceful() {
        Loop real = Loop.open(LoopConfig.DEFAULT);
        Buffer buffer = Buffer.acquire(real, 1_000);
        real.runUntilEmpty();
        AnotherThread.runs(buffer::release);
        ShutdownReport report = real.shutdown(LONG).toCompletableFuture().join();
        assertThat(report).isEqualTo(new ShutdownReport(true, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        assertThat(real.metrics().bufferMemory()).isZero();
    }

    @Test
    @Clause({"S-3", "S-4"})
    void close_byTheObserverOfTheEnd_doesNotWaitForItself() {
        Loop[] own = new Loop[1];
        own[0] =
                Loop.open(
                        LoopConfig.DEFAULT.withObserver(
                                new LoopObserver() {
                                    @Override
                                    public void onTerminated(
                                            EventLoop ended, ShutdownReport report) {
                                        own[0].close();
                                        log.add("returned");
                                    }
                                }),
                        backend);
        own[0].close();
        assertThat(log).containsExactly("returned");
    }

    @Test
    @Clause("S-1")
    void shutdown_withOnlyADeferredCallbackLeft_runsIt() {
        loop.submit(
                () -> {
                    loop.shutdown(LONG);
                    loop.defer(() -> log.add("deferred"));
                });
        loop.run();
        assertThat(log).containsExactly("deferred");
    }

    @Test
    @Clause("S-1")
    void outcome_isCompletedAfterTheDescriptorsAreClosed() {
        List<Integer> closed = new ArrayList<>();
        loop.submit(() -> loop.shutdown(LONG).thenAccept(report -> closed.add(backend.closes())));
        loop.run();
        assertThat(closed).containsExactly(1);
    }

    @Test
    @Clause("S-1")
    void shutdown_forEver_isNoMistake() {
        loop.submit(() -> loop.shutdown(ChronoUnit.FOREVER.getDuration()));
        loop.submit(() -> log.add("task"));
        loop.run();
        assertThat(log).containsExactly("task");
        assertThat(outcomeOf(loop).graceful()).isTrue();
    }

    @Test
    @Clause("S-4")
    void close_ofALoopNeverRun_isIdempotent() {
        loop.close();
        loop.close();
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
        assertThat(backend.closes()).isEqualTo(1);
    }

    @Test
    @Clause("S-4")
    void openAndClose_tenThousandTimes_leavesNoDescriptorBehind() {
        Loop.open(LoopConfig.DEFAULT).close(); // Links what is linked once.
        long before = OpenDescriptors.count();
        for (int i = 0; i < 10_000; i++) {
            Loop.open(LoopConfig.DEFAULT.withEventsPerWait(8)).close();
        }
        assertThat(OpenDescriptors.count()).isLessThanOrEqualTo(before);
    }

    @Test
    @Clause({"S-1", "S-4"})
    void release_closesThePollerFirstAndThenTheWakeDescriptor() {
        FaultyKernel.Plan plan = new FaultyKernel.Plan();
        Loop real =
                Loop.open(LoopConfig.DEFAULT, EpollBackend.open(() -> new FaultyKernel(plan), 8));
        List<Integer> open = plan.open().stream().sorted().toList();
        real.close();
        assertThat(plan.open()).isEmpty();
        // The lower number was opened first: the epoll descriptor.
        assertThat(plan.calls())
                .filteredOn(call -> call.startsWith("close"))
                .containsExactly("close " + open.get(0), "close " + open.get(1));
    }

    @Test
    @Clause({"S-3", "L-9"})
    void close_fromAnotherThread_waitsForTheCallbackInProgress() throws InterruptedException {
        Loop real = Loop.open(LoopConfig.DEFAULT);
        CountDownLatch inCallback = new CountDownLatch(1);
        CountDownLatch mayReturn = new CountDownLatch(1);
        AtomicBoolean returned = new AtomicBoolean();
        real.submit(
                () -> {
                    inCallback.countDown();
                    try {
                        mayReturn.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    returned.set(true);
                });
        Thread runner = Thread.ofPlatform().start(real::run);
        inCallback.await();
        Thread closer =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    real.close();
                                    assertThat(returned).isTrue();
                                    assertThat(real.state()).isEqualTo(LoopState.TERMINATED);
                                    log.add("closed");
                                });
        while (real.state() != LoopState.TERMINATING) {
            Thread.onSpinWait();
        }
        mayReturn.countDown();
        closer.join();
        runner.join();
        assertThat(log).containsExactly("closed");
    }

    @Test
    @Clause({"S-1", "Q-5"})
    void shutdown_fromAnotherThread_wakesASleepingLoop() throws Exception {
        Loop real = Loop.open(LoopConfig.DEFAULT);
        Thread runner = Thread.ofPlatform().start(real::run);
        while (real.state() != LoopState.SLEEPING) {
            Thread.onSpinWait();
        }
        ShutdownReport report = real.shutdown(LONG).toCompletableFuture().get();
        runner.join();
        assertThat(report.graceful()).isTrue();
    }

    @Test
    @Clause({"S-1", "L-2"})
    void shutdown_againstABoundedRunThatReturns_alwaysEnds() throws InterruptedException {
        for (int i = 0; i < 500; i++) {
            Loop racing = Loop.open(LoopConfig.DEFAULT, new ScriptedBackend());
            Thread runner =
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        try {
                                            while (racing.state() != LoopState.TERMINATED) {
                                                racing.runFor(Duration.ZERO);
                                            }
                                        } catch (LoopTerminatedException expected) {
                                            // The other way to learn of the end.
                                        }
                                    });
            assertThat(racing.shutdown(LONG).toCompletableFuture().join()).isNotNull();
            runner.join();
            assertThat(racing.state()).isEqualTo(LoopState.TERMINATED);
        }
    }

    @Test
    @Clause({"S-3", "L-7"})
    void close_beforeTheStateIsTerminating_doesNotEndABoundedRun() {
        LoopComponents components =
                new LoopComponents(LoopConfig.DEFAULT, backend, loop, new TestLoopContext());
        Tick tick = new Tick(components);
        RunControl runs = new RunControl(components, tick, new Shutdown(components, tick));
        // Another thread closes the loop. It is preempted before it moves the state, for a tick.
        components.limits.expire();
        components.ingress.submit(
                () ->
                        components.deferred.add(
                                () ->
                                        components.deferred.add(
                                                () ->
                                                        components.state.move(
                                                                LoopState.RUNNING,
                                                                LoopState.TERMINATING))));
        runs.runUntil(backend.nanoTime() + LONG.toNanos());
        assertThat(components.state.get()).isEqualTo(LoopState.TERMINATED);
    }

    // ------------------------------------------------------------------ what the loop owns

    @Test
    @Clause("S-1")
    void ownedResources_areClosedLastFirst_afterWorkAndBeforeTheDescriptors() {
        loop.own(() -> log.add("first, " + backend.closes()));
        AutoCloseable disowned = () -> log.add("never");
        loop.own(disowned);
        loop.own(() -> log.add("last, " + backend.closes()));
        loop.disown(disowned);
        loop.disown(disowned);
        loop.submit(
                () -> {
                    loop.shutdown(LONG);
                    loop.submitPriority(() -> log.add("work"));
                });
        loop.run();
        assertThat(log).containsExactly("work", "last, 0", "first, 0");
        assertThat(backend.closes()).isEqualTo(1);
        assertThatThrownBy(() -> loop.own(disowned)).isInstanceOf(LoopTerminatedException.class);
    }

    @Test
    @Clause({"S-3", "L-10"})
    void ownedResource_thatCannotBeClosed_isReportedAndTheRestClosed() {
        List<Throwable> uncaught = new ArrayList<>();
        Loop loop =
                Loop.open(
                        LoopConfig.DEFAULT.withUncaughtHandler((thread, e) -> uncaught.add(e)),
                        backend);
        loop.own(() -> log.add("closed"));
        loop.own(
                () -> {
                    throw new IOException("no");
                });
        loop.close();
        assertThat(log).containsExactly("closed");
        assertThat(uncaught).singleElement().isInstanceOf(IOException.class);
        assertThat(backend.closes()).isEqualTo(1);
    }

    @Test
    @Clause({"L-5", "S-1", "S-3"})
    void ownedResource_whoseWorkerReleasesABufferWhenClosed_leavesNoMemoryInUse() {
        for (boolean running : new boolean[] {false, true}) {
            Loop real = Loop.open(LoopConfig.DEFAULT);
            Buffer buffer = Buffer.acquire(real, 1_000);
            real.own(() -> AnotherThread.runs(buffer::release));
            if (running) {
                real.submit(() -> real.shutdown(LONG));
                real.run();
            } else {
                real.close();
            }
            assertThat(real.metrics().bufferMemory()).as("running: %s", running).isZero();
        }
    }

    @Test
    @Clause({"L-5", "L-10"})
    void internalTask_afterTheLaneIsClosed_thatFails_isReportedAndTheRestReleased() {
        List<Throwable> uncaught = new ArrayList<>();
        Loop loop =
                Loop.open(
                        LoopConfig.DEFAULT.withUncaughtHandler((thread, e) -> uncaught.add(e)),
                        backend);
        loop.own(
                () ->
                        AnotherThread.runs(
                                () -> {
                                    loop.operations()
                                            .onLoop(
                                                    () -> {
                                                        throw new IllegalStateException("no");
                                                    });
                                    loop.operations().onLoop(() -> log.add("ran"));
                                }));
        loop.close();
        AnotherThread.runs(() -> loop.operations().onLoop(() -> log.add("too late")));
        assertThat(log).containsExactly("ran");
        assertThat(uncaught).singleElement().isInstanceOf(IllegalStateException.class);
        assertThat(backend.closes()).isEqualTo(1);
    }

    @Test
    @Clause("S-3")
    void ownedResource_thatDisownsItselfWhenClosed_isClosedOnce() {
        AutoCloseable[] resource = new AutoCloseable[1];
        resource[0] =
                () -> {
                    log.add("closed");
                    loop.disown(resource[0]);
                };
        loop.own(resource[0]);
        loop.close();
        assertThat(log).containsExactly("closed");
    }
}
