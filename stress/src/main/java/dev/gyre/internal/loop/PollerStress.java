package dev.gyre.internal.loop;

import static dev.gyre.LoopState.AWAKE;
import static dev.gyre.LoopState.RUNNING;
import static dev.gyre.LoopState.SLEEPING;
import static dev.gyre.LoopState.TERMINATING;
import static dev.gyre.stress.IdleTask.IDLE;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.gyre.stress.OneBitBackend;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/// Check-then-sleep, the real [Poller] against the real [Ingress]. One task or stop request and one
/// wait: the loop must see the request, or its caller must wake the loop.
public final class PollerStress {
    private static final long LATER = Long.MAX_VALUE;

    private PollerStress() {}

    /// A running loop, as far as it takes part in the protocol.
    private static final class SleepyLoop {
        final StateCell state = new StateCell();
        final OneBitBackend backend = new OneBitBackend();
        final RunLimits limits = new RunLimits();
        final Ingress ingress = new Ingress(state, backend, 64);
        final Poller poller = new Poller(state, ingress, backend, limits);

        SleepyLoop() {
            state.move(AWAKE, RUNNING);
        }

        /// As [Shutdown] begins an end while a thread runs the loop.
        void terminate() {
            while (true) {
                if (state.move(RUNNING, TERMINATING)) {
                    return;
                }
                if (state.move(SLEEPING, TERMINATING)) {
                    backend.wake();
                    return;
                }
            }
        }

        /// Begins a drain, as the loop thread does once a shutdown has begun.
        SleepyLoop draining() {
            state.move(RUNNING, TERMINATING);
            return this;
        }

        void report(LL_Result result) {
            result.r1 = backend.sleep();
            result.r2 = state.get();
        }
    }

    /// Catches a loop that checks before it announces, an announcement without a fence, and a slot
    /// filled without a full fence after the store: a store buffer then hides it from the check.
    @JCStressTest
    @Outcome(id = "did not sleep, RUNNING", expect = ACCEPTABLE, desc = "The loop saw the task.")
    @Outcome(id = "slept until woken, RUNNING", expect = ACCEPTABLE, desc = "The producer saw it.")
    @Outcome(expect = FORBIDDEN, desc = "Neither saw the other: the task waits for ever.")
    @State
    public static class Task {
        private final SleepyLoop loop = new SleepyLoop();

        @Actor
        public void producer() {
            loop.ingress.submit(IDLE);
            loop.backend.leaveAlone();
        }

        @Actor
        public void sleeper() {
            loop.poller.pollUntil(LATER, false);
        }

        @Arbiter
        public void rest(LL_Result result) {
            loop.report(result);
        }
    }

    /// Catches the same if the task opens a new chunk of the lane: the check then reads the
    /// directory.
    @JCStressTest
    @Outcome(id = "did not sleep, RUNNING", expect = ACCEPTABLE, desc = "The loop saw the task.")
    @Outcome(id = "slept until woken, RUNNING", expect = ACCEPTABLE, desc = "The producer saw it.")
    @Outcome(expect = FORBIDDEN, desc = "Neither saw the other: the task waits for ever.")
    @State
    public static class TaskInNextChunk {
        private final SleepyLoop loop = new SleepyLoop();

        public TaskInNextChunk() {
            for (int i = 0; i < ExternalLane.CHUNK; i++) {
                loop.ingress.submit(IDLE);
                loop.ingress.external.poll();
            }
        }

        @Actor
        public void producer() {
            loop.ingress.submit(IDLE);
            loop.backend.leaveAlone();
        }

        @Actor
        public void sleeper() {
            loop.poller.pollUntil(LATER, false);
        }

        @Arbiter
        public void rest(LL_Result result) {
            loop.report(result);
        }
    }

    /// Catches the same for the priority lane. A count published with less than a volatile store
    /// shows only where unlocking is no full fence, which it is on x86.
    @JCStressTest
    @Outcome(id = "did not sleep, RUNNING", expect = ACCEPTABLE, desc = "The loop saw the task.")
    @Outcome(id = "slept until woken, RUNNING", expect = ACCEPTABLE, desc = "The producer saw it.")
    @Outcome(expect = FORBIDDEN, desc = "Neither saw the other: the task waits for ever.")
    @State
    public static class PriorityTask {
        private final SleepyLoop loop = new SleepyLoop();

        @Actor
        public void producer() {
            loop.ingress.submitPriority(IDLE);
            loop.backend.leaveAlone();
        }

        @Actor
        public void sleeper() {
            loop.poller.pollUntil(LATER, false);
        }

        @Arbiter
        public void rest(LL_Result result) {
            loop.report(result);
        }
    }

    /// Catches a stop request that is published with less than a volatile store, or not checked
    /// after the announcement.
    @JCStressTest
    @Outcome(id = "did not sleep, RUNNING", expect = ACCEPTABLE, desc = "The loop saw the request.")
    @Outcome(id = "slept until woken, RUNNING", expect = ACCEPTABLE, desc = "The caller saw it.")
    @Outcome(expect = FORBIDDEN, desc = "Neither saw the other: the run never returns.")
    @State
    public static class Stop {
        private final SleepyLoop loop = new SleepyLoop();

