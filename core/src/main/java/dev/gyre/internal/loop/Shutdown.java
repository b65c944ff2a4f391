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
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.Watchers;
import dev.gyre.internal.promise.AwaitedTask;
import dev.gyre.internal.promise.Promises;
import dev.gyre.internal.promise.SettlementTask;
import dev.gyre.internal.time.LoopClock;
import dev.gyre.internal.time.LoopTimer;
import dev.gyre.internal.time.TimerQueue;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// The loop's end, clauses S-1 to S-4: begun by any thread, carried out by the loop thread, or by the
/// one that began it if no thread runs the loop.
final class Shutdown {
    /// How soon to look at the kernel again for operations that were cancelled.
    private static final long LOOK_AGAIN_NANOS = 1_000_000;

    private static final LoopState[] OPEN_STATES = {RUNNING, SLEEPING, AWAKE};

    private final StateCell state;
    private final Ingress ingress;
    private final Backend backend;
    private final Watchers watchers;
    private final OperationEngine requests;
    private final LoopOperations operations;
    private final OperationsEnd operationsEnd;
    private final OwnedResources belongings;
    private final LoopClock clock;
    private final TimerQueue timers;
    private final Microtasks microtasks;
    private final TaskRing deferred;
    private final Promises promises;
    private final Callbacks callbacks;
    private final FailureHandler failures;
    private final String loopName;
    private final CompletableFuture<ShutdownReport> outcome = new CompletableFuture<>();

    // Shared: guarded by lock.
    private final Object lock = new Object();
    private boolean begun;

    // Shared: written under the lock before the state moves, read by whoever carries it out.
    private volatile @Nullable LoopTerminatedException end;
    private volatile boolean immediate;
    private volatile long deadlineNanos;

    // Shared: written by the thread that carries it out, read by all to know themselves.
    private volatile @Nullable Thread endingThread;

    // Whoever carries it out.
    private boolean releasing;
    private final List<Runnable> abandoned = new ArrayList<>();

    Shutdown(LoopComponents components) {
        state = components.state;
        ingress = components.ingress;
        backend = components.backend;
        watchers = components.watchers;
        requests = components.requests;
        operations = components.operations;
        operationsEnd = new OperationsEnd(components);
        belongings = components.belongings;
        clock = components.clock;
        timers = components.timers;
        microtasks = components.microtasks;
        deferred = components.deferred;
        promises = components.promises;
        callbacks = components.callbacks;
        failures = components.failures;
        loopName = components.config.name();
    }

    CompletableFuture<ShutdownReport> outcome() {
        return outcome;
    }

    /// Begins a graceful end, unless one has begun.
    void beginGraceful(long deadlineNanos) {
        begin(false, deadlineNanos);
    }

    /// Begins an immediate end, or hurries one that has begun.
    void beginImmediate() {
        begin(true, 0);
    }

    private void begin(boolean immediate, long deadlineNanos) {
        StackReserve.requireLarge();
        LoopState from;
        synchronized (lock) {
            if (!begun) {
                // Allocated first: a failure half-way would leave the callers waiting.
                end = newEnd();
                this.deadlineNanos = deadlineNanos;
                this.immediate = immediate;
                from = moveToTerminating();
                begun = true;
                ingress.external.close();
            } else {
                this.immediate |= immediate;
                // If the one who began could not wake the loop, this one does. It costs little.
                from = immediate ? SLEEPING : RUNNING;
            }
        }
        if (immediate) {
            ingress.priority.hurry();
        }
        if (from == AWAKE) {
            carryOut(false);
        } else if (from == SLEEPING) {
            backend.wake();
        }
    }

