package dev.gyre.internal.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.Clause;
import dev.gyre.Deferred;
import dev.gyre.LoopConfig;
import dev.gyre.LoopState;
import dev.gyre.Reachability;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.backend.ScriptedBackend;

import org.junit.jupiter.api.Test;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// The drains of a shutdown: what they run, how much, and on which thread they may.
class ShutdownDrainTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final ScriptedBackend backend = new ScriptedBackend();
    private final List<String> log = new ArrayList<>();

    private static ShutdownReport outcomeOf(Loop loop) {
        return loop.shutdown(Duration.ZERO).toCompletableFuture().join();
    }

    /// Something that behaves like another, but first does what the hook says to each call.
    private static <T> T hooked(Class<T> type, Object real, Consumer<String> hook) {
        InvocationHandler handler =
                (_, method, arguments) -> {
                    hook.accept(method.getName());
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                };
        return type.cast(
                Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /// Calls back in the last look of the drain, when all queues were found empty and nothing but
    /// operations is left to ask for.
    private Backend inTheLastLook(Runnable hook) {
        boolean[] done = {false};
        return (Backend)
                Proxy.newProxyInstance(
                        Backend.class.getClassLoader(),
                        new Class<?>[] {Backend.class},
                        (_, method, arguments) -> {
                            Object result;
                            try {
                                result = method.invoke(backend, arguments);
                            } catch (InvocationTargetException e) {
                                throw e.getCause();
                            }
                            if (!(result instanceof OperationEngine requests)) {
                                return result;
                            }
                            return hooked(
                                    OperationEngine.class,
                                    requests,
                                    name -> {
                                        if (name.equals("outstanding") && !done[0] && isEnding()) {
                                            done[0] = true;
                                            hook.run();
                                        }
                                    });
                        });
    }

    private Loop loop;

    private boolean isEnding() {
        return loop != null && loop.state() == LoopState.TERMINATING;
    }

    @Test
    @Clause("S-1")
    void shutdown_runsWhatWasAcceptedAfterTheLastLookBeforeItRejectsPromises() {
        List<Deferred<String>> pending = new ArrayList<>();
        loop =
                Loop.open(
                        LoopConfig.DEFAULT,
                        inTheLastLook(
                                () ->
                                        loop.submitPriority(
                                                () -> {
                                                    log.add("late");
                                                    pending.getFirst().resolve("in time");
                                                })));
        loop.submit(
                () -> {
                    pending.add(loop.deferred());
                    pending.getFirst().promise().then(log::add, reason -> log.add("rejected"));
                    loop.shutdown(LONG);
                });
        loop.run();
        assertThat(log).containsExactly("late", "in time");
        assertThat(outcomeOf(loop)).isEqualTo(new ShutdownReport(true, 0, 0, 0, 0, 0, 0, 0, 0, 0));
    }

    @Test
    @Clause({"S-1", "M-2"})
    void shutdown_withMoreMicrotasksThanABudget_runsAllOfThem() {
        loop = Loop.open(LoopConfig.DEFAULT.withMicrotaskBudget(4), backend);
        loop.submit(
                () -> {
                    loop.shutdown(LONG);
                    for (int i = 0; i < 10; i++) {
                        loop.microtask(() -> log.add("microtask"));
                    }
                });
        loop.run();
        assertThat(log).hasSize(10);
        assertThat(outcomeOf(loop).graceful()).isTrue();
    }

    @Test
    @Clause({"S-1", "M-2"})
    void shutdown_withMoreMicrotasksOfLateTasksThanABudget_runsAllOfThem() {
        loop =
                Loop.open(
                        LoopConfig.DEFAULT.withMicrotaskBudget(4),
                        inTheLastLook(
                                () ->
                                        loop.submitPriority(
                                                () -> {
                                                    for (int i = 0; i < 10; i++) {
                                                        loop.microtask(() -> log.add("late"));
                                                    }
                                                })));
        loop.submit(() -> loop.shutdown(LONG));
        loop.run();
        assertThat(log).hasSize(10);
        assertThat(outcomeOf(loop).graceful()).isTrue();
    }

    @Test
    @Clause({"S-1", "Q-7"})
    void shutdown_withDeferredCallbacksThatDefer_runsAllOfThem() {
        loop = Loop.open(LoopConfig.DEFAULT, backend);
        loop.submit(
                () -> {
                    loop.shutdown(LONG);
                    for (int i = 0; i < 3; i++) {
                        loop.defer(
                                () -> {
                                    log.add("deferred");
                                    loop.defer(() -> log.add("again"));
                                });
                    }
                });
        loop.run();
        assertThat(log)
                .containsExactly("deferred", "deferred", "deferred", "again", "again", "again");
        assertThat(outcomeOf(loop).graceful()).isTrue();
    }

    /// A callback that holds something which nothing else does.
    private static Runnable holding(List<Reachability> held) {
        Object[] what = {null};
        held.add(Reachability.of(() -> what[0] = new Object()));
        Object kept = what[0];
        return () -> assertThat(kept).isNotNull();
    }

    @Test
    @Clause("S-2")
    void close_onTheLoopThread_keepsNothingOfWhatItDropped() {
        loop = Loop.open(LoopConfig.DEFAULT, backend);
        List<Reachability> held = new ArrayList<>();
        loop.submit(
                () -> {
                    loop.shutdown(Duration.ZERO);
                    loop.defer(holding(held));
                    loop.microtask(holding(held));
                    loop.submitPriority(holding(held));
                });
        loop.submit(holding(held));
        loop.run();
        assertThat(outcomeOf(loop)).isEqualTo(new ShutdownReport(false, 1, 1, 1, 1, 0, 0, 0, 0, 0));
        assertThat(held).hasSize(4);
        held.forEach(one -> one.assertLost("what a dropped callback held"));
        assertThat(loop.state()).as("and the loop is held").isEqualTo(LoopState.TERMINATED);
    }

    @Test
    @Clause("S-2")
    void close_onAnyOtherThread_countsTheQueuesOfTheLoopThreadAndLeavesThemAlone() {
        loop = Loop.open(LoopConfig.DEFAULT, backend);
        List<Reachability> held = new ArrayList<>();
        loop.defer(holding(held)); // By a thread that sets it up, and may still be at it.
        loop.microtask(holding(held));
        loop.close();
        assertThat(outcomeOf(loop)).isEqualTo(new ShutdownReport(false, 0, 0, 1, 1, 0, 0, 0, 0, 0));
        for (Reachability one : held) {
            assertThat(one.isLost()).as("taken out by another thread").isFalse();
        }
        assertThat(loop.state()).isEqualTo(LoopState.TERMINATED);
    }
}
