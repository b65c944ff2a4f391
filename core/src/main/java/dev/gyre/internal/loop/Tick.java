package dev.gyre.internal.loop;

import dev.gyre.LoopState;
import dev.gyre.internal.backend.OperationEngine;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.base.TaskRing;
import dev.gyre.internal.io.FdReaper;
import dev.gyre.internal.io.LoopOperations;
import dev.gyre.internal.io.Watchers;
import dev.gyre.internal.promise.Promises;
import dev.gyre.internal.time.LoopClock;
import dev.gyre.internal.time.LoopTimer;
import dev.gyre.internal.time.TimerQueue;

/// One turn of the loop: clause L-5.
///
/// A turn can be left in the middle, when a bounded run has run what it may, when a callback's
/// throwable leaves `run`, or when shutdown begins. The next turn then goes on with the step it was
/// left in, so that callbacks come in the same order however the runs are cut.
///
/// Loop thread only.
final class Tick {
    private enum Step {
        READ_CLOCK,
        RUN_TIMERS,
        RUN_PRIORITY,
        RUN_EXTERNAL,
        RUN_DEFERRED,
        BARRIER,
        POLL,
        RUN_IO,
        FINAL_BARRIER;

        private static final Step[] ALL = values();

        @SuppressWarnings("EnumOrdinal") // the order of declaration is the order of the turn
        Step next() {
            return ALL[(ordinal() + 1) % ALL.length];
        }
    }

    /// Past this many in one tick, priority tasks probably submit each other for ever.
    static final int PRIORITY_FLOOD = 100_000;

    /// After a wait longer than this, the loop is idle enough for a full scan.
    private static final long IDLE_NANOS = 1_000_000_000;

    private static final int NOT_COUNTED = -1;

    /// No more in this tick, and whoever had to hear of it has.
    private static final int NO_TASKS = -1;

    private final StateCell state;
    private final Ingress ingress;
    private final Poller sleep;
    private final IoDispatcher dispatch;
    private final Watchers watchers;
    private final OperationEngine requests;
    private final LoopOperations operations;
    private final LoopClock clock;
    private final TimerQueue timers;
    private final Microtasks microtasks;
    private final TaskRing deferred;
    private final Promises promises;
    private final Callbacks callbacks;
    private final RunLimits bounds;
    private final int taskBudget;
    private final int ioBatch;
    private final int operationBudget;
    private final long maxWaitNanos;
    final Counter ticks = new Counter();

    // Where the current turn is.
    private Step step = Step.READ_CLOCK;
    private int priorityRan;
    private int tasksLeft;
    private int batchLeft;
    private int deferredLeft;
    private boolean busy;

    Tick(LoopComponents components) {
        state = components.state;
        ingress = components.ingress;
        sleep = components.sleep;
        dispatch = components.dispatch;
        watchers = components.watchers;
        requests = components.requests;
        operations = components.operations;
        clock = components.clock;
        timers = components.timers;
        microtasks = components.microtasks;
        deferred = components.deferred;
        promises = components.promises;
        callbacks = components.callbacks;
        bounds = components.bounds;
        taskBudget = components.config.taskBudget();
        ioBatch = components.config.strictMicrotasks() ? 1 : components.config.ioBatch();
        operationBudget = components.config.operationBudget();
        maxWaitNanos = components.config.maxWait().toNanos();
    }

    /// Runs one turn, or the rest of one that was left.
    void turn() {
        if (step != Step.READ_CLOCK) {
            barrier(); // The one that was due when the turn was left.
        }
        do {
            switch (step) {
                case READ_CLOCK -> readClock(); // 1 read the clock
                case RUN_TIMERS -> runTimers(); // 2 expired timers
                case RUN_PRIORITY -> runPriorityLane(); // 3 ingress: the priority lane whole,
                case RUN_EXTERNAL -> runExternalLane(); //   then the external one within budget,
                case RUN_DEFERRED -> runDeferred(); //   then what was deferred
                case BARRIER -> barrier(); // 4 microtask barrier
                case POLL -> poll(); // 5 poll
                case RUN_IO -> runIo(); // 6 I/O callbacks
                case FINAL_BARRIER -> barrier(); // 7 microtask barrier
            }
            if (!mayGoOn()) {
                return;
            }
            step = step.next();
        } while (step != Step.READ_CLOCK);
    }

    private void readClock() {
        ticks.add(1);
        clock.update();
        timers.collectDue(clock.nanos());
        microtasks.beginTick();
        deferred.trim();
        FdReaper.reclaim();
        priorityRan = 0;
        tasksLeft = taskBudget;
        dispatch.beginTick(operationBudget);
        batchLeft = NOT_COUNTED;
        deferredLeft = NOT_COUNTED;
        callbacks.observeLeaks(operations.leaks());
    }

