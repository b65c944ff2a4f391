package dev.gyre.internal.loop;

import static dev.gyre.LoopState.AWAKE;
import static dev.gyre.LoopState.RUNNING;

import dev.gyre.LoopAlreadyRunningException;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.ReentrantRunException;
import dev.gyre.RunMode;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.base.Confinement;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.promise.Promises;
import dev.gyre.internal.time.LoopClock;

import org.jspecify.annotations.Nullable;

/// Makes a thread the loop thread for a run (clauses L-2 and L-4), and runs ticks until the run
/// ends (clause L-7). Every run ends when the loop terminates. A stop request also ends a run,
/// unless the run drains the loop.
final class RunControl {
    private final String name;
    private final StateCell state;
    private final RunLimits limits;
    private final Ingress ingress;
    private final LoopClock clock;
    private final Confinement confinement;
    private final Backend backend;
    private final Promises promises;
    private final Microtasks microtasks;
    private final Callbacks callbacks;
    private final LoopTimings timings;
    private final Tick tick;
    private final Shutdown shutdown;

    // Kept, so that a run allocates nothing.
    private final Runnable untilStopped = this::tickUntilStopped;
    private final Runnable untilDrained = this::tickUntilDrained;
    private final Runnable untilEmpty = this::tickUntilEmpty;
    private final Runnable untilSomethingRan = this::tickUntilSomethingRan;
    private final Runnable untilTimeIsUp = this::tickUntilTimeIsUp;

    RunControl(LoopComponents components, Tick tick, Shutdown shutdown) {
        name = components.config.name();
        state = components.state;
        limits = components.limits;
        ingress = components.ingress;
        clock = components.clock;
        confinement = components.confinement;
        backend = components.backend;
        promises = components.promises;
        microtasks = components.microtasks;
        callbacks = components.callbacks;
        timings = components.timings;
        this.tick = tick;
        this.shutdown = shutdown;
    }

    /// Any thread.
    void stop() {
        limits.requestStop();
        ingress.wakeIfAsleep();
    }

    void run(RunMode mode) {
        enter();
        long _ = run(mode == RunMode.DRAINED ? untilDrained : untilStopped);
    }

    long runOne() {
        enter();
        limits.limitToOneCallback();
        return run(untilEmpty);
    }

    long runSome() {
        enter();
        limits.limitWaits(1);
        return run(untilSomethingRan);
    }

    long runUntilEmpty() {
        enter();
        return run(untilEmpty);
    }

    long runUntil(long deadlineNanos) {
        enter();
        limits.limitTime(deadlineNanos);
        return run(untilTimeIsUp);
    }

    /// Makes the calling thread the loop thread, of a run without limits.
    private void enter() {
        StackReserve.requireLarge();
        Thread current = Thread.currentThread();
        if (confinement.isHere()) {
            throw new ReentrantRunException(
                    "loop " + name + " is running on this thread: a callback cannot run it again");
        }
        if (current.isVirtual()) {
            throw new WrongThreadException(
                    "loop "
                            + name
                            + " blocks in the kernel, which would pin the carrier of "
                            + current
                            + ": run it on a platform thread (Thread.ofPlatform())");
        }
        if (!state.move(AWAKE, RUNNING)) {
            LoopState found = state.get();
            if (found.isShuttingDown()) {
                throw new LoopTerminatedException(
                        "loop " + name + " is " + found + " and cannot run again");
            }
            throw new LoopAlreadyRunningException(
                    "loop " + name + " is running on " + confinement.thread());
        }
        clock.update();
        confinement.set(current);
        promises.awaitSetup();
        limits.none();
    }

    /// Runs ticks, and leaves the run.
    ///
    /// @return the number of callbacks run
    private long run(Runnable ticks) {
        long before = callbacks.all.get();
        Throwable thrown = null;
        try {
            try {
                ticks.run();
            } finally {
                promises.tidy(); // In here: it may throw, and the run has to be left nevertheless.
            }
        } catch (Throwable e) {
            thrown = e;
        }
        leave(thrown);
        return callbacks.all.get() - before;
    }

    /// Ends a run: moves back to AWAKE, or drains if a shutdown has begun meanwhile. Then throws
    /// what the run threw.
    private void leave(@Nullable Throwable thrown) {
        limits.clearStop();
        timings.runEnded();
        // Before the state says AWAKE: from then on another thread may enter.
        backend.detach();
        Thread current = confinement.thread();
        confinement.set(null);
        if (state.move(RUNNING, AWAKE)) {
            callbacks.rethrow(thrown);
            return;
        }
        confinement.set(current);
        promises.awaitSetup();
        try {
            callbacks.hold(thrown);
            shutdown.run(true);
        } finally {
            confinement.set(null);
        }
    }

    private boolean mayContinue() {
        return state.is(RUNNING) && !limits.noticeStop();
    }

    private void tickUntilStopped() {
        while (mayContinue()) {
            tick.run();
        }
    }

    private void tickUntilDrained() {
        tickUntilStopped();
        limits.blockOnlyIfAlive();
        while (state.is(RUNNING) && tick.isAlive()) {
            tick.run();
        }
    }

    private void tickUntilEmpty() {
        limits.blockOnlyIfAlive();
        while (mayContinue() && limits.mayRun() && tick.isAlive()) {
            tick.run();
            if (limits.isForOneCallback() && !microtasks.isEmpty()) {
                return; // They used up a tick's budget: the one callback may never be reached.
            }
        }
    }

    private void tickUntilSomethingRan() {
        limits.blockOnlyIfAlive();
        long before = tick.work();
        boolean waited = false;
        while (mayContinue() && tick.isAlive()) {
            tick.run();
            // One tick more after the wait: a task that woke the loop runs in that tick.
            if (waited || tick.work() != before) {
                return;
            }
            waited = !limits.mayWait();
        }
    }

    private void tickUntilTimeIsUp() {
        // At least one tick, so that a run of no duration still runs what is ready.
        while (mayContinue()) {
            tick.run();
            if (limits.isTimeUp(backend.nanoTime())) {
                return;
            }
        }
    }
}
