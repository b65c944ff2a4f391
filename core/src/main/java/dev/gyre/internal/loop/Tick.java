package dev.gyre.internal.loop;

import static dev.gyre.LoopState.RUNNING;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.base.InternalTask;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.io.FdReaper;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.Watchers;
import dev.gyre.internal.promise.Promises;
import dev.gyre.internal.time.LoopClock;
import dev.gyre.internal.time.LoopTimer;
import dev.gyre.internal.time.TimerQueue;
import dev.gyre.metrics.CallbackKind;

/// One tick of the loop: clause L-5.
///
/// A tick can be left in the middle: by a bounded run that has reached its limit, by a callback's
/// throwable, or by a shutdown. The next tick resumes in the step that was left, so that the order
/// of callbacks does not depend on how runs divide it.
///
/// A shutdown drains by the same steps, in another mode. What differs is stated in [Mode].
///
/// Loop thread only.
final class Tick {
    private enum Step {
        BEGIN,
        RUN_TIMERS,
        RUN_PRIORITY,
        RUN_EXTERNAL,
        RUN_DEFERRED,
        BARRIER,
        HOUSEKEEPING,
        FLUSH,
        POLL,
        RUN_IO,
        FINAL_BARRIER;

        private static final Step[] ALL = values();

        @SuppressWarnings("EnumOrdinal") // the order of declaration is the order of the tick
        Step next() {
            // A remainder would cost a division per step, a tenth of an idle tick.
            return this == FINAL_BARRIER ? BEGIN : ALL[ordinal() + 1];
        }
    }

    /// The phase of the loop's life that a tick belongs to.
    enum Mode {
        /// Every step runs, until the state is no longer RUNNING.
        RUNNING,
        /// Timers fire only while external work or a transfer is awaited. Before the flush,
        /// operations that only a peer can complete are cancelled. The tick blocks only for what
        /// the drain awaits. Watchers are suspended.
        DRAINING,
        /// The last queued callbacks run. No timer fires, and the tick ends before housekeeping.
        TERMINATED
    }

    /// Past this many in one tick, priority tasks probably submit each other for ever.
    static final int PRIORITY_FLOOD = 100_000;

    /// After a longer wait, the loop scans the whole promise registry.
    private static final long IDLE_NANOS = 1_000_000_000;

    private static final int NOT_COUNTED = -1;

    /// No more in this tick, and the observer has been notified.
    private static final int NO_TASKS = -1;

    private final StateCell state;
    private final Ingress ingress;
    private final Poller poller;
    private final Backend backend;
    private final IoDispatcher dispatcher;
    private final Watchers watchers;
    private final OperationEngine requests;
    private final LoopOperations operations;
    private final LoopClock clock;
    private final TimerQueue timers;
    private final Microtasks microtasks;
    private final TaskRing deferred;
    private final Promises promises;
    private final Callbacks callbacks;
    private final LoopTimings timings;
    private final RunLimits limits;
    private final int taskBudget;
    private final int ioBatch;
    private final int operationBudget;
    private final long maxWaitNanos;
    final Counter ticks = new Counter();

    // The progress of the current tick.
    private Mode mode = Mode.RUNNING;
    private Step step = Step.BEGIN;
    private int priorityRan;
    private int internalRan;
    private int tasksLeft;
    private int batchLeft;
    private int deferredLeft;
    private boolean busy;
    private boolean waited;

    Tick(LoopComponents components) {
        state = components.state;
        ingress = components.ingress;
        poller = components.poller;
        backend = components.backend;
        dispatcher = components.dispatcher;
        watchers = components.watchers;
        requests = components.requests;
        operations = components.operations;
        clock = components.clock;
        timers = components.timers;
        microtasks = components.microtasks;
        deferred = components.deferred;
        promises = components.promises;
        callbacks = components.callbacks;
        timings = components.timings;
        limits = components.limits;
        taskBudget = components.config.taskBudget();
        ioBatch = components.config.strictMicrotasks() ? 1 : components.config.ioBatch();
        operationBudget = components.config.operationBudget();
        maxWaitNanos = components.config.maxWait().toNanos();
    }

    /// Switches the mode. In other modes than RUNNING, only the deadline ends a tick early.
    void enter(Mode mode) {
        this.mode = mode;
        if (mode == Mode.TERMINATED) {
            step = Step.BEGIN;
        }
    }