    private LoopTerminatedException newEnd() {
        return new LoopTerminatedException("loop " + loopName + " ended before this was settled");
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

    /// Finishes or drops what is queued and releases everything. Once, by the loop thread, or by the
    /// thread that began if there is no loop thread.
    ///
    /// @param mayRunCallbacks false if the caller is not the loop thread
    void carryOut(boolean mayRunCallbacks) {
        endingThread = Thread.currentThread();
        // Again, for the thread that began may be held up before it has closed the lane itself, and
        // a task that is let in after the drain would be lost.
        ingress.external.close();
        failures.holdUntilReleased();
        LoopTerminatedException begun = this.end;
        LoopTerminatedException end = begun != null ? begun : newEnd();
        boolean graceful = !immediate;
        long rejected = 0;
        try {
            graceful = graceful && (!mayRunCallbacks || drained(true));
        } finally {
            state.terminated();
            ingress.priority.close();
            try {
                // What was accepted between the last look and the close.
                graceful = graceful && (!mayRunCallbacks || drained(false));
                if (graceful && mayRunCallbacks) {
                    rejected = rejectPromises(end);
                }
            } finally {
                releasing = true;
                release(graceful, mayRunCallbacks, end, rejected);
                endingThread = null;
            }
        }
        failures.releaseHeld();
    }

    /// Whether the calling thread is the one that carries it out.
    @SuppressWarnings("ReferenceEquality") // a thread is only itself
    boolean isCarriedOutHere() {
        return endingThread == Thread.currentThread();
    }

    /// Whether nothing that is added any more can run. Loop thread only.
    boolean isReleasing() {
        return releasing;
    }

    /// Runs everything that is queued, and what that leads to, until nothing is left or time is up.
    ///
    /// @param waits whether to wait for work outside the loop
    private boolean drained(boolean waits) {
        while (!isQuiet()
                || !microtasks.isQuiet()
                || (waits
                        && (promises.isAwaiting()
                                || operations.isTransferring()
                                || requests.outstanding() > 0
                                || operations.hasTurnEnd()))) {
            if (isTimeUp()) {
                return false;
            }
            microtasks.beginTick();
            microtasks.barrier(); // Those of the callback that began the shutdown.
            drainExternal();
            drainPriority();
            for (int left = deferred.size(); left > 0 && !isTimeUp(); left--) {
                callbacks.runDeferred(deferred.take());
                microtasks.barrier();
            }
            microtasks.barrier();
            if (waits) {
                goOnElsewhere();
            }
        }
        return true;
    }

    /// Lets operations and work outside the loop go on, and waits for them if there is nothing else to do.
    private void goOnElsewhere() {
        boolean moved = false;
        if (requests.outstanding() > 0 || operations.hasTurnEnd()) {
            moved = operationsEnd.step(isQuiet() && !promises.isAwaiting());
        }
        boolean firesTimers = promises.isAwaiting() || operations.isTransferring();
        if (isQuiet() && firesTimers) {
            fireTimers(); // Timeouts and deadlines of that work, above all.
        }
        boolean operating = requests.outstanding() > 0 || operations.isTransferring();
        if (!moved && isQuiet() && (operating || promises.isAwaiting())) {
            long nearest = firesTimers ? timers.nearest(deadlineNanos) : deadlineNanos;
            long soon = backend.nanoTime() + LOOK_AGAIN_NANOS;
            awaitWork(operating && soon - nearest < 0 ? soon : nearest); // survives wrap-around
        }
    }

    private void fireTimers() {
        clock.update();
        timers.collectDue(clock.nanos());
        while (!isTimeUp()) {
            LoopTimer timer = timers.takeDue(clock.nanos());
            if (timer == null) {
                return;
            }
            callbacks.fire(timer);
            microtasks.barrier();
        }
    }

    /// Work outside the loop reports through the priority lane. The kernel is not waited for: it would
    /// tell of descriptors whose callbacks run no more.
    private void awaitWork(long untilNanos) {
        boolean interrupted = false;
        while (ingress.priority.isEmpty() && !isTimeUp()) {
            long left = untilNanos - backend.nanoTime(); // survives wrap-around
            if (left <= 0) {
                break;
            }
            if (backend.awaitOutside(untilNanos)) {
                continue;
            }
            try {
                ingress.priority.await(left);
            } catch (InterruptedException e) {
                interrupted = true; // Nobody may cut a shutdown short but by closing the loop.
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// Rejects what is still pending, and lets the handlers see to the rest.
    ///
    /// @return how many were rejected
    private long rejectPromises(LoopTerminatedException end) {
        // A task that came between the last look and the close may have begun work. Its result
        // finds the lane closed, and whoever is at it is to be told.
        abandoned.addAll(promises.abandonOutstanding(end));
        long all = 0;
        long some;
        do {
            some = promises.rejectRoots(end);
            all += some;
        } while (drained(false) && some > 0);
        return all;
    }

    private void drainExternal() {
        while (!ingress.external.isFinished() && !isTimeUp()) {
            Runnable task = ingress.external.poll();
            if (task == null) {
                awaitProducer();
                continue;
            }
            callbacks.runTask(task);
            microtasks.barrier();
        }
    }

    /// A producer is between its claim and its store, which is a few instructions unless it was
    /// descheduled: let it have the processor.
    @SuppressWarnings("ThreadPriorityCheck")
    private static void awaitProducer() {
        Thread.yield();
    }

    private void drainPriority() {
        while (!isTimeUp()) {
            Runnable task = ingress.priority.poll();
            if (task == null) {
                return;
            }
            callbacks.runPriorityTask(task);
            microtasks.barrier();
        }
    }

    private boolean isQuiet() {
        return ingress.external.isFinished()
                && ingress.priority.isEmpty()
                && deferred.isEmpty()
                && microtasks.isEmpty();
    }

    private boolean isTimeUp() {
        return immediate || deadlineNanos - backend.nanoTime() <= 0; // survives wrap-around
    }

    /// Counts what is left, closes the descriptors and hands the outcome out, whatever goes wrong.
    private void release(
            boolean graceful, boolean onLoopThread, LoopTerminatedException end, long rejected) {
        ShutdownReport report = null;
        try {
            report = drop(graceful, end, rejected);
            if (onLoopThread) {
                // Otherwise a thread that sets the loop up may be in the middle of them.
                microtasks.clear();
                deferred.clear();
            }
        } finally {
            timers.release();
            try {
                closeBelongings();
            } finally {
                try {
                    operations.leaks().findUnreleased(); // Before its operations let go of theirs.
                    callbacks.observeLeaks(operations.leaks());
                    operations.close();
                    backend.close();
                    watchers.close();
                } finally {
                    handOut(report);
                }
            }
        }
    }

    private void closeBelongings() {
        for (AutoCloseable last = belongings.takeLast();
                last != null;
                last = belongings.takeLast()) {
            callbacks.close(last);
        }
    }

    /// Drops what is queued, rejects what is pending, and counts both.
    private ShutdownReport drop(boolean graceful, LoopTerminatedException end, long rejected) {
        boolean quiet = isQuiet();
        promises.stopReacting(); // What is settled from now on leads to no callback.
        long tasks = dropExternal(end);
        long priorityTasks = dropPriority();
        abandoned.addAll(promises.abandonOutstanding(end));
        ShutdownReport report =
                new ShutdownReport(
                        graceful && quiet && abandoned.isEmpty(),
                        tasks,
                        priorityTasks,
                        microtasks.size(),
                        deferred.size(),
                        abandoned.size(),
                        rejected + abandoned.size() + promises.rejectAll(end),
                        timers.size(),
                        watchers.size(),
                        requests.outstanding());
        abandoned.forEach(callbacks::guarded); // Last: what it runs is not ours.
        abandoned.clear();
        return report;
    }

    private void handOut(@Nullable ShutdownReport report) {
        if (report == null) {
            outcome.completeExceptionally(
                    new IllegalStateException("the loop ended, but what it left was not counted"));
            return;
        }
        try {
            callbacks.observeTerminated(report);
        } finally {
            outcome.complete(report);
        }
    }

    private long dropExternal(LoopTerminatedException end) {
        long dropped = 0;
        while (!ingress.external.isFinished()) {
            Runnable task = ingress.external.poll();
            if (task == null) {
                awaitProducer();
                continue;
            }
            dropped++;
            if (task instanceof AwaitedTask awaited) {
                callbacks.guarded(() -> awaited.fail(end));
            }
        }
        return dropped;
    }

    private long dropPriority() {
        long dropped = 0;
        for (Runnable task = ingress.priority.poll();
                task != null;
                task = ingress.priority.poll()) {
            if (task instanceof SettlementTask delivery) {
                callbacks.guarded(() -> promises.deliver(delivery)); // Somebody may be waiting.
            } else {
                dropped++;
            }
        }
        return dropped;
    }
}
