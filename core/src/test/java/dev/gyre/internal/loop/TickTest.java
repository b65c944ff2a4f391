package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.RunMode;
import dev.gyre.Timer;
import dev.gyre.WatchSpec;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.backend.ScriptedBackend.Poll;
import dev.gyre.internal.base.InternalTask;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.base.TestLoopContext;
import dev.gyre.internal.io.FakeDescriptors;
import dev.gyre.metrics.LoopObserver;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/// The turn and its order, with a kernel whose clock stands still.
class TickTest {
    private final ScriptedBackend backend = new ScriptedBackend();
    private final FakeDescriptors fakes = new FakeDescriptors();
    private final List<String> log = new ArrayList<>();
    private Loop loop = Loop.open(LoopConfig.DEFAULT, backend);

    private void configure(LoopConfig config) {
        loop = Loop.open(config, backend);
    }

    private Runnable says(String word) {
        return () -> log.add(word);
    }

    private Runnable saysAndLeaves(String word) {
        return () -> {
            log.add(word);
            loop.microtask(says(word + "'"));
        };
    }

    // ------------------------------------------------------------------ order

    @Test
    @Clause("L-5")
    void turn_withWorkOfEveryKind_runsItInTheContractsOrder() {
        loop.watch(fakes.get(7), WatchSpec.reading(ready -> saysAndLeaves("io").run()));
        backend.makeReady(7, Readiness.READ);
        loop.submit(saysAndLeaves("external"));
        loop.submitPriority(saysAndLeaves("priority"));
        loop.after(Duration.ZERO, timer -> saysAndLeaves("timer").run());
        loop.defer(saysAndLeaves("deferred"));
        loop.defer(() -> loop.submit(loop::stop));
        loop.run();
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

    @Test
    @Clause("L-5")
    void turn_seenAsACircle_runsIoThenTimersThenDeferred() {
        loop.watch(
                fakes.get(7),
                WatchSpec.reading(
                        ready -> {
                            log.add("io");
                            loop.defer(says("deferred"));
                            loop.after(Duration.ZERO, timer -> log.add("timer"));
                            loop.unwatch(fakes.get(7));
                        }));
        backend.makeReady(7, Readiness.READ);
        loop.runUntilEmpty();
        assertThat(log).containsExactly("io", "timer", "deferred");
    }

    @Property(tries = 200)
    @Clause({"L-5", "L-7"})
    void runOne_repeated_runsTheSameCallbacksInTheSameOrderAsRunUntilEmpty(@ForAll long seed) {
        List<String> whole = runProgram(seed, false);
        List<String> pieces = runProgram(seed, true);
        assertThat(pieces).isEqualTo(whole);
    }

    /// A program of callbacks that add callbacks, drawn from a seed.
    private static List<String> runProgram(long seed, boolean onePerRun) {
        ScriptedBackend backend = new ScriptedBackend();
        FakeDescriptors fakes = new FakeDescriptors();
        Loop loop =
                Loop.open(LoopConfig.DEFAULT.withTaskBudget(3).withStrictMicrotasks(true), backend);
        List<String> log = new ArrayList<>();
        Random random = new Random(seed);
        for (int fd = 0; fd < 4; fd++) {
            String name = "io" + fd;
            loop.watch(fakes.get(fd), WatchSpec.reading(ready -> log.add(name)));
        }
        for (int i = 0; i < 10; i++) {
            addRandomly(loop, backend, log, random, 3);
        }
        loop.after(
                Duration.ofSeconds(1),
                timer -> {
                    for (int fd = 0; fd < 4; fd++) {
                        loop.unwatch(fakes.get(fd));
                    }
                });
        if (onePerRun) {
            while (loop.runOne() != 0) {
                assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
            }
        } else {
            loop.runUntilEmpty();
        }
        loop.close();
        return log;
    }

    private static void addRandomly(
            Loop loop, ScriptedBackend backend, List<String> log, Random random, int depth) {
        int id = random.nextInt(1_000_000);
        Runnable action =
                () -> {
                    log.add("c" + id);
                    for (int i = random.nextInt(3); depth > 0 && i > 0; i--) {
                        addRandomly(loop, backend, log, random, depth - 1);
                    }
                };
        switch (random.nextInt(7)) {
            case 0 -> loop.submit(action);
            case 1 -> loop.submitPriority(action);
            case 2 -> loop.defer(action);
            case 3 -> loop.microtask(action);
            case 4 -> loop.after(Duration.ofNanos(random.nextInt(50)), timer -> action.run());
            case 5 -> backend.makeReady(random.nextInt(4), Readiness.READ);
            default -> loop.after(Duration.ZERO, timer -> action.run());
        }
    }

    // ------------------------------------------------------------------ time

    @Test
    @Clause("L-6")
    void nowNanos_withinATick_standsStillWhileTheClockMoves() {
        List<Long> seen = new ArrayList<>();
        loop.submit(
                () -> {
                    seen.add(loop.nowNanos());
                    backend.advance(500);
                    seen.add(loop.nowNanos());
                });
        loop.submit(() -> seen.add(loop.nowNanos()));
        loop.runUntilEmpty();
        loop.submit(() -> seen.add(loop.nowNanos()));
        loop.runUntilEmpty();
        assertThat(seen).containsExactly(1_000L, 1_000L, 1_000L, 1_500L);
    }

    @Test
    @Clause("L-6")
    void nowNanos_inATurnTakenUpAgain_isNotThatOfTheEarlierRun() {
        List<Long> seen = new ArrayList<>();
        loop.submit(() -> seen.add(loop.nowNanos()));
        loop.submit(() -> seen.add(loop.nowNanos()));
        loop.runOne();
        backend.advance(700);
        loop.runOne();
        assertThat(seen).containsExactly(1_000L, 1_700L);
    }

    @Test
    @Clause("L-6")
    void nowNanos_whenNotRunning_isFresh() {
        backend.advance(42);
        assertThat(loop.nowNanos()).isEqualTo(1_042);
    }

    // ------------------------------------------------------------------ run modes

    @Test
    @Clause({"T-2", "T-4"})
    void at_andReschedule_fireWhenTheyShould() {
        var moved = loop.after(Duration.ofSeconds(1), timer -> log.add("moved " + at(timer)));
        loop.at(1_000 + 500, timer -> log.add("at " + at(timer)));
        loop.at(-7, timer -> log.add("past"));
        moved.reschedule(Duration.ofSeconds(3));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("past", "at 500", "moved 3000000000");
        moved.reschedule(Duration.ZERO);
        loop.runUntilEmpty();
        assertThat(log).last().isEqualTo("moved 3000000000");
        assertThat(log).hasSize(4);
    }

    private long at(Timer timer) {
        assertThat(backend.nanoTime()).isGreaterThanOrEqualTo(timer.firedDeadlineNanos());
        return timer.firedDeadlineNanos() - 1_000;
    }

    @Test
    @Clause("L-7")
    void run_afterStop_returnsAtTheEndOfTheTickAndCanRunAgain() {
        loop.submit(loop::stop);
        loop.submit(says("same tick"));
        loop.defer(() -> loop.defer(says("later tick")));
        loop.run();
        assertThat(log).containsExactly("same tick");
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
        loop.stop();
        loop.submit(says("not now"));
        loop.run();
        assertThat(log).containsExactly("same tick");
        loop.runUntilEmpty();
        assertThat(log).containsExactly("same tick", "not now", "later tick");
    }

    @Test
    @Clause({"L-7", "L-8"})
    void runDrained_afterStop_goesOnUntilNothingIsLeft() {
        loop.stop();
        loop.submit(() -> loop.submit(says("task of a task")));
        loop.after(Duration.ofHours(1), timer -> log.add("timer"));
        loop.run(RunMode.DRAINED);
        assertThat(log).containsExactly("task of a task", "timer");
    }

    @Test
    @Clause("L-7")
    void runDrained_withoutStop_waitsForIt() {
        backend.duringWait(() -> loop.submit(says("came while waiting")));
        backend.duringWait(loop::stop);
        loop.run(RunMode.DRAINED);
        assertThat(log).containsExactly("came while waiting");
    }

    @Test
    @Clause("L-7")
    void runOne_runsOneCallbackWithItsMicrotasks() {
        loop.submit(saysAndLeaves("a"));
        loop.submit(saysAndLeaves("b"));
        assertThat(loop.runOne()).isEqualTo(1);
        assertThat(log).containsExactly("a", "a'");
        assertThat(loop.runOne()).isEqualTo(1);
        assertThat(log).containsExactly("a", "a'", "b", "b'");
        assertThat(loop.runOne()).isZero();
    }

    @Test
    @Clause("L-7")
    void runOne_waitsForATimer() {
        loop.after(Duration.ofMinutes(7), timer -> log.add("timer"));
        assertThat(loop.runOne()).isEqualTo(1);
        assertThat(log).containsExactly("timer");
        assertThat(backend.nanoTime()).isEqualTo(1_000 + Duration.ofMinutes(7).toNanos());
    }

    @Test
    @Clause("L-7")
    void runOne_withSeveralReadyDescriptors_runsOneAndKeepsTheRest() {
        for (int fd = 0; fd < 3; fd++) {
            String name = "io" + fd;
            loop.watch(fakes.get(fd), WatchSpec.reading(ready -> saysAndLeaves(name).run()));
            backend.makeReady(fd, Readiness.READ);
        }
        assertThat(loop.runOne()).isEqualTo(1);
        assertThat(log).containsExactly("io0", "io0'");
        assertThat(loop.runOne()).isEqualTo(1);
        assertThat(loop.runOne()).isEqualTo(1);
        assertThat(log).containsExactly("io0", "io0'", "io1", "io1'", "io2", "io2'");
    }

    @Test
    @Clause("L-7")
    void runSome_withSomethingReady_doesNotWait() {
        loop.after(Duration.ofMinutes(1), timer -> log.add("timer"));
        loop.submit(says("a"));
        loop.submit(says("b"));
        assertThat(loop.runSome()).isEqualTo(2);
        assertThat(backend.polls()).noneMatch(Poll::blocking);
    }

    @Test
    @Clause("L-7")
    void runSome_withNothingReady_waitsOnceAndRunsWhatCame() {
        loop.after(Duration.ofMinutes(1), timer -> log.add("timer"));
        backend.duringWait(() -> loop.submit(says("task")));
        assertThat(loop.runSome()).isEqualTo(1);
        assertThat(log).containsExactly("task");
        assertThat(backend.polls()).filteredOn(Poll::blocking).hasSize(1);
        assertThat(loop.runSome()).isEqualTo(1);
        assertThat(log).containsExactly("task", "timer");
        assertThat(backend.polls()).filteredOn(Poll::blocking).hasSize(2);
    }

    @Test
    @Clause("L-7")
    void stop_endsEveryKindOfRun() {
        loop.every(Duration.ofSeconds(1), timer -> loop.stop());
        loop.runUntilEmpty();
        loop.runFor(Duration.ofHours(1));
        assertThat(backend.nanoTime()).isEqualTo(1_000 + Duration.ofSeconds(2).toNanos());
        loop.submit(() -> log.add("task"));
        loop.stop();
        assertThat(loop.runOne()).isZero();
        loop.stop();
        assertThat(loop.runSome()).isZero();
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("L-7")
    void runSome_andRunOne_withAMicrotaskThatNeverEnds_return() {
        configure(LoopConfig.DEFAULT.withObserver(new LoopObserver() {}));
        loop.after(Duration.ofHours(1), timer -> log.add("timer"));
        loop.microtask(
                new Runnable() {
                    @Override
                    public void run() {
                        loop.microtask(this);
                    }
                });
        assertThat(loop.runSome()).isZero();
        assertThat(loop.runOne()).isZero();
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("L-7")
    void runSome_thatRanAMicrotask_doesNotWait() {
        loop.after(Duration.ofHours(1), timer -> log.add("timer"));
        loop.microtask(says("microtask"));
        assertThat(loop.runSome()).isZero();
        assertThat(log).containsExactly("microtask");
        assertThat(backend.polls()).noneMatch(Poll::blocking);
    }

    @Test
    @Clause("L-7")
    void runSome_wokenForNothing_waitsOnlyOnce() {
        loop.after(Duration.ofHours(1), timer -> log.add("timer"));
        backend.duringWait(() -> {});
        assertThat(loop.runSome()).isZero();
        assertThat(backend.polls()).filteredOn(Poll::blocking).hasSize(1);
    }

    @Test
    @Clause("L-7")
    void runFor_noTime_runsWhatIsReady() {
        loop.submit(says("task"));
        assertThat(loop.runFor(Duration.ZERO)).isEqualTo(1);
    }

    @Test
    @Clause("L-8")
    void runUntilEmpty_withOnlyAMicrotask_runsIt() {
        loop.microtask(says("microtask"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("microtask");
    }

    @Test
    @Clause("L-7")
    void runFor_returnsWhenTheTimeIsOver() {
        loop.every(Duration.ofSeconds(1), timer -> log.add("tick"));
        assertThat(loop.runFor(Duration.ofMillis(3_500))).isEqualTo(3);
        assertThat(backend.nanoTime()).isEqualTo(1_000 + Duration.ofMillis(3_500).toNanos());
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
        assertThat(loop.runFor(Duration.ZERO)).isZero();
    }

    // ------------------------------------------------------------------ alive

    @Test
    @Clause("L-8")
    void runUntilEmpty_withOnlyUnreferencedTimers_returns() {
        loop.after(Duration.ofSeconds(5), timer -> log.add("unreferenced")).unreference();
        loop.after(Duration.ofSeconds(1), timer -> log.add("referenced"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("referenced");
        assertThat(loop.runUntilEmpty()).isZero();
    }

    @Test
    @Clause("L-8")
    void runUntilEmpty_withATimerReferencedAgain_waitsForIt() {
        loop.after(Duration.ofSeconds(5), timer -> log.add("timer")).unreference().reference();
        loop.runUntilEmpty();
        assertThat(log).containsExactly("timer");
    }

    @Test
    @Clause("L-8")
    void runUntilEmpty_withARegisteredDescriptor_waitsForIt() {
        loop.watch(
                fakes.get(3),
                WatchSpec.reading(
                        ready -> {
                            log.add("io");
                            loop.unwatch(fakes.get(3));
                        }));
        backend.duringWait(() -> backend.makeReady(3, Readiness.READ));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("io");
    }

    @Test
    @Clause("L-8")
    void runUntilEmpty_whoseLastTimerIsCancelledByAMicrotask_doesNotWait() {
        var timer = loop.after(Duration.ofHours(1), t -> log.add("timer"));
        loop.microtask(timer::cancel);
        loop.runUntilEmpty();
        assertThat(log).isEmpty();
        assertThat(backend.polls()).noneMatch(Poll::blocking);
    }

    // ------------------------------------------------------------------ ingress

    @Test
    @Clause("Q-3")
    void externalLane_beyondItsBudget_tellsTheObserverAndDoesNotBlock() {
        List<Integer> overloads = new ArrayList<>();
        configure(
                LoopConfig.DEFAULT
                        .withTaskBudget(4)
                        .withObserver(
                                new LoopObserver() {
                                    @Override
                                    public void onTaskBudgetExceeded(
                                            EventLoop told, int remaining) {
                                        overloads.add(remaining);
                                    }
                                }));
        for (int i = 0; i < 10; i++) {
            loop.submit(says("t" + i));
        }
        assertThat(loop.runSome()).isEqualTo(4);
        assertThat(overloads).containsExactly(6);
        loop.runUntilEmpty();
        assertThat(overloads).containsExactly(6, 2);
        assertThat(log).hasSize(10).isSorted();
        assertThat(backend.polls()).noneMatch(Poll::blocking);
    }

    @Test
    @Clause({"Q-3", "Q-4", "S-1"})
    void observer_ofOverload_isNotNotifiedByADrain() {
        configure(
                LoopConfig.DEFAULT
                        .withTaskBudget(4)
                        .withObserver(
                                new LoopObserver() {
                                    @Override
                                    public void onTaskBudgetExceeded(
                                            EventLoop told, int remaining) {
                                        log.add("overload");
                                    }

                                    @Override
                                    public void onPriorityFlood(EventLoop told, int ran) {
                                        log.add("flood");
                                    }
                                }));
        int[] ran = {0};
        loop.submit(() -> loop.shutdown(Duration.ofMinutes(1)));
        for (int i = 0; i < 9; i++) {
            loop.submit(() -> ran[0]++);
        }
        loop.submit(
                () -> {
                    for (int i = 0; i <= Tick.PRIORITY_FLOOD; i++) {
                        loop.submitPriority(() -> ran[0]++);
                    }
                });
        loop.run();
        assertThat(ran[0]).isEqualTo(9 + Tick.PRIORITY_FLOOD + 1);
        assertThat(log).isEmpty();
    }

    @Test
    @Clause("Q-3")
    void externalLane_runsWhatIsThere_andWhatThatSubmitsInALaterTick() {
        loop.watch(fakes.get(1), WatchSpec.reading(ready -> log.add("io")));
        backend.makeReady(1, Readiness.READ);
        loop.submit(
                () -> {
                    log.add("first");
                    loop.submit(says("submitted by the first"));
                });
        loop.submit(says("second"));
        loop.runSome();
        assertThat(log).containsExactly("first", "second", "io");
        loop.runSome();
        assertThat(log).containsExactly("first", "second", "io", "submitted by the first");
    }

    @Test
    @Clause("Q-3")
    void externalLane_byDefault_runs1024TasksATick() {
        configure(LoopConfig.DEFAULT.withObserver(new LoopObserver() {}));
        for (int i = 0; i < 1_500; i++) {
            loop.submit(() -> {});
        }
        assertThat(loop.runSome()).isEqualTo(1_024);
        assertThat(loop.runSome()).isEqualTo(476);
    }

    @Test
    @Clause("Q-4")
    void priorityLane_isRunWholeBeforeTheExternalOne() {
        loop.submit(says("external"));
        for (int i = 0; i < 3; i++) {
            loop.submitPriority(() -> loop.submitPriority(says("priority")));
        }
        loop.runUntilEmpty();
        assertThat(log).containsExactly("priority", "priority", "priority", "external");
    }

    @Test
    @Clause("Q-4")
    void priorityLane_pastAHundredThousandInATick_tellsTheObserverAndLetsTimersRun() {
        List<Integer> floods = new ArrayList<>();
        configure(
                LoopConfig.DEFAULT.withObserver(
                        new LoopObserver() {
                            @Override
                            public void onPriorityFlood(EventLoop told, int ran) {
                                floods.add(ran);
                                loop.after(Duration.ZERO, timer -> loop.stop());
                            }
                        }));
        loop.submit(says("external"));
        loop.submitPriority(
                new Runnable() {
                    @Override
                    public void run() {
                        loop.submitPriority(this);
                    }
                });
        loop.run();
        assertThat(floods).hasSizeGreaterThanOrEqualTo(1).containsOnly(100_000);
        assertThat(log).as("an external task overtook the priority lane").isEmpty();
    }

    @Test
    @Clause({"T-7", "T-2"})
    void callback_thatTakesLong_delaysTheNextOneButNotItsDeadline() {
        long begin = loop.nowNanos();
        loop.after(Duration.ofMillis(1), timer -> backend.advance(10_000_000));
        for (int millis = 2; millis <= 4; millis++) {
            String name = millis + " ms";
            loop.after(
                    Duration.ofMillis(millis),
                    timer ->
                            log.add(
                                    name
                                            + " for "
                                            + (timer.firedDeadlineNanos() - begin) / 1_000_000
                                            + " at "
                                            + (loop.nowNanos() - begin) / 1_000_000));
        }
        loop.runUntilEmpty();
        assertThat(log).containsExactly("2 ms for 2 at 11", "3 ms for 3 at 11", "4 ms for 4 at 11");
    }

    @Test
    @Clause("Q-7")
    void defer_fromIoAndTimers_runsInOrderBeforeTheNextWait() {
        loop.watch(
                fakes.get(1),
                WatchSpec.reading(
                        ready -> {
                            log.add("io");
                            loop.defer(says("from io"));
                            loop.unwatch(fakes.get(1));
                        }));
        backend.makeReady(1, Readiness.READ);
        loop.after(
                Duration.ZERO,
                timer -> {
                    log.add("timer");
                    loop.defer(says("from timer"));
                    loop.defer(says("and again"));
                });
        loop.runUntilEmpty();
        assertThat(log).containsExactly("timer", "from timer", "and again", "io", "from io");
        assertThat(backend.polls()).noneMatch(Poll::blocking);
    }

    @Test
    @Clause("Q-7")
    void defer_fromADeferredCallback_runsInTheNextTurnAndKeepsThePollFromBlocking() {
        loop.watch(fakes.get(1), WatchSpec.reading(ready -> log.add("io")));
        backend.makeReady(1, Readiness.READ);
        loop.defer(
                () -> {
                    log.add("first");
                    loop.defer(says("second"));
                    loop.defer(loop::stop);
                });
        loop.run();
        assertThat(log).containsExactly("first", "io", "second");
        assertThat(backend.polls()).noneMatch(Poll::blocking);
    }

    // ------------------------------------------------------------------ microtasks

    @Test
    @Clause("M-1")
    void microtasks_areDrainedAfterEveryTimerAndTask_withThoseAddedMeanwhile() {
        loop.after(Duration.ZERO, timer -> saysAndLeaves("timer1").run());
        loop.after(Duration.ZERO, timer -> log.add("timer2"));
        loop.submit(
                () -> {
                    log.add("task1");
                    loop.microtask(
                            () -> {
                                log.add("micro");
                                loop.microtask(says("micro of micro"));
                            });
                });
        loop.submit(says("task2"));
        loop.runUntilEmpty();
        assertThat(log)
                .containsExactly(
                        "timer1", "timer1'", "timer2", "task1", "micro", "micro of micro", "task2");
    }

    @Test
    @Clause("M-1")
    void microtasks_ofIoCallbacks_areDrainedOnceABatchOf64() {
        readyAll(100);
        loop.runSome();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            expected.add("io" + i);
        }
        for (int i = 0; i < 64; i++) {
            expected.add("io" + i + "'");
        }
        for (int i = 64; i < 100; i++) {
            expected.add("io" + i);
        }
        for (int i = 64; i < 100; i++) {
            expected.add("io" + i + "'");
        }
        assertThat(log).isEqualTo(expected);
    }

    @Test
    @Clause("M-1")
    void microtasks_inStrictMode_areDrainedAfterEveryIoCallback() {
        configure(LoopConfig.DEFAULT.withStrictMicrotasks(true));
        readyAll(3);
        loop.runSome();
        assertThat(log).containsExactly("io0", "io0'", "io1", "io1'", "io2", "io2'");
    }

    private void readyAll(int count) {
        for (int fd = 0; fd < count; fd++) {
            String name = "io" + fd;
            loop.watch(fakes.get(fd), WatchSpec.reading(ready -> saysAndLeaves(name).run()));
            backend.makeReady(fd, Readiness.READ);
        }
    }

    @Test
    @Clause("M-1")
    void microtasks_areEmptyBeforeThePollBlocks() {
        loop.after(Duration.ofSeconds(1), timer -> loop.stop());
        loop.microtask(saysAndLeaves("a"));
        backend.duringWait(() -> log.add("wait"));
        loop.run();
        assertThat(log).containsExactly("a", "a'", "wait");
    }

    @Test
    @Clause("M-2")
    void microtasks_beyondTheBudget_stayQueuedAndTheNextPollOnlyDoesNotBlock() {
        List<Integer> breaches = new ArrayList<>();
        configure(
                LoopConfig.DEFAULT
                        .withMicrotaskBudget(10)
                        .withObserver(
                                new LoopObserver() {
                                    @Override
                                    public void onMicrotaskBudgetExceeded(
                                            EventLoop told, int remaining) {
                                        breaches.add(remaining);
                                    }
                                }));
        loop.after(Duration.ofSeconds(1), timer -> loop.stop());
        for (int i = 0; i < 15; i++) {
            loop.microtask(says("m" + i));
        }
        loop.run();
        assertThat(log).hasSize(15);
        assertThat(breaches).containsExactly(5);
        assertThat(backend.polls())
                .extracting(Poll::blocking)
                .as("one kept from blocking by the rest, one look after that ran, then the wait")
                .startsWith(false, false, true);
    }

    @Test
    @Clause("M-2")
    void microtasks_thatNeverEnd_letIoAndTimersGoOn() {
        configure(LoopConfig.DEFAULT.withObserver(new LoopObserver() {}));
        loop.microtask(
                new Runnable() {
                    @Override
                    public void run() {
                        loop.microtask(this);
                        backend.advance(1_000);
                    }
                });
        loop.watch(fakes.get(1), WatchSpec.reading(ready -> log.add("io")));
        backend.makeReady(1, Readiness.READ);
        loop.after(
                Duration.ofMillis(2),
                timer -> {
                    log.add("timer");
                    loop.stop();
                });
        loop.run();
        assertThat(log).containsExactly("io", "timer");
        assertThat(backend.polls()).noneMatch(Poll::blocking);
    }

    @Test
    @Clause("M-3")
    void queues_afterABurst_shrinkAsTheLoopTurns() {
        LoopComponents components =
                new LoopComponents(
                        LoopConfig.DEFAULT.withMicrotaskBudget(100_000),
                        backend,
                        loop,
                        new TestLoopContext());
        Tick tick = new Tick(components);
        components.state.move(LoopState.AWAKE, LoopState.RUNNING);
        components.limits.none();
        components.limits.limitWaits(0);
        for (int i = 0; i < 10_000; i++) {
            components.microtasks.add(() -> {});
            components.deferred.add(() -> {});
        }
        for (int turn = 0; turn < 20; turn++) {
            tick.run();
        }
        assertThat(components.microtasks.capacity()).isEqualTo(TaskRing.MIN_CAPACITY);
        assertThat(components.deferred.capacity()).isEqualTo(TaskRing.MIN_CAPACITY);
    }

    // ------------------------------------------------------------------ internal tasks

    @Test
    @Clause({"L-5", "L-7"})
    void internalTask_inTheLane_runsInOrderAndCountsAsNoCallback() {
        loop.trySubmitPriority(
                new InternalTask(
                        () -> {
                            log.add("internal");
                            loop.microtask(() -> log.add("its microtask"));
                        }));
        loop.submitPriority(() -> log.add("task"));
        assertThat(loop.runOne()).isEqualTo(1);
        assertThat(log).containsExactly("internal", "its microtask", "task");
        assertThat(loop.metrics().priorityTasks()).isEqualTo(1);
        assertThat(loop.metrics().callbacks()).isEqualTo(1);
    }

    @Test
    @Clause({"S-3", "L-5"})
    void internalTask_whenTheLoopIsClosed_runsAndIsNotReported() {
        loop.trySubmitPriority(new InternalTask(() -> log.add("internal")));
        loop.close();
        assertThat(log).containsExactly("internal");
        assertThat(loop.shutdown(Duration.ZERO).toCompletableFuture().join().priorityTasks())
                .isZero();
    }

    @Test
    @Clause({"L-5", "Q-4"})
    void internalTasks_thatSubmitEachOther_areNoFloodAndLetTheTickContinue() {
        configure(
                LoopConfig.DEFAULT.withObserver(
                        new LoopObserver() {
                            @Override
                            public void onPriorityFlood(EventLoop told, int ran) {
                                log.add("flood");
                            }
                        }));
        int[] ran = {0};
        loop.submit(says("external"));
        loop.trySubmitPriority(
                new InternalTask(
                        new Runnable() {
                            @Override
                            public void run() {
                                if (log.isEmpty() && ++ran[0] < 5 * Tick.PRIORITY_FLOOD) {
                                    loop.trySubmitPriority(new InternalTask(this));
                                }
                            }
                        }));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("external");
        assertThat(ran[0]).isEqualTo(Tick.PRIORITY_FLOOD);
    }

    // ------------------------------------------------------------------ sleeping

    @Test
    @Clause("Q-5")
    void poll_announcesSleepOnlyWhenItMayBlock() {
        List<LoopState> states = new ArrayList<>();
        loop.submit(() -> states.add(loop.state()));
        backend.duringWait(
                () -> {
                    states.add(loop.state());
                    loop.stop();
                });
        loop.run();
        assertThat(states).containsExactly(LoopState.RUNNING, LoopState.SLEEPING);
        assertThat(backend.wakeups()).as("stop() woke the sleeper").isEqualTo(1);
    }

    @Test
    @Clause("Q-5")
    void submit_toARunningLoop_sendsNoSignal() {
        loop.submit(() -> loop.submit(() -> loop.submitPriority(loop::stop)));
        loop.run();
        assertThat(backend.wakeups()).isZero();
    }

    @Test
    @Clause("L-3")
    void poll_thatWakesIntoTerminating_leavesItAndEnds() {
        List<LoopState> states = new ArrayList<>();
        backend.duringWait(
                () -> {
                    loop.shutdown(Duration.ofSeconds(1));
                    states.add(loop.state());
                });
        loop.run();
        assertThat(states).containsExactly(LoopState.TERMINATING);
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
    }

    @Test
    @Clause("B-8")
    void poll_withNothingToWaitFor_waitsNoLongerThanConfigured() {
        backend.duringWait(loop::stop);
        loop.run();
        assertThat(backend.polls())
                .filteredOn(Poll::blocking)
                .extracting(Poll::deadlineNanos)
                .containsExactly(1_000 + Duration.ofMinutes(5).toNanos());
    }
}
