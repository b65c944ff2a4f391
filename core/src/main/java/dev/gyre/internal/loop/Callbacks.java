package dev.gyre.internal.loop;

import dev.gyre.EventLoop;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.io.BufferLeaks;
import dev.gyre.internal.promise.LoopPromise;
import dev.gyre.internal.time.LoopTimer;
import dev.gyre.metrics.LoopObserver;

/// The one place where user code is called: each call is counted, and what it throws is caught.
///
/// Loop thread only.
final class Callbacks {
    private final FailureHandler failures;
    private final LoopObserver observer;
    private final EventLoop loop;

    final Counter all = new Counter();
    final Counter tasks = new Counter();
    final Counter priorityTasks = new Counter();
    final Counter timers = new Counter();
    final Counter microtasks = new Counter();

    Callbacks(FailureHandler failures, LoopObserver observer, EventLoop loop) {
        this.failures = failures;
        this.observer = observer;
        this.loop = loop;
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
        try {
            timer.fire();
        } catch (Throwable thrown) {
            failures.caught(thrown);
        }
    }

    void runNext(IoDispatcher dispatch) {
        all.add(1);
        try {
            dispatch.run();
        } catch (Throwable thrown) {
            failures.caught(thrown);
        }
    }

    void observeOverload(int remaining) {
        try {
            observer.onOverload(loop, remaining);
        } catch (Throwable thrown) {
            failures.caught(thrown);
        }
    }

    void observeMicrotaskBreach(int remaining) {
        try {
            observer.onMicrotaskBreach(loop, remaining);
        } catch (Throwable thrown) {
            failures.caught(thrown);
        }
    }

    void observeMicrotaskFlood(int remaining) {
        try {
            observer.onMicrotaskFlood(loop, remaining);
        } catch (Throwable thrown) {
            failures.caught(thrown);
        }
    }

    void observePriorityFlood(int ran) {
        try {
            observer.onPriorityFlood(loop, ran);
        } catch (Throwable thrown) {
            failures.caught(thrown);
        }
    }

    void observeUnhandledRejection(LoopPromise<?> promise) {
        try {
            observer.onUnhandledRejection(loop, promise, promise.reason());
        } catch (Throwable thrown) {
            failures.caught(thrown);
        }
    }

    void observeLeaks(BufferLeaks leaks) {
        for (Throwable takenAt = leaks.next(); takenAt != null; takenAt = leaks.next()) {
            try {
                observer.onBufferLeak(loop, takenAt);
            } catch (Throwable thrown) {
                failures.caught(thrown);
            }
        }
    }

    void observeTerminated(ShutdownReport report) {
        try {
            observer.onTerminated(loop, report);
        } catch (Throwable thrown) {
            failures.caught(thrown);
        }
    }

    void close(AutoCloseable resource) {
        try {
            resource.close();
        } catch (Throwable thrown) {
            failures.caught(thrown);
        }
    }

    /// For what is counted by whoever runs it, as microtasks are, or leads to user code only by the way.
    void guarded(Runnable callback) {
        try {
            callback.run();
        } catch (Throwable thrown) {
            failures.caught(thrown);
        }
    }
}
