package dev.gyre.internal.loop;

import static dev.gyre.LoopState.AWAKE;
import static dev.gyre.LoopState.RUNNING;

import dev.gyre.LoopAlreadyRunningException;
import dev.gyre.LoopState;
import dev.gyre.LoopTerminatedException;
import dev.gyre.ReentrantRunException;
import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.base.Confinement;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.base.StackReserve;
import dev.gyre.internal.loop.Courses.Course;
import dev.gyre.internal.promise.Promises;
import dev.gyre.internal.time.LoopClock;

import org.jspecify.annotations.Nullable;

/// How a thread becomes the loop thread, and how it leaves: clauses L-2 and L-4.
final class RunControl {
    private final String name;
    private final StateCell state;
    private final StopRequest stop;
    private final RunLimits bounds;
    private final LoopClock clock;
    private final Confinement confinement;
    private final Backend backend;
    private final Promises promises;
    private final FailureHandler failures;
    private final Counter callbacks;
    private final Courses courses;
    private final Shutdown shutdown;

    RunControl(LoopComponents components, Courses courses, Shutdown shutdown) {
        name = components.config.name();
        state = components.state;
        stop = components.stop;
        bounds = components.bounds;
        clock = components.clock;
        confinement = components.confinement;
        backend = components.backend;
        promises = components.promises;
        failures = components.failures;
        callbacks = components.callbacks.all;
        this.courses = courses;
        this.shutdown = shutdown;
    }

    /// Makes the calling thread the loop thread, of a run without bounds as yet.
    RunLimits enter() {
        StackReserve.requireLarge();
        Thread current = Thread.currentThread();
        if (confinement.isHere()) {
            throw new ReentrantRunException(
                    "loop " + name + " is running on this thread: callbacks do not nest");
        }
        if (current.isVirtual()) {
            throw new WrongThreadException(
                    "loop "
                            + name
                            + " waits in the kernel, which would pin the carrier of "
                            + current
                            + ": run it on a platform thread (Thread.ofPlatform())");
        }
        if (!state.move(AWAKE, RUNNING)) {
            LoopState found = state.get();
            if (found.isEnding()) {
                throw new LoopTerminatedException(
                        "loop " + name + " is " + found + " and cannot run again");
            }
            throw new LoopAlreadyRunningException(
                    "loop " + name + " is running on " + confinement.thread());
        }
        clock.update();
        confinement.set(current);
        promises.takeOver();
        bounds.none();
        return bounds;
    }

    /// Runs to the end of the course, and out again.
    ///
    /// @return the number of callbacks run
    long drive(Course course) {
        long before = callbacks.get();
        Throwable thrown = null;
        try {
            try {
                courses.follow(course);
            } finally {
                promises.tidy(); // In here, for it may throw, and a run is left whatever happens.
            }
        } catch (Throwable e) {
            thrown = e;
        }
        leave(thrown);
        return callbacks.get() - before;
    }

    /// Ends a run: back to AWAKE, or, if shutdown began meanwhile, to the loop's end. Then throws what
    /// the run threw.
    private void leave(@Nullable Throwable thrown) {
        stop.honour();
        // Before the state says AWAKE: from then on another thread may come in.
        backend.detach();
        Thread current = confinement.thread();
        confinement.set(null);
        if (state.move(RUNNING, AWAKE)) {
            failures.rethrow(thrown);
            return;
        }
        confinement.set(current);
        promises.takeOver();
        try {
            failures.hold(thrown);
            shutdown.carryOut(true);
        } finally {
            confinement.set(null);
        }
    }
}
