package dev.gyre.internal.loop;

import static dev.gyre.LoopState.AWAKE;
import static dev.gyre.LoopState.RUNNING;
import static dev.gyre.LoopState.SLEEPING;
import static dev.gyre.LoopState.TERMINATING;

import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.ShutdownReport;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.base.InternalTask;
import dev.gyre.internal.base.JfrEvents;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.Watchers;
import dev.gyre.internal.promise.PromiseFuture;
import dev.gyre.internal.promise.Promises;
import dev.gyre.internal.time.TimerQueue;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// Shuts the loop down, clauses S-1 to S-4. Any thread begins it. The loop thread runs it, or the
/// thread that began it if no thread runs the loop.
///
/// A graceful shutdown drains with the ticks of the loop itself, see [Tick.Mode]. This class
/// decides when the drain ends, then releases and reports what is left.
final class Shutdown {
    private static final LoopState[] OPEN_STATES = {RUNNING, SLEEPING, AWAKE};

    private final StateCell state;
    private final RunLimits limits;
    private final Tick tick;
    private final Ingress ingress;
    private final Backend backend;
    private final Watchers watchers;
    private final OperationEngine requests;
    private final LoopOperations operations;
    private final TimerQueue timers;
    private final Microtasks microtasks;
    private final TaskRing deferred;
    private final Promises promises;
    private final Callbacks callbacks;
    private final String loopName;
    private final CompletableFuture<ShutdownReport> outcome = new CompletableFuture<>();

    // Shared: guarded by lock.
    private final Object lock = new Object();
    private boolean begun;

    // Shared: guarded by resources. One thread may shut down a loop that another one sets up, and
    // what is added must then either be closed or be refused.
    private final List<AutoCloseable> resources = new ArrayList<>();
    private boolean resourcesClosed;

    // Shared: written under the lock before the state moves, read by the shutdown thread.
    private volatile @Nullable LoopTerminatedException reason;
    private volatile long deadlineNanos;

    // Shared: written by the thread that runs the shutdown, compared by every thread with itself.
    private volatile @Nullable Thread shutdownThread;

    // Shutdown thread only.
    private boolean releasing;
    private @Nullable Object flightEvent;
    private final List<Runnable> abandoned = new ArrayList<>();

    Shutdown(LoopComponents components, Tick tick) {
        this.tick = tick;
        state = components.state;
        limits = components.limits;
        ingress = components.ingress;
        backend = components.backend;
        watchers = components.watchers;
        requests = components.requests;
        operations = components.operations;
        timers = components.timers;
        microtasks = components.microtasks;
        deferred = components.deferred;
        promises = components.promises;
        callbacks = components.callbacks;
        loopName = components.config.name();
    }

    CompletableFuture<ShutdownReport> outcome() {
        return outcome;
    }

    /// Adds a resource to close when the loop terminates, the last one first. Any thread.
    ///
    /// @return false if the last resource was closed already
    boolean tryOwn(AutoCloseable resource) {
        synchronized (resources) {
            return !resourcesClosed && resources.add(resource);
        }
    }

    @SuppressWarnings("ReferenceEquality") // two equal resources are still two to be closed
    void disown(AutoCloseable resource) {
        synchronized (resources) {
            for (int i = resources.size() - 1; i >= 0; i--) {
                if (resources.get(i) == resource) {
                    resources.remove(i);
                    return;
                }
            }
        }
    }

    /// Returns the latest resource of the type, or null if absent.
    <T extends AutoCloseable> @Nullable T find(Class<T> type) {
        synchronized (resources) {
            for (AutoCloseable resource : resources.reversed()) {
                if (type.isInstance(resource)) {
                    return type.cast(resource);
                }
            }
            return null;
        }
    }

    private @Nullable AutoCloseable pollResource() {
        synchronized (resources) {
            resourcesClosed = resources.isEmpty();
            return resourcesClosed ? null : resources.removeLast();
        }
    }

    /// Begins a graceful shutdown, unless one has begun.
    void beginGraceful(long deadlineNanos) {
        begin(false, deadlineNanos);
    }