    private void runTimers() {
        while (mayGoOn()) {
            LoopTimer timer = timers.takeDue(clock.nanos());
            if (timer == null) {
                return;
            }
            begin();
            callbacks.fire(timer);
            barrier();
        }
    }

    private void runPriorityLane() {
        while (priorityRan < PRIORITY_FLOOD && mayGoOn()) {
            Runnable task = ingress.priority.poll();
            if (task == null) {
                return;
            }
            priorityRan++;
            begin();
            callbacks.runPriorityTask(task);
            barrier();
        }
        if (priorityRan == PRIORITY_FLOOD && tasksLeft > 0) {
            tasksLeft = NO_TASKS; // Timers and I/O have their turn now, other tasks do not.
            callbacks.observePriorityFlood(priorityRan);
        }
    }

    private void runExternalLane() {
        if (batchLeft == NOT_COUNTED) {
            // What is there now. What these submit in turn waits for a later tick; and a consumer
            // that runs after its producers to the last slot keeps taking cache lines from them.
            batchLeft = Math.min(tasksLeft, ingress.external.depth());
        }
        while (batchLeft > 0 && mayGoOn()) {
            Runnable task = ingress.external.poll();
            if (task == null) {
                return; // Claimed, but not filled yet.
            }
            batchLeft--;
            tasksLeft--;
            begin();
            callbacks.runTask(task);
            barrier();
        }
        if (tasksLeft == 0) {
            tasksLeft = NO_TASKS;
            if (!ingress.external.isEmpty()) {
                callbacks.observeOverload(ingress.external.depth());
            }
        }
    }

    private void runDeferred() {
        if (deferredLeft == NOT_COUNTED) {
            // What these defer in turn waits for the next turn, or I/O might never be reached.
            deferredLeft = deferred.size();
        }
        while (deferredLeft > 0 && mayGoOn()) {
            deferredLeft--;
            begin();
            callbacks.runDeferred(deferred.take());
            barrier();
        }
    }

    private void poll() {
        promises.tidy();
        operations.endTurn();
        requests.flush();
        if (!isIdle() || !mayWait()) {
            busy = false;
            sleep.pollNow();
            return;
        }
        bounds.bookWait();
        long before = clock.nanos();
        long latest = before + maxWaitNanos;
        sleep.pollUntil(timers.nearest(bounds.earlier(latest)));
        // What comes after a wait happens now: a time that a callback sets would otherwise count
        // from before it.
        clock.update();
        if (clock.nanos() - before > IDLE_NANOS) {
            promises.reap();
        }
    }

    /// Whether waiting would keep nobody waiting. After a turn that ran something the kernel is
    /// looked at once without sleeping: under load more is there already, and producers need not wake a
    /// loop that never announced its sleep.
    private boolean isIdle() {
        return !busy
                && !requests.hasCompleted()
                && microtasks.isQuiet()
                && deferred.isEmpty()
                && ingress.isEmpty();
    }

    private boolean mayWait() {
        return bounds.mayWait() && (bounds.waitsForNothing() || isAlive());
    }

    /// Clause L-8: whether there is anything left to do, or something that may bring it.
    boolean isAlive() {
        return timers.referenced() > 0
                || watchers.referenced() > 0
                || operations.keepsLoopAlive()
                || operations.hasTurnEnd()
                || promises.isAwaiting()
                || !microtasks.isQuiet()
                || !deferred.isEmpty()
                || !ingress.isEmpty();
    }

    /// How much has been run, microtasks included: for telling whether a turn ran anything.
    long work() {
        return callbacks.all.get() + callbacks.microtasks.get();
    }

    private void runIo() {
        int sinceBarrier = 0;
        while (mayGoOn()) {
            if (!dispatch.next()) {
                return; // The final barrier follows.
            }
            begin();
            callbacks.runNext(dispatch);
            if (++sinceBarrier == ioBatch || !bounds.mayRun()) {
                barrier();
                sinceBarrier = 0;
            }
        }
    }

    /// Books a callback that is about to run.
    private void begin() {
        busy = true;
        bounds.bookCallback();
    }

    private void barrier() {
        // Otherwise shutdown decides what becomes of them.
        if (state.is(LoopState.RUNNING) && microtasks.barrier()) {
            busy = true;
        }
    }

    private boolean mayGoOn() {
        return bounds.mayRun() && state.is(LoopState.RUNNING);
    }
}