        @Actor
        public void caller() {
            loop.limits.requestStop();
            loop.ingress.wakeIfAsleep();
            loop.backend.leaveAlone();
        }

        @Actor
        public void sleeper() {
            loop.poller.pollUntil(LATER, false);
        }

        @Arbiter
        public void rest(LL_Result result) {
            loop.report(result);
        }
    }

    /// Catches a loop that stores RUNNING after its wait, and an end that does not wake a sleeper.
    @JCStressTest
    @Outcome(id = "did not sleep, TERMINATING", expect = ACCEPTABLE, desc = "The loop saw the end.")
    @Outcome(id = "slept until woken, TERMINATING", expect = ACCEPTABLE, desc = "It was woken.")
    @Outcome(expect = FORBIDDEN, desc = "The end was overwritten, or nobody woke the loop.")
    @State
    public static class Terminating {
        private final SleepyLoop loop = new SleepyLoop();

        @Actor
        public void caller() {
            loop.terminate();
            loop.backend.leaveAlone();
        }

        @Actor
        public void sleeper() {
            loop.poller.pollUntil(LATER, false);
        }

        @Arbiter
        public void rest(LL_Result result) {
            loop.report(result);
        }
    }

    /// Catches both mistakes together: a loop that is woken for a task, and returns to RUNNING just
    /// when the shutdown begins.
    @JCStressTest
    @Outcome(id = "did not sleep, TERMINATING", expect = ACCEPTABLE, desc = "The loop saw either.")
    @Outcome(id = "slept until woken, TERMINATING", expect = ACCEPTABLE, desc = "It was woken.")
    @Outcome(expect = FORBIDDEN, desc = "The end was overwritten, or nobody woke the loop.")
    @State
    public static class TaskAndTerminating {
        private final SleepyLoop loop = new SleepyLoop();

        @Actor
        public void caller() {
            loop.ingress.submit(IDLE);
            loop.terminate();
            loop.backend.leaveAlone();
        }

        @Actor
        public void sleeper() {
            loop.poller.pollUntil(LATER, false);
            loop.poller.pollUntil(LATER, false);
        }

        @Arbiter
        public void rest(LL_Result result) {
            loop.report(result);
        }
    }

    /// Catches a producer that wakes only a running loop: while it drains, the loop sleeps too.
    @JCStressTest
    @Outcome(id = "did not sleep, TERMINATING", expect = ACCEPTABLE, desc = "The loop saw it.")
    @Outcome(id = "slept until woken, TERMINATING", expect = ACCEPTABLE, desc = "It was woken.")
    @Outcome(expect = FORBIDDEN, desc = "Neither saw the other: the drain lasts to its deadline.")
    @State
    public static class PriorityTaskInDrain {
        private final SleepyLoop loop = new SleepyLoop().draining();

        @Actor
        public void producer() {
            loop.ingress.submitPriority(IDLE);
            loop.backend.leaveAlone();
        }

        @Actor
        public void sleeper() {
            loop.poller.pollUntil(LATER, true);
        }

        @Arbiter
        public void rest(LL_Result result) {
            loop.report(result);
        }
    }

    /// Catches the same for a task whose slot was claimed before the lane was closed, and is filled
    /// during the drain.
    @JCStressTest
    @Outcome(id = "did not sleep, TERMINATING", expect = ACCEPTABLE, desc = "The loop saw it.")
    @Outcome(id = "slept until woken, TERMINATING", expect = ACCEPTABLE, desc = "It was woken.")
    @Outcome(expect = FORBIDDEN, desc = "Neither saw the other: the drain lasts to its deadline.")
    @State
    public static class ExternalTaskInDrain {
        private final SleepyLoop loop = new SleepyLoop().draining();

        @Actor
        public void producer() {
            loop.ingress.external.offer(IDLE);
            loop.ingress.wakeIfAsleep();
            loop.backend.leaveAlone();
        }

        @Actor
        public void sleeper() {
            loop.poller.pollUntil(LATER, true);
        }

        @Arbiter
        public void rest(LL_Result result) {
            loop.report(result);
        }
    }

    /// Catches a close that a drain neither sees before it sleeps nor is woken by.
    @JCStressTest
    @Outcome(id = "did not sleep, TERMINATING", expect = ACCEPTABLE, desc = "The loop saw it.")
    @Outcome(id = "slept until woken, TERMINATING", expect = ACCEPTABLE, desc = "It was woken.")
    @Outcome(expect = FORBIDDEN, desc = "Neither saw the other: close waits for the deadline.")
    @State
    public static class CloseInDrain {
        private final SleepyLoop loop = new SleepyLoop().draining();

        @Actor
        public void closer() {
            loop.limits.expire();
            loop.backend.wake();
            loop.backend.leaveAlone();
        }

        @Actor
        public void sleeper() {
            loop.poller.pollUntil(LATER, true);
        }

        @Arbiter
        public void rest(LL_Result result) {
            loop.report(result);
        }
    }
}
