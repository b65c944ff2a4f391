package dev.gyre;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gyre.internal.backend.ScriptedBackend;
import dev.gyre.internal.loop.Loop;
import dev.gyre.metrics.LoopObserver;

import org.junit.jupiter.api.AfterEach;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/// Two loops on scripted kernels with virtual clocks, and promises that tests settle. Exceptions of
/// callbacks propagate out of the run, so assertions inside callbacks count.
abstract class PromiseFixture {
    /// When a promise settles, relative to the callback that receives it.
    enum When {
        ALREADY,
        RIGHT_AFTER,
        BY_A_MICROTASK,
        BY_A_DEFERRED_CALLBACK,
        BY_A_TASK,
        BY_A_PRIORITY_TASK,
        BY_A_TIMER
    }

    /// A checked exception as a reason.
    static final class Trouble extends Exception {
        private static final long serialVersionUID = 1;

        Trouble(String message) {
            super(message);
        }
    }

    static final String VALUE = "value";

    @SuppressWarnings("StaticAssignmentOfThrowable") // never looked into, only recognized
    static final Trouble TROUBLE = new Trouble("trouble");

    final ScriptedBackend backend = new ScriptedBackend();
    final ScriptedBackend otherBackend = new ScriptedBackend();
    final List<String> log = new ArrayList<>();
    final List<Throwable> unhandled = new ArrayList<>();
    final LoopConfig config =
            LoopConfig.DEFAULT
                    .withFailurePolicy(FailurePolicy.PROPAGATE)
                    .withObserver(
                            new LoopObserver() {
                                @Override
                                public void onUnhandledRejection(
                                        EventLoop loop, Promise<?> promise, Throwable reason) {
                                    unhandled.add(reason);
                                }
                            });
    final EventLoop loop = Loop.open(config.withName("here"), backend);
    final EventLoop other = Loop.open(config.withName("there"), otherBackend);

    @AfterEach
    void closeLoops() {
        loop.close();
        other.close();
    }

    /// Calls the body on the loop thread with a promise that settles at that time, and runs until
    /// nothing is left.
    final void resolving(When when, Consumer<Promise<String>> body) {
        settling(when, new Outcome.Resolved<>(VALUE), body);
    }

    final void rejecting(When when, Consumer<Promise<String>> body) {
        settling(when, new Outcome.Rejected<>(TROUBLE), body);
    }

    final void settling(When when, Outcome<String> outcome, Consumer<Promise<String>> body) {
        loop.submit(() -> settle(loop, when, outcome, body));
        runBoth();
    }

    /// Like above, with a promise of either loop. Only on that loop's thread, or while it does not
    /// run.
    static void settle(
            EventLoop loop, When when, Outcome<String> outcome, Consumer<Promise<String>> body) {
        Deferred<String> deferred = loop.deferred();
        Runnable settling = () -> assertThat(settle(deferred, outcome)).isTrue();
        if (when == When.ALREADY) {
            settling.run();
        }
        body.accept(deferred.promise());
        switch (when) {
            case ALREADY -> {}
            case RIGHT_AFTER -> settling.run();
            case BY_A_MICROTASK -> loop.microtask(settling);
            case BY_A_DEFERRED_CALLBACK -> loop.defer(settling);
            case BY_A_TASK -> loop.submit(settling);
            case BY_A_PRIORITY_TASK -> loop.submitPriority(settling);
            case BY_A_TIMER -> loop.after(Duration.ofMillis(5), timer -> settling.run());
        }
    }

    static <T> boolean settle(Deferred<T> deferred, Outcome<T> outcome) {
        return switch (outcome) {
            case Outcome.Resolved<T>(T value) -> deferred.resolve(value);
            case Outcome.Rejected<T>(Throwable reason) -> deferred.reject(reason);
        };
    }

    /// Runs the body as a task.
    final void inLoop(Runnable body) {
        loop.submit(body);
        runBoth();
    }

    /// Runs the loops alternately until neither has anything left.
    final void runBoth() {
        long before;
        do {
            before = work(loop) + work(other);
            loop.runUntilEmpty();
            other.runUntilEmpty();
        } while (work(loop) + work(other) != before);
    }

    private static long work(EventLoop loop) {
        return loop.metrics().callbacks() + loop.metrics().microtasks();
    }

    /// Logs the outcome of the promise.
    final void note(String name, Promise<?> promise) {
        promise.then(
                value -> log.add(name + " resolved " + value),
                reason -> log.add(name + " rejected " + reason.getMessage()));
    }

    static <T> Outcome<T> resolved(T value) {
        return new Outcome.Resolved<>(value);
    }

    static <T> Outcome<T> rejected(Throwable reason) {
        return new Outcome.Rejected<>(reason);
    }
}
