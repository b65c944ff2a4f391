package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gyre.Clause;
import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.ShutdownReport;
import dev.gyre.WatchSpec;
import dev.gyre.internal.backend.Readiness;
import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.io.FakeDescriptors;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

class FailurePolicyTest {
    private final ScriptedBackend backend = new ScriptedBackend();
    private final FakeDescriptors fakes = new FakeDescriptors();
    private final List<String> log = new ArrayList<>();
    private final List<Throwable> uncaught = new ArrayList<>();

    private Loop open(LoopConfig config) {
        return Loop.open(
                config.withUncaughtHandler((thread, thrown) -> uncaught.add(thrown)), backend);
    }

    private static Runnable failsWith(Throwable thrown) {
        return () -> sneak(thrown);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    /// One failing callback of every kind, each followed by one that does not fail.
    private void queueFailures(Loop loop) {
        loop.after(Duration.ZERO, timer -> failsWith(new RuntimeException("timer")).run());
        loop.after(Duration.ZERO, timer -> log.add("timer"));
        loop.submitPriority(failsWith(new Error("priority")));
        loop.submitPriority(() -> log.add("priority"));
        loop.submit(failsWith(new IOException("task")));
        loop.submit(
                () -> {
                    loop.microtask(failsWith(new RuntimeException("microtask")));
                    loop.microtask(() -> log.add("microtask"));
                });
        loop.defer(failsWith(new RuntimeException("deferred")));
        loop.defer(() -> log.add("deferred"));
        loop.watch(
                fakes.get(1),
                WatchSpec.reading(ready -> failsWith(new RuntimeException("io")).run()));
        loop.watch(
                fakes.get(2),
                WatchSpec.reading(
                        ready -> {
                            log.add("io");
                            loop.unwatch(fakes.get(1));
                            loop.unwatch(fakes.get(2));
                        }));
        backend.makeReady(1, Readiness.READ);
        backend.makeReady(2, Readiness.READ);
    }

    @Test
    @Clause("L-10")
    void isolate_byDefault_handsEachThrowableOverAndGoesOn() {
        Loop loop = open(LoopConfig.DEFAULT);
        queueFailures(loop);
        loop.runUntilEmpty();
        assertThat(log).containsExactly("timer", "priority", "microtask", "deferred", "io");
        assertThat(uncaught)
                .extracting(Throwable::getMessage)
                .containsExactly("timer", "priority", "task", "microtask", "deferred", "io");
        assertThat(loop.metrics().failures()).isEqualTo(6);
    }

    @Test
    @Clause("L-10")
    void propagate_leavesRunWithTheThrowableItself_andTheNextRunGoesOnBehindIt() {
        Loop loop = open(LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE));
        queueFailures(loop);
        List<String> thrown = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            try {
                loop.runUntilEmpty();
            } catch (Throwable e) {
                thrown.add(e.getMessage());
            }
            assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
            assertThat(loop.isLoopThread()).isFalse();
        }
        assertThat(thrown)
                .containsExactly("timer", "priority", "task", "microtask", "deferred", "io");
        assertThat(log).containsExactly("timer", "priority", "microtask", "deferred", "io");
        assertThat(uncaught).isEmpty();
    }

    @Test
    @Clause("L-10")
    void virtualMachineError_isNeverSwallowed() {
        Loop loop = open(LoopConfig.DEFAULT);
        loop.submit(failsWith(new StackOverflowError("deep")));
        loop.submit(() -> log.add("next"));
        assertThatThrownBy(loop::runUntilEmpty).isInstanceOf(StackOverflowError.class);
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
        assertThat(uncaught).isEmpty();
        loop.runUntilEmpty();
        assertThat(log).containsExactly("next");
    }

    @Test
    @Clause("L-10")
    void uncaughtHandler_thatFailsItself_doesNotStopTheLoop() {
        Loop loop =
                Loop.open(
                        LoopConfig.DEFAULT.withUncaughtHandler(
                                (thread, thrown) -> {
                                    throw new IllegalStateException("handler", thrown);
                                }),
                        backend);
        loop.submit(failsWith(new RuntimeException("task")));
        loop.submit(() -> log.add("next"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("next");
    }

    @Test
    @Clause("L-10")
    void uncaughtHandler_thatFailsWithAVirtualMachineError_endsTheRun() {
        Loop loop =
                Loop.open(
                        LoopConfig.DEFAULT.withUncaughtHandler(
                                (thread, thrown) -> {
                                    throw new OutOfMemoryError("handler");
                                }),
                        backend);
        loop.submit(failsWith(new RuntimeException("task")));
        assertThatThrownBy(loop::runUntilEmpty).isInstanceOf(OutOfMemoryError.class);
        assertThat(loop.state()).isEqualTo(LoopState.AWAKE);
    }

    @Test
    @Clause({"L-10", "S-1"})
    void observer_thatFailsAtTheEnd_keepsNobodyFromTheOutcome() {
        Loop loop =
                open(
                        LoopConfig.DEFAULT.withObserver(
                                new LoopObserver() {
                                    @Override
                                    public void onTerminated(
                                            EventLoop ended, ShutdownReport report) {
                                        throw new IllegalStateException("observer");
                                    }
                                }));
        loop.close();
        assertThat(backend.closes()).isEqualTo(1);
        assertThat(loop.shutdown(Duration.ZERO).toCompletableFuture()).isCompleted();
        assertThat(uncaught).extracting(Throwable::getMessage).containsExactly("observer");
    }

    @Test
    @Clause("L-10")
    void observer_thatFails_isTreatedLikeACallback() {
        Loop loop =
                open(
                        LoopConfig.DEFAULT
                                .withTaskBudget(1)
                                .withObserver(
                                        new LoopObserver() {
                                            @Override
                                            public void onTaskBudgetExceeded(
                                                    EventLoop told, int remaining) {
                                                throw new IllegalStateException("observer");
                                            }
                                        }));
        loop.submit(() -> log.add("a"));
        loop.submit(() -> log.add("b"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("a", "b");
        assertThat(uncaught).extracting(Throwable::getMessage).containsExactly("observer");
    }

    @Test
    @Clause({"L-10", "S-1"})
    void propagate_fromTheCallbackThatBeganTheShutdown_comesFirst() {
        Loop loop = open(LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE));
        loop.submit(
                () -> {
                    loop.shutdown(Duration.ofSeconds(1));
                    throw new IllegalStateException("first");
                });
        loop.submit(failsWith(new RuntimeException("second")));
        assertThatThrownBy(loop::run)
                .hasMessage("first")
                .satisfies(
                        e ->
                                assertThat(e.getSuppressed())
                                        .extracting("message")
                                        .containsExactly("second"));
        assertThat(backend.closes()).isEqualTo(1);
    }

    @Test
    @Clause("L-10")
    void uncaughtHandler_thatRethrowsWhatItGot_doesNotStopTheLoop() {
        Loop loop =
                Loop.open(
                        LoopConfig.DEFAULT.withUncaughtHandler(
                                (thread, thrown) -> {
                                    throw (RuntimeException) thrown;
                                }),
                        backend);
        loop.submit(failsWith(new RuntimeException("task")));
        loop.submit(() -> log.add("next"));
        loop.runUntilEmpty();
        assertThat(log).containsExactly("next");
    }

    @Test
    @Clause({"L-10", "Q-3", "M-2"})
    void propagate_fromTheLastOfABudget_isStillTold() {
        List<String> told = new ArrayList<>();
        Loop loop =
                open(
                        LoopConfig.DEFAULT
                                .withFailurePolicy(FailurePolicy.PROPAGATE)
                                .withTaskBudget(1)
                                .withMicrotaskBudget(1)
                                .withObserver(
                                        new LoopObserver() {
                                            @Override
                                            public void onTaskBudgetExceeded(
                                                    EventLoop overloaded, int remaining) {
                                                told.add("overload " + remaining);
                                            }

                                            @Override
                                            public void onMicrotaskBudgetExceeded(
                                                    EventLoop breached, int remaining) {
                                                told.add("breach " + remaining);
                                            }
                                        }));
        loop.submit(failsWith(new RuntimeException("task")));
        loop.submit(() -> {});
        assertThatThrownBy(loop::runUntilEmpty).hasMessage("task");
        loop.runUntilEmpty();
        loop.microtask(failsWith(new RuntimeException("microtask")));
        loop.microtask(() -> {});
        assertThatThrownBy(loop::runUntilEmpty).hasMessage("microtask");
        loop.runUntilEmpty();
        assertThat(told).containsExactly("overload 1", "breach 1");
    }

    @Test
    @Clause({"L-10", "S-1"})
    void propagate_duringShutdown_isHeldUntilEverythingIsReleased() {
        Loop loop = open(LoopConfig.DEFAULT.withFailurePolicy(FailurePolicy.PROPAGATE));
        loop.submit(() -> loop.shutdown(Duration.ofSeconds(1)));
        loop.submit(failsWith(new RuntimeException("first")));
        loop.submit(failsWith(new RuntimeException("second")));
        loop.submit(() -> log.add("third"));
        assertThatThrownBy(loop::run)
                .hasMessage("first")
                .satisfies(
                        e ->
                                assertThat(e.getSuppressed())
                                        .extracting("message")
                                        .containsExactly("second"));
        assertThat(log).containsExactly("third");
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
        assertThat(backend.closes()).isEqualTo(1);
        ShutdownReport report = loop.shutdown(Duration.ZERO).toCompletableFuture().join();
        assertThat(report.graceful()).isTrue();
        assertThat(report.abandoned()).isZero();
    }
}