    /// Begins an immediate shutdown, or makes the deadline of one that has begun pass now.
    void beginImmediate() {
        begin(true, 0);
    }

    private void begin(boolean immediate, long deadlineNanos) {
        StackReserve.requireLarge();
        LoopState from;
        synchronized (lock) {
            if (!begun) {
                // Allocated first: a failure half-way would leave the callers waiting.
                reason = newReason();
                this.deadlineNanos = deadlineNanos;
                if (immediate) {
                    limits.expire();
                }
                from = moveToTerminating();
                begun = true;
                ingress.external.close();
            } else if (immediate) {
                limits.expire();
                // Wakes a drain that sleeps, and a loop that the first caller failed to wake.
                from = SLEEPING;
            } else {
                return;
            }
        }
        if (from == AWAKE) {
            run(false);
        } else if (from == SLEEPING) {
            backend.wake();
        }
    }

    private LoopTerminatedException newReason() {
        return new LoopTerminatedException(
                "loop " + loopName + " terminated before this was settled");
    }

    private LoopState moveToTerminating() {
        while (true) {
            for (LoopState from : OPEN_STATES) {
                if (state.move(from, TERMINATING)) {
                    return from;
                }
            }
        }
    }

    /// Finishes or drops what is queued and releases everything. Called once, by the loop thread,
    /// or by the thread that began if there is no loop thread.
    ///
    /// @param onLoopThread whether callbacks may run
    void run(boolean onLoopThread) {
        shutdownThread = Thread.currentThread();
        flightEvent = JfrEvents.beginDrain(loopName);
        // Again, because the thread that began may be preempted before it closes the lane. A task
        // that is accepted after the drain would be lost.
        ingress.external.close();
        callbacks.holdUntilReleased();
        LoopTerminatedException given = this.reason;
        LoopTerminatedException reason = given != null ? given : newReason();
        boolean graceful = !limits.isExpired();
        long rejected = 0;
        try {
            if (graceful && onLoopThread) {
                graceful = drain();
            }
        } finally {
            state.terminated();
            ingress.priority.close();
            try {
                if (graceful && onLoopThread) {
                    // Runs what was accepted between the last check and the close.
                    graceful = runTicks(Tick.Mode.TERMINATED);
                }
                if (graceful && onLoopThread) {
                    rejected = rejectPromises(reason);
                }
            } finally {
                releasing = true;
                release(graceful, onLoopThread, reason, rejected);
                shutdownThread = null;
            }
        }
        callbacks.releaseHeld();
    }

    /// Returns whether the calling thread runs the shutdown.
    @SuppressWarnings("ReferenceEquality") // a thread is only itself
    boolean isShutdownThread() {
        return shutdownThread == Thread.currentThread();
    }

    /// Returns whether nothing that is added any more can run. Loop thread only.
    boolean isReleasing() {
        return releasing;
    }

    private boolean drain() {
        limits.none();
        limits.limitTime(deadlineNanos);
        watchers.suspend();
        operations.cancelWaiting(LoopOperations.ACCEPTING); // No listener starts another.
        return runTicks(Tick.Mode.DRAINING);
    }

    /// Runs ticks until nothing is left to run, or in a drain to wait for.
    ///
    /// @return false if time was up before
    private boolean runTicks(Tick.Mode mode) {
        tick.enter(mode);
        while (!tick.isDrained()) {
            if (limits.isDrainTimeUp(backend.nanoTime())) {
                return false;
            }
            boolean _ = limits.noticeStop(); // It must not keep a drain from sleeping.
            tick.run();
        }
        return true;
    }

    /// Rejects pending promises and runs their handlers.
    ///
    /// @return how many were rejected
    private long rejectPromises(LoopTerminatedException reason) {
        // A task accepted between the last check and the close may have started work. Its result
        // finds the lane closed, so the worker has to be cancelled.
        abandoned.addAll(promises.abandonExternalWork(reason));
        long all = 0;
        long some;
        do {
            some = promises.rejectRoots(reason);
            all += some;
        } while (runTicks(Tick.Mode.TERMINATED) && some > 0);
        return all;
    }

