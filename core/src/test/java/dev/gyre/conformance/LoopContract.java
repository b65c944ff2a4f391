package dev.gyre.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.AnotherThread;
import dev.gyre.Clause;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopAlreadyRunningException;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.ReentrantRunException;
import dev.gyre.RunMode;
import dev.gyre.WatchSpec;
import dev.gyre.Watcher;
import dev.gyre.io.Descriptor;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Chapter L, as far as a user can see it.
public abstract class LoopContract extends ConformanceFixture {
    private final List<LoopState> states = new ArrayList<>();

    private void noteState() {
        states.add(loop.state());
    }

    // ------------------------------------------------------------------ states

    @SuppressWarnings("EnumOrdinal") // The ordinals are part of the contract.
    @Test
    @Clause({"L-1", "L-2"})
    void states_ofALife_areThoseOfTheContract() {
        noteState();
        loop.submit(this::noteState);
        loop.runUntilEmpty();
        noteState();
        loop.submit(
                () -> {
                    loop.shutdown(Duration.ofSeconds(10));
                    noteState();
                });
        loop.run();
        noteState();
        assertThat(states)
                .containsExactly(
                        LoopState.AWAKE,
                        LoopState.RUNNING,
                        LoopState.AWAKE,
                        LoopState.TERMINATING,
                        LoopState.TERMINATED);
        assertThat(states).extracting(LoopState::ordinal).containsExactly(0, 4, 0, 3, 1);
    }

    @SuppressWarnings("EnumOrdinal") // The ordinals are part of the contract.
    @Test
    @Clause({"L-1", "L-2", "L-3"})
    void shutdown_ofASleepingLoop_endsItsRun() {
        Thread runner = runAndSleep();
        assertThat(loop.state().ordinal()).isEqualTo(2);
        var outcome = loop.shutdown(Duration.ofSeconds(10)).toCompletableFuture();
        join(runner);
        assertThat(outcome).isCompleted();
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
    }

    @Test
    @Clause("L-4")
    void run_whileTheLoopRuns_isRefusedAndChangesNothing() {
        loop.submit(
                () -> {
                    assertThatThrownBy(loop::runOne).isInstanceOf(ReentrantRunException.class);
                    AnotherThread.runs(
                            () -> {
                                try {
                                    loop.run();
                                } catch (LoopAlreadyRunningException e) {
                                    log.add("refused");
                                }
                            });
                    assertThat(loop.state()).isEqualTo(LoopState.RUNNING);
                });
        loop.submit(says("goes on"));
        assertThat(loop.runUntilEmpty()).isEqualTo(2);
        assertThat(log).containsExactly("refused", "goes on");
        assertThat(loop.metrics().failures()).isZero();
        loop.close();
        assertThatThrownBy(loop::run).isInstanceOf(LoopTerminatedException.class);
    }

    // ------------------------------------------------------------------ a tick

    @Test
    @Clause({"L-5", "M-1"})
    void tick_withWorkOfEveryKind_runsItInTheContractsOrder() {
        Descriptor reader = readyPair().get(0);
        loop.watch(
                reader,
                WatchSpec.reading(
                        watcher -> {
                            saysAndLeaves("io");
                            watcher.unwatch();
                        }));
        loop.submit(() -> saysAndLeaves("external"));
        loop.submitPriority(() -> saysAndLeaves("priority"));
        loop.after(Duration.ZERO, timer -> saysAndLeaves("timer"));
        loop.defer(() -> saysAndLeaves("deferred"));
        loop.runUntilEmpty();
        assertThat(log)
                .containsExactly(
                        "timer",
                        "timer'",
                        "priority",
                        "priority'",
                        "external",
                        "external'",
                        "deferred",
                        "deferred'",
                        "io",
                        "io'");
    }

    private void saysAndLeaves(String word) {
        log.add(word);
        loop.microtask(says(word + "'"));
    }

    @Test
    @Clause("L-6")
    void nowNanos_withinATick_standsStillAndThenGoesOn() {
        List<Long> times = new ArrayList<>();
        loop.submit(
                () -> {
                    times.add(loop.nowNanos());
                    world().pass(loop, Duration.ofMillis(1));
                    times.add(loop.nowNanos());
                    assertThat(loop.nanoTime() - loop.nowNanos()).isGreaterThanOrEqualTo(1_000_000);
                    loop.submit(() -> times.add(loop.nowNanos()));
                });
        loop.runUntilEmpty();
        assertThat(times.get(1)).isEqualTo(times.get(0));
        assertThat(times.get(2) - times.get(1)).isGreaterThanOrEqualTo(1_000_000);
    }

