package dev.gyre.internal.loop;

import static dev.gyre.LoopState.RUNNING;

import dev.gyre.internal.backend.Backend;

/// How far a run goes: clause L-7. Whatever the course, it ends with the loop, and all but one with a stop.
///
/// Loop thread only.
final class Courses {
    /// What ends a run.
    enum Course {
        UNTIL_STOPPED,
        UNTIL_STOPPED_AND_DRAINED,
        WHILE_ALIVE,
        SOME,
        FOR_A_TIME
    }

    private final StateCell state;
    private final StopRequest stop;
    private final RunLimits bounds;
    private final Microtasks microtasks;
    private final Backend backend;
    private final Tick tick;

    Courses(LoopComponents components, Tick tick) {
        state = components.state;
        stop = components.stop;
        bounds = components.bounds;
        microtasks = components.microtasks;
        backend = components.backend;
        this.tick = tick;
    }

    void follow(Course course) {
        switch (course) {
            case UNTIL_STOPPED -> runUntilStopped();
            case UNTIL_STOPPED_AND_DRAINED -> runUntilDrained();
            case WHILE_ALIVE -> runWhileAlive();
            case SOME -> runWhatIsReady();
            case FOR_A_TIME -> runForATime();
        }
    }

    private boolean mayGoOn() {
        return state.is(RUNNING) && !stop.notice();
    }

    private void runUntilStopped() {
        while (mayGoOn()) {
            tick.turn();
        }
    }

    private void runUntilDrained() {
        runUntilStopped();
        bounds.blockOnlyIfAlive();
        while (state.is(RUNNING) && tick.isAlive()) {
            tick.turn();
        }
    }

    private void runWhileAlive() {
        bounds.blockOnlyIfAlive();
        while (mayGoOn() && bounds.mayRun() && tick.isAlive()) {
            tick.turn();
            if (bounds.isForOne() && !microtasks.isEmpty()) {
                return; // They used up a tick's budget: the one callback may never come.
            }
        }
    }

    private void runWhatIsReady() {
        bounds.blockOnlyIfAlive();
        long before = tick.work();
        boolean waited = false;
        while (mayGoOn() && tick.isAlive()) {
            tick.turn();
            // One turn more after the wait: what woke us may be a task, which that turn runs.
            if (waited || tick.work() != before) {
                return;
            }
            waited = !bounds.mayWait();
        }
    }

    private void runForATime() {
        // At least one turn, so that no time at all still runs what is ready.
        while (mayGoOn()) {
            tick.turn();
            if (bounds.isOver(backend.nanoTime())) {
                return;
            }
        }
    }
}
