package dev.gyre.internal.loop;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.EventLoop;
import dev.gyre.FailurePolicy;
import dev.gyre.LoopConfig;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.base.Throwables;
import dev.gyre.internal.base.TraceRecorder;
import dev.gyre.internal.io.BufferLeaks;
import dev.gyre.internal.promise.LoopPromise;
import dev.gyre.internal.time.LoopTimer;
import dev.gyre.metrics.LoopObserver;
import dev.gyre.metrics.TraceEvent;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;

/// The one place that calls user code. Counts each call, catches what it throws, and applies the
/// failure policy (L-10).
///
/// Loop thread only.
final class Callbacks {
    private final FailurePolicy policy;
    private final Thread.UncaughtExceptionHandler uncaughtHandler;
    private final LoopObserver observer;
    private final EventLoop loop;
    private final TraceRecorder trace;

    final Counter all = new Counter();
    final Counter tasks = new Counter();
    final Counter priorityTasks = new Counter();
    final Counter timers = new Counter();
    final Counter microtasks = new Counter();
    final Counter failures = new Counter();

    /// Whether throwables that would leave `run` are held back.
    private boolean holding;

    private @Nullable Throwable held;

    Callbacks(LoopConfig config, EventLoop loop, TraceRecorder trace) {
        this.policy = config.failurePolicy();
        this.uncaughtHandler = config.uncaughtHandler();
        this.observer = config.observer();
        this.loop = loop;
        this.trace = trace;
    }

    void runTask(Runnable task) {
        tasks.add(1);
        all.add(1);
        guarded(task);
    }

    void runPriorityTask(Runnable task) {
        priorityTasks.add(1);
        all.add(1);
        guarded(task);
    }

    void runDeferred(Runnable callback) {
        all.add(1);
        guarded(callback);
    }

    void fire(LoopTimer timer) {
        timers.add(1);
        all.add(1);
        if (trace.recordsAll()) {
            long late = loop.nowNanos() - timer.firedDeadlineNanos();
            trace.record(0, TraceEvent.Kind.TIMER, "fired " + late / 1_000 + " µs late");
        }
        try {
            timer.fire();
        } catch (Throwable thrown) {
            failed(thrown);
        }
    }

    void runNext(IoDispatcher dispatcher) {
        all.add(1);
        try {
            dispatcher.run();
        } catch (Throwable thrown) {
            failed(thrown);
        }
    }

    void close(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Throwable thrown) {
            failed(thrown);
        }
    }

    /// Runs a callback that the caller counts, as it does microtasks, or that calls user code only
    /// indirectly.
    void guarded(Runnable callback) {
        try {
            callback.run();
        } catch (Throwable thrown) {
            failed(thrown);
        }
    }

    void observeOverload(int remaining) {
        guarded(() -> observer.onTaskBudgetExceeded(loop, remaining));
    }

    void observeMicrotaskBreach(int remaining) {
        guarded(() -> observer.onMicrotaskBudgetExceeded(loop, remaining));
    }

    void observeMicrotaskFlood(int remaining) {
        guarded(() -> observer.onMicrotaskFlood(loop, remaining));
    }

    void observePriorityFlood(int ran) {
        guarded(() -> observer.onPriorityFlood(loop, ran));
    }

    void observeUnhandledRejection(LoopPromise<?> promise) {
        guarded(() -> observer.onUnhandledRejection(loop, promise, promise.reason()));
    }

    void observeLeaks(BufferLeaks leaks) {
        for (Throwable leak = leaks.nextLeak(); leak != null; leak = leaks.nextLeak()) {
            Throwable acquiredAt = leak;
            guarded(() -> observer.onBufferLeak(loop, acquiredAt));
        }
    }

    void observeTerminated(ShutdownReport report) {
        guarded(() -> observer.onTerminated(loop, report));
    }

    /// Handles what a callback threw. Returns if the tick may continue, otherwise throws.
    private void failed(Throwable thrown) {
        failures.add(1);
        if (thrown instanceof VirtualMachineError || policy == FailurePolicy.PROPAGATE) {
            leaveRun(thrown);
            return;
        }
        try {
            uncaughtHandler.uncaughtException(Thread.currentThread(), thrown);
        } catch (VirtualMachineError e) {
            leaveRun(e);
        } catch (Throwable second) {
            LOG.log(
                    Level.ERROR,
                    "the uncaught handler of " + loop + " threw",
                    Throwables.firstOf(second, thrown));
        }
    }

    private void leaveRun(Throwable thrown) {
        if (!holding) {
            rethrow(thrown);
        }
        held = Throwables.firstOf(held, thrown);
    }

    /// Holds back what would leave `run` from now on: nothing may prevent the release of
    /// descriptors.
    void holdUntilReleased() {
        holding = true;
    }

    /// Holds back what a run was already leaving with.
    void hold(@Nullable Throwable thrown) {
        held = thrown;
    }

    /// Throws what was held back.
    void releaseHeld() {
        holding = false;
        Throwable thrown = held;
        held = null;
        rethrow(thrown);
    }

    void rethrow(@Nullable Throwable thrown) {
        if (thrown != null) {
            throw Throwables.rethrow(thrown);
        }
    }
}