    /// Runs one tick, or the rest of a tick that was left.
    void run() {
        if (step != Step.BEGIN || mode != Mode.RUNNING) {
            barrier(); // The one that was due when the tick was left.
        }
        do {
            boolean complete =
                    switch (step) {
                        case BEGIN -> begin(); // 1 read the clock, collect due timers
                        case RUN_TIMERS -> runTimers(); // 2 timers
                        case RUN_PRIORITY -> runPriorityLane(); // 3 the priority lane, whole
                        case RUN_EXTERNAL -> runExternalLane(); // 4 the external lane, in budget
                        case RUN_DEFERRED -> runDeferred(); // 5 deferred callbacks
                        case BARRIER -> barrier(); // 6 microtask barrier
                        case HOUSEKEEPING -> housekeep(); // 7 housekeeping
                        case FLUSH -> flush(); // 8 flush output
                        case POLL -> poll(); // 9 poll
                        case RUN_IO -> runIo(); // 10 I/O callbacks
                        case FINAL_BARRIER -> barrier(); // 11 microtask barrier
                    };
            if (complete) {
                boolean last = mode == Mode.TERMINATED && step == Step.BARRIER;
                step = last ? Step.BEGIN : step.next();
            }
        } while (step != Step.BEGIN && mayContinue());
    }

    private boolean begin() {
        ticks.add(1);
        clock.update();
        timings.tickBegan(clock.nanos());
        waited = false;
        if (firesTimers()) {
            timers.collectDue(clock.nanos());
        }
        microtasks.beginTick();
        priorityRan = 0;
        internalRan = 0;
        tasksLeft = taskBudget;
        dispatcher.beginTick(operationBudget);
        batchLeft = NOT_COUNTED;
        deferredLeft = NOT_COUNTED;
        return true;
    }

    // ------------------------------------------------------------------ callbacks
    //
    // Each of these steps returns false if the tick has to be left before the step is complete.

    private boolean runTimers() {
        if (!firesTimers()) {
            return true;
        }
        timings.stepBegan(CallbackKind.TIMER);
        while (mayContinue()) {
            LoopTimer timer = timers.pollDue(clock.nanos());
            if (timer == null) {
                return true;
            }
            countCallback();
            timings.timerBegins(timer.firedDeadlineNanos());
            callbacks.fire(timer);
            barrier();
            timings.ended(CallbackKind.TIMER);
        }
        return false;
    }

    private boolean runPriorityLane() {
        timings.stepBegan(CallbackKind.PRIORITY_TASK);
        while (priorityRan < PRIORITY_FLOOD && internalRan < PRIORITY_FLOOD && mayContinue()) {
            Runnable task = ingress.priority.poll();
            if (task == null) {
                return true;
            }
            boolean measured = timings.isMeasured(priorityRan + internalRan);
            if (task instanceof InternalTask) {
                internalRan++;
                callbacks.guarded(task); // Counts as no callback: a bounded run is not over.
            } else {
                priorityRan++;
                countCallback();
                callbacks.runPriorityTask(task);
            }
            barrier();
            if (measured) {
                timings.ended(CallbackKind.PRIORITY_TASK);
            }
        }
        // A drain accepts no new tasks, and has to run the accepted ones before its deadline.
        if (mode == Mode.RUNNING && priorityRan == PRIORITY_FLOOD && tasksLeft > 0) {
            tasksLeft = NO_TASKS; // Timers and I/O are next, other tasks are not.
            callbacks.observePriorityFlood(priorityRan);
        }
        return mayContinue();
    }

    private boolean runExternalLane() {
        if (batchLeft == NOT_COUNTED) {
            // What these tasks submit waits for a later tick. A consumer that follows its producers
            // to the last slot would also keep taking cache lines from them.
            batchLeft = Math.min(tasksLeft, ingress.external.depth());
        }
        timings.stepBegan(CallbackKind.TASK);
        int ran = 0;
        while (batchLeft > 0 && mayContinue()) {
            Runnable task = ingress.external.poll();
            if (task == null) {
                return true; // Claimed, but not filled yet.
            }
            batchLeft--;
            tasksLeft--;
            countCallback();
            boolean measured = timings.isTaskMeasured(ran++, ingress.external);
            callbacks.runTask(task);
            barrier();
            if (measured) {
                timings.ended(CallbackKind.TASK);
            }
        }
        if (tasksLeft == 0) {
            tasksLeft = NO_TASKS;
            if (mode == Mode.RUNNING && !ingress.external.isEmpty()) {
                callbacks.observeOverload(ingress.external.depth());
            }
        }
        return mayContinue();
    }

    private boolean runDeferred() {
        if (deferredLeft == NOT_COUNTED) {
            // What these callbacks defer waits for the next tick, or I/O might never be reached.
            deferredLeft = deferred.size();
        }
        timings.stepBegan(CallbackKind.DEFERRED);
        int ran = 0;
        while (deferredLeft > 0 && mayContinue()) {
            deferredLeft--;
            countCallback();
            boolean measured = timings.isMeasured(ran++);
            callbacks.runDeferred(deferred.take());
            barrier();
            if (measured) {
                timings.ended(CallbackKind.DEFERRED);
            }
        }
        return mayContinue();
    }