    @Test
    @Clause({"M-1", "M-2"})
    void microtasks_runWithTheirDescendants_andBeyondTheirBudgetLetOthersGoOn() {
        configure(config().withMicrotaskBudget(4));
        Runnable[] endless = new Runnable[1];
        endless[0] =
                () -> {
                    log.add("m");
                    if (log.size() < 20) {
                        loop.microtask(endless[0]);
                    }
                };
        loop.submit(() -> loop.microtask(endless[0]));
        loop.submit(says("task"));
        loop.runUntilEmpty();
        assertThat(log).hasSize(20).contains("task");
        assertThat(log.indexOf("task")).isLessThan(19);
    }

    // ------------------------------------------------------------------ runs

    @Test
    @Clause("L-7")
    void runs_ofEachMode_endAsTheContractSays() {
        loop.submit(says("one"));
        loop.submit(says("two"));
        assertThat(loop.runOne()).isEqualTo(1);
        assertThat(log).containsExactly("one");
        assertThat(loop.runSome()).isEqualTo(1);
        loop.after(Duration.ofMillis(1), timer -> log.add("three"));
        assertThat(loop.runOne()).as("waits for it").isEqualTo(1);
        loop.after(Duration.ofMillis(1), timer -> loop.submit(says("four")));
        assertThat(loop.runUntilEmpty()).isEqualTo(2);
        long end = loop.nanoTime() + 2_000_000;
        loop.runFor(Duration.ofMillis(2));
        assertThat(loop.nanoTime() - end).isNotNegative();
        assertThat(log).containsExactly("one", "two", "three", "four");
    }

    @Test
    @Clause("L-7")
    void stop_beforeARun_isKeptForIt_andOneOfDrainedFinishesWhatIsAlive() {
        loop.after(Duration.ofMillis(1), timer -> log.add("timer"));
        loop.stop();
        loop.run();
        assertThat(log).isEmpty();
        loop.stop();
        loop.run(RunMode.DRAINED);
        assertThat(log).containsExactly("timer");
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
    }

    @Test
    @Clause("L-8")
    void runUntilEmpty_waitsForWhatIsReferenced_andForNothingElse() {
        Watcher idle = loop.watch(pair().get(0), WatchSpec.reading(notes("never")));
        idle.unreference();
        loop.after(Duration.ofHours(1), timer -> log.add("never")).unreference();
        assertThat(loop.runUntilEmpty()).isZero();
        List<Descriptor> pair = pair();
        loop.watch(
                pair.get(0),
                WatchSpec.reading(
                        watcher -> {
                            log.add("read");
                            watcher.unwatch();
                        }));
        loop.after(Duration.ofMillis(1), timer -> send(pair.get(1)));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("read");
    }

    // ------------------------------------------------------------------ confinement, failure

    @Test
    @Clause("L-9")
    void confinedMethod_onAnotherThread_namesBothThreads() {
        Thread.currentThread().setName("the-owner");
        loop.submit(
                () -> {
                    assertThat(loop.isLoopThread()).isTrue();
                    AnotherThread.runs(
                            () -> {
                                try {
                                    loop.defer(says("never"));
                                } catch (WrongThreadException e) {
                                    log.add(e.getMessage());
                                }
                                loop.submit(() -> log.add("nested " + loop.isLoopThread()));
                            });
                    log.add("end");
                });
        loop.runUntilEmpty();
        assertThat(log).hasSize(3);
        assertThat(log.get(0)).contains("the-owner", "Thread-");
        assertThat(log.subList(1, 3)).containsExactly("end", "nested true");
    }

    @Test
    @Clause("L-10")
    void isolate_handsAThrowableOverAndGoesOn_alsoFromIo() {
        List<Throwable> uncaught = new ArrayList<>();
        configure(config().withUncaughtHandler((thread, e) -> uncaught.add(e)));
        RuntimeException failure = new IllegalStateException("meant");
        Descriptor reader = readyPair().get(0);
        loop.watch(
                reader,
                WatchSpec.reading(
                        watcher -> {
                            watcher.unwatch();
                            throw failure;
                        }));
        loop.submit(
                () -> {
                    throw failure;
                });
        loop.submit(says("goes on"));
        loop.runUntilEmpty();
        assertThat(uncaught).containsExactly(failure, failure);
        assertThat(log).containsExactly("goes on");
    }

    @Test
    @Clause("L-10")
    void propagate_leavesTheRun_andTheNextGoesOnBehindIt() {
        configure(config().withFailurePolicy(FailurePolicy.PROPAGATE));
        RuntimeException failure = new IllegalStateException("meant");
        loop.submit(
                () -> {
                    throw failure;
                });
        loop.submit(says("goes on"));
        assertThatThrownBy(loop::runUntilEmpty).isSameAs(failure);
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
        loop.runUntilEmpty();
        assertThat(log).containsExactly("goes on");
    }
}
