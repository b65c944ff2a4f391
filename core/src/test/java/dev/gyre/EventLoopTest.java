package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/// The public API on the real kernel and with real threads.
class EventLoopTest {
    private final EventLoop loop = EventLoop.open(LoopConfig.DEFAULT.withName("tested"));

    @AfterEach
    void close() {
        loop.close();
    }

    private Thread runOnThread(String name) {
        Thread thread = Thread.ofPlatform().name(name).start(loop::run);
        while (loop.state() != LoopState.SLEEPING) {
            Thread.onSpinWait();
        }
        return thread;
    }

    @Test
    @Clause("L-4")
    void run_whileAnotherThreadRuns_throwsAndChangesNothing() throws InterruptedException {
        Thread runner = runOnThread("runner");
        assertThatThrownBy(loop::run)
                .isInstanceOf(LoopAlreadyRunningException.class)
                .hasMessageContaining("tested")
                .hasMessageContaining("runner");
        CountDownLatch ran = new CountDownLatch(1);
        loop.submit(ran::countDown);
        ran.await();
        loop.stop();
        runner.join();
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
    }

    @Test
    @Clause("L-4")
    void run_fromACallback_throwsAndTheOuterRunGoesOn() {
        List<Class<?>> thrown = new ArrayList<>();
        for (Runnable nested :
                List.<Runnable>of(
                        loop::run,
                        loop::runOne,
                        loop::runSome,
                        loop::runUntilEmpty,
                        () -> loop.runFor(Duration.ZERO))) {
            loop.submit(
                    () -> {
                        try {
                            nested.run();
                        } catch (ReentrantRunException e) {
                            thrown.add(e.getClass());
                        }
                    });
        }
        assertThat(loop.runUntilEmpty()).isEqualTo(5);
        assertThat(thrown).hasSize(5);
    }

    @Test
    @Clause("L-4")
    void run_afterTheEnd_throws() {
        loop.close();
        assertThatThrownBy(loop::run)
                .isInstanceOf(LoopTerminatedException.class)
                .hasMessageContaining("TERMINATED");
        assertThatThrownBy(loop::runOne).isInstanceOf(LoopTerminatedException.class);
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
    }