    private boolean runIo() {
        int sinceBarrier = 0;
        boolean began = false;
        while (mayContinue()) {
            if (!dispatcher.next()) {
                return true; // The final barrier follows.
            }
            if (!began) {
                began = true;
                timings.stepBegan(CallbackKind.IO);
                timings.ioBegan(waited);
            }
            countCallback();
            timings.ioCallbackBegins();
            callbacks.runNext(dispatcher);
            if (++sinceBarrier == ioBatch || !limits.mayRun()) {
                if (sinceBarrier > 1) {
                    dispatcher.batchEnded();
                }
                barrier();
                sinceBarrier = 0;
            }
            timings.ended(CallbackKind.IO);
        }
        return false;
    }

    /// Counts a callback that is about to run.
    private void countCallback() {
        busy = true;
        limits.countCallback();
    }

    private boolean barrier() {
        // If a shutdown has begun, it decides what becomes of the microtasks.
        if ((state.is(RUNNING) || mode != Mode.RUNNING) && microtasks.barrier()) {
            busy = true;
        }
        return true;
    }

    private boolean firesTimers() {
        return switch (mode) {
            case RUNNING -> true;
            case DRAINING -> promises.hasExternalWork() || operations.isTransferring();
            case TERMINATED -> false;
        };
    }

    private boolean mayContinue() {
        return state.is(RUNNING) ? limits.mayRun() : mayDrain();
    }

    private boolean mayDrain() {
        return mode != Mode.RUNNING && !limits.isDrainTimeUp(backend.nanoTime());
    }

    private boolean housekeep() {
        timings.nothingRuns();
        FdReaper.reclaim();
        promises.tidy();
        microtasks.trim();
        deferred.trim();
        callbacks.observeLeaks(operations.leaks());
        return true;
    }

    private boolean flush() {
        operations.runFlushActions();
        if (mode == Mode.DRAINING && isQuiet() && !promises.hasExternalWork()) {
            operations.cancelWaiting(null);
        }
        requests.flush();
        return true;
    }

    private boolean poll() {
        if (!isIdle() || !mayWait()) {
            busy = false;
            poller.pollNow();
            return true;
        }
        limits.countWait();
        long before = clock.nanos();
        long latest = limits.earlier(before + maxWaitNanos);
        poller.pollUntil(firesTimers() ? timers.nearest(latest) : latest, mode == Mode.DRAINING);
        // Callbacks after a wait happen now. A delay that one of them sets would otherwise count
        // from before the wait.
        clock.update();
        waited = true;
        timings.waited(before, clock.nanos());
        if (clock.nanos() - before > IDLE_NANOS) {
            promises.reap();
        }
        return true;
    }

    /// Returns whether waiting would delay nothing. After a tick that ran something, the kernel is
    /// polled once without sleeping: under load more is ready already, and producers need not wake
    /// a loop that never announced its sleep.
    private boolean isIdle() {
        return !busy
                && !requests.hasCompleted()
                && microtasks.isQuiet()
                && deferred.isEmpty()
                && ingress.isEmpty();
    }

    private boolean mayWait() {
        return mode == Mode.RUNNING
                ? limits.mayWait() && (limits.blocksIfDead() || isAlive())
                : awaitsCompletion() || !ingress.external.isFinished();
    }

    /// Clause L-8: returns whether anything is queued, or registered that may enqueue something.
    boolean isAlive() {
        return timers.referenced() > 0
                || watchers.referenced() > 0
                || operations.keepsLoopAlive()
                || operations.hasFlushActions()
                || promises.hasExternalWork()
                || !microtasks.isQuiet()
                || !deferred.isEmpty()
                || !ingress.isEmpty();
    }

    /// Returns whether no callback is queued. During a shutdown only.
    boolean isQuiet() {
        return ingress.external.isFinished()
                && ingress.priority.isEmpty()
                && deferred.isEmpty()
                && microtasks.isEmpty();
    }

    /// Returns whether a drain has nothing left to run in its mode, or to wait for.
    boolean isDrained() {
        return isQuiet()
                && microtasks.isQuiet()
                && (mode == Mode.TERMINATED
                        || !(awaitsCompletion() || operations.hasFlushActions()));
    }

    private boolean awaitsCompletion() {
        return promises.hasExternalWork()
                || operations.isTransferring()
                || requests.outstanding() > 0;
    }

    /// Returns how many callbacks and microtasks have run: tells whether a tick ran anything.
    long work() {
        return callbacks.all.get() + callbacks.microtasks.get();
    }
}