    /// Counts what is left, closes the descriptors and completes the outcome, whatever fails.
    private void release(
            boolean graceful, boolean onLoopThread, LoopTerminatedException reason, long rejected) {
        ShutdownReport report = null;
        try {
            report = drop(graceful, reason, rejected);
            if (onLoopThread) {
                // Otherwise a thread that sets the loop up may be using them.
                microtasks.clear();
                deferred.clear();
            }
        } finally {
            timers.release();
            try {
                closeResources();
            } finally {
                try {
                    operations
                            .leaks()
                            .findUnreleased(); // Before the operations release their buffers.
                    callbacks.observeLeaks(operations.leaks());
                    operations.close(callbacks::guarded);
                    backend.close();
                    watchers.close();
                } finally {
                    complete(report);
                }
            }
        }
    }

    private void closeResources() {
        for (AutoCloseable last = pollResource(); last != null; last = pollResource()) {
            callbacks.close(last);
        }
    }

    /// Drops what is queued, rejects what is pending, and counts both.
    private ShutdownReport drop(boolean graceful, LoopTerminatedException reason, long rejected) {
        promises.stopReacting(); // Promises settled from now on run no handler.
        List<Runnable> priority = runInternalTasks();
        boolean quiet = priority.isEmpty() && tick.isQuiet();
        long tasks = dropExternal(reason);
        long priorityTasks = dropPriority(priority, reason);
        abandoned.addAll(promises.abandonExternalWork(reason));
        ShutdownReport report =
                new ShutdownReport(
                        graceful && quiet && abandoned.isEmpty(),
                        tasks,
                        priorityTasks,
                        microtasks.size(),
                        deferred.size(),
                        abandoned.size(),
                        rejected + abandoned.size() + promises.rejectAll(reason),
                        timers.size(),
                        watchers.size(),
                        requests.outstanding());
        abandoned.forEach(callbacks::guarded); // Last: it runs user code.
        abandoned.clear();
        return report;
    }

    private long dropExternal(LoopTerminatedException reason) {
        long dropped = 0;
        while (!ingress.external.isFinished()) {
            Runnable task = ingress.external.poll();
            if (task == null) {
                awaitProducer();
                continue;
            }
            dropped++;
            failCall(task, reason);
        }
        return dropped;
    }

    /// Completes the future of a dropped call, because another thread may wait for it.
    private void failCall(Runnable task, LoopTerminatedException reason) {
        if (task instanceof PromiseFuture.Call<?> awaited) {
            callbacks.guarded(() -> awaited.fail(reason));
        }
    }

    /// Yields to a producer between its claim and its store: a few instructions, unless it was
    /// preempted.
    @SuppressWarnings("ThreadPriorityCheck")
    private static void awaitProducer() {
        Thread.yield();
    }

    /// Empties the priority lane. Internal tasks are no dropped work, so they run.
    ///
    /// @return the other tasks
    private List<Runnable> runInternalTasks() {
        List<Runnable> others = new ArrayList<>();
        for (Runnable task = ingress.priority.poll();
                task != null;
                task = ingress.priority.poll()) {
            if (task instanceof InternalTask) {
                callbacks.guarded(task);
            } else {
                others.add(task);
            }
        }
        return others;
    }

    private long dropPriority(List<Runnable> tasks, LoopTerminatedException reason) {
        long dropped = 0;
        for (Runnable task : tasks) {
            if (task instanceof Promises.Settlement settlement) {
                callbacks.guarded(() -> promises.deliver(settlement)); // A thread may await it.
            } else {
                dropped++;
                failCall(task, reason);
            }
        }
        return dropped;
    }

    private void complete(@Nullable ShutdownReport report) {
        if (report == null) {
            outcome.completeExceptionally(
                    new IllegalStateException(
                            "loop " + loopName + " terminated, but failed to count dropped work"));
            return;
        }
        JfrEvents.endDrain(flightEvent, report);
        try {
            callbacks.observeTerminated(report);
        } finally {
            outcome.complete(report);
        }
    }
}