    @Test
    @Clause("L-9")
    void run_onAVirtualThread_isRefusedWithTheRemedy() throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread.ofVirtual()
                .start(
                        () -> {
                            try {
                                loop.run();
                            } catch (WrongThreadException e) {
                                thrown.set(e);
                            }
                        })
                .join();
        assertThat(thrown.get()).hasMessageContaining("Thread.ofPlatform()");
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
    }

    @Test
    @Clause("L-9")
    void confinedMethods_fromAnotherThread_throwAndNameBothThreads() throws InterruptedException {
        Timer timer = loop.after(Duration.ofHours(1), t -> {});
        Thread runner = runOnThread("the-owner");
        Thread.currentThread().setName("the-stranger");
        for (Runnable misuse :
                List.<Runnable>of(
                        () -> loop.defer(() -> {}),
                        () -> loop.microtask(() -> {}),
                        () -> loop.after(Duration.ZERO, t -> {}),
                        () -> loop.every(Duration.ofSeconds(1), t -> {}),
                        () -> loop.at(0, t -> {}),
                        () -> timer.reschedule(Duration.ZERO),
                        timer::cancel,
                        timer::isScheduled,
                        timer::unreference,
                        timer::reference)) {
            assertThatThrownBy(misuse::run)
                    .isInstanceOf(WrongThreadException.class)
                    .hasMessageContaining("the-owner")
                    .hasMessageContaining("the-stranger");
        }
        loop.stop();
        runner.join();
        assertThat(timer.isScheduled()).isTrue();
    }

    @Test
    @Clause("L-9")
    void callbacks_runOnTheLoopThreadOneAtATime() {
        List<String> log = new ArrayList<>();
        loop.submit(
                () -> {
                    log.add("begin " + loop.isLoopThread());
                    loop.submit(() -> log.add("nested"));
                    loop.submitPriority(() -> log.add("nested priority"));
                    loop.microtask(() -> log.add("microtask"));
                    log.add("end");
                });
        loop.runUntilEmpty();
        assertThat(log)
                .containsExactly("begin true", "end", "microtask", "nested priority", "nested");
        assertThat(loop.isLoopThread()).isFalse();
    }

    @Test
    @Clause("L-9")
    void thread_isThatOfTheRun_andNoneBetween() {
        List<Thread> seen = new ArrayList<>();
        assertThat(loop.thread()).isNull();
        loop.submit(() -> seen.add(loop.thread()));
        loop.runUntilEmpty();
        assertThat(seen).containsExactly(Thread.currentThread());
        assertThat(loop.thread()).isNull();
    }

    @Test
    @Clause("L-6")
    void nowNanos_readByOtherThreads_neverGoesBack() throws InterruptedException {
        Thread runner = runOnThread("runner");
        loop.submit(
                new Runnable() {
                    @Override
                    public void run() {
                        if (loop.state() == LoopState.RUNNING) {
                            loop.submitPriority(() -> {});
                            loop.trySubmit(this);
                        }
                    }
                });
        long last = loop.nowNanos();
        for (int i = 0; i < 200_000; i++) {
            long now = loop.nowNanos();
            assertThat(now - last).isNotNegative();
            last = now;
        }
        assertThat(System.nanoTime() - last).isNotNegative();
        loop.close();
        runner.join();
    }

    @Test
    @Clause("Q-2")
    void submit_aboveTheHighWaterMark_isRefusedAndNeverRuns() {
        List<Integer> ran = new ArrayList<>();
        try (EventLoop small = EventLoop.open(LoopConfig.DEFAULT.withHighWaterMark(3))) {
            for (int i = 0; i < 3; i++) {
                int number = i;
                small.submit(() -> ran.add(number));
            }
            assertThatThrownBy(() -> small.submit(() -> ran.add(99)))
                    .isInstanceOf(LoopOverloadedException.class)
                    .hasMessageContaining("3 tasks are queued")
                    .hasMessageContaining("highWaterMark");
            assertThat(small.trySubmit(() -> ran.add(99))).isEqualTo(SubmitResult.OVERLOADED);
            assertThat(small.metrics().queuedTasks()).isEqualTo(3);
            small.submitPriority(() -> ran.add(-1));
            small.runUntilEmpty();
            assertThat(ran).containsExactly(-1, 0, 1, 2);
            assertThat(small.trySubmit(() -> {})).isEqualTo(SubmitResult.ACCEPTED);
        }
    }

    @Test
    @Clause("Q-2")
    void submit_byDefault_acceptsAHundredThousand() {
        for (int i = 0; i < 100_000; i++) {
            loop.submit(() -> {});
        }
        assertThat(loop.trySubmit(() -> {})).isEqualTo(SubmitResult.OVERLOADED);
    }

    @Test
    @Clause("Q-2")
    void execute_isSubmit() {
        List<String> log = new ArrayList<>();
        loop.execute(() -> log.add("executed"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("executed");
    }

    @Test
    @Clause("Q-2")
    void submit_refusedATaskThatCannotNameItself_stillSaysSo() {
        loop.close();
        Runnable nameless =
                new Runnable() {
                    @Override
                    public void run() {}

                    @Override
                    public String toString() {
                        throw new IllegalStateException("no name");
                    }
                };
        assertThatThrownBy(() -> loop.submit(nameless)).isInstanceOf(LoopTerminatedException.class);
    }

    @Test
    @Clause("L-6")
    void nowNanos_acrossShortRuns_neverGoesBackForAnybody() throws InterruptedException {
        AtomicReference<String> wentBack = new AtomicReference<>();
        AtomicBoolean done = new AtomicBoolean();
        Thread reader =
                Thread.ofPlatform()
                        .start(
                                () -> {
                                    long last = loop.nowNanos();
                                    while (!done.get()) {
                                        long now = loop.nowNanos();
                                        if (now - last < 0) {
                                            wentBack.set("by " + (last - now) + " ns");
                                        }
                                        last = now;
                                    }
                                });
        for (int i = 0; i < 20_000; i++) {
            loop.runFor(Duration.ZERO);
        }
        done.set(true);
        reader.join();
        assertThat(wentBack.get()).isNull();
    }

    @Test
    @Clause("Q-5")
    void submit_toASleepingLoop_wakesItOnce() throws InterruptedException {
        Thread runner = runOnThread("runner");
        long before = loop.metrics().wakeups();
        CountDownLatch ran = new CountDownLatch(1);
        loop.submit(ran::countDown);
        ran.await();
        assertThat(loop.metrics().wakeups() - before).isEqualTo(1);
        loop.stop();
        runner.join();
    }

    @Test
    @Clause("L-7")
    void stop_fromAnotherThread_wakesASleepingLoop() throws InterruptedException {
        Thread runner = runOnThread("runner");
        loop.stop();
        runner.join();
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
    }

    @Test
    @Clause("T-2")
    void timer_throughRealWaits_isNeverEarly() {
        List<Long> lateness = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            loop.after(
                    Duration.ofNanos(50_017L * i),
                    timer -> lateness.add(System.nanoTime() - timer.firedDeadlineNanos()));
        }
        loop.runUntilEmpty();
        assertThat(lateness).hasSize(200).allMatch(late -> late >= 0);
    }

    @Test
    void metrics_countWhatRan() {
        loop.submit(() -> loop.microtask(() -> {}));
        loop.submitPriority(() -> {});
        loop.after(Duration.ZERO, timer -> {});
        loop.defer(() -> {});
        loop.runUntilEmpty();
        assertThat(loop.metrics().tasks()).isEqualTo(1);
        assertThat(loop.metrics().priorityTasks()).isEqualTo(1);
        assertThat(loop.metrics().timers()).isEqualTo(1);
        assertThat(loop.metrics().microtasks()).isEqualTo(1);
        assertThat(loop.metrics().callbacks()).isEqualTo(4);
        assertThat(loop.metrics().ticks()).isPositive();
        assertThat(loop.metrics().polls()).isPositive();
        assertThat(loop.metrics().queuedPriorityTasks()).isZero();
        assertThat(loop).hasToString("EventLoop[tested, " + loop.metrics().backend() + ", AWAKE]");
    }
}
