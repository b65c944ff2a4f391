package dev.gyre.testkit.internal;

import dev.gyre.CooperativeExecutor;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/// Runs work of a simulated loop on threads that take turns with the loop thread.
///
/// ```
///     loop thread:   polls ──▶ turn to a worker ── waits ──▶ polls ──▶ …
///     worker:                   runs its task ──▶ ends, or waits for the loop
/// ```
///
/// The loop thread passes the turn only while it polls: to a task that starts, and to a worker
/// whose condition holds. Both are scheduled like other events, so faults may delay them. The world
/// does not advance while a worker runs.
///
/// Loop thread only, except for what the interface says.
public final class WorkerThreads implements CooperativeExecutor {
    /// How long a worker may run in real time, by the system property `gyre.workerMillis`.
    private static final long DEFAULT_MAX_MILLIS = 10_000;

    /// A worker that waits more often than this after the world was closed does not end.
    private static final int MAX_TURNS_AT_CLOSE = 1_000;

    private static final int MAX_FRAMES = 12;

    /// Longer waits are cut to this: their deadline could not be represented.
    private static final long MAX_WAIT_NANOS = Duration.ofDays(10_000).toNanos();

    private final SimulatedKernel kernel;

    /// Workers that have started and not ended, oldest first.
    private final Set<Worker> workers = new LinkedHashSet<>();

    private final long maxMillis = Long.getLong("gyre.workerMillis", DEFAULT_MAX_MILLIS);
    private int started;

    // Shared: written by the loop thread, read by any thread.
    private volatile @Nullable Worker running;
    private volatile boolean closed;

    WorkerThreads(SimulatedKernel kernel) {
        this.kernel = kernel;
    }

    /// A platform thread, because an interrupt must reach it in its turn only.
    private final class Worker extends Thread {
        private final Runnable task;
        private final Semaphore turn = new Semaphore(0);
        private final Semaphore returned = new Semaphore(0);

        // Written by the thread that has the turn.
        private @Nullable BooleanSupplier condition;
        private long deadlineNanos;
        private boolean timed;
        private boolean scheduled;
        private boolean ended;

        // Shared: guarded by this.
        private boolean waiting;
        private boolean interruptPending;

        Worker(Runnable task, int number) {
            super("simulated-worker-" + number);
            this.task = task;
            setDaemon(true);
        }

        @Override
        public void run() {
            turn.acquireUninterruptibly();
            try {
                task.run();
            } finally {
                ended = true;
                returned.release();
            }
        }

        /// Returns the turn, and waits for the next one.
        void returnTurn() {
            synchronized (this) {
                waiting = true;
            }
            returned.release();
            turn.acquireUninterruptibly();
            synchronized (this) {
                waiting = false;
                if (interruptPending) {
                    interruptPending = false;
                    super.interrupt();
                }
            }
        }

        @Override
        public synchronized void interrupt() {
            if (waiting) {
                interruptPending = true;
            } else {
                super.interrupt();
            }
        }

        private synchronized boolean isInterruptPending() {
            return interruptPending;
        }

        boolean isReady() {
            BooleanSupplier awaited = condition;
            return awaited == null
                    || awaited.getAsBoolean()
                    || isInterruptPending()
                    || (timed && kernel.nanoTime() - deadlineNanos >= 0);
        }
    }

    // ------------------------------------------------------------------ workers

    @Override
    public void execute(Runnable task) {
        kernel.runOutside(() -> start(task));
    }

    @Override
    public boolean isWorker() {
        Worker worker = running;
        return worker == Thread.currentThread();
    }

    @Override
    public void await(BooleanSupplier condition) throws InterruptedException {
        Worker worker = current();
        worker.timed = false;
        await(worker, condition);
    }

    @Override
    public boolean await(BooleanSupplier condition, Duration timeout) throws InterruptedException {
        Worker worker = current();
        worker.timed = true;
        worker.deadlineNanos = kernel.nanoTime() + Math.min(timeout.toNanos(), MAX_WAIT_NANOS);
        await(worker, condition);
        return condition.getAsBoolean();
    }

    /// Lets the other workers run once.
    void yieldTurn() {
        Worker worker = current();
        if (!closed) {
            worker.timed = false;
            worker.condition = () -> true;
            worker.returnTurn();
            worker.condition = null;
        }
    }

    private Worker current() {
        Worker worker = running;
        if (worker == null || worker != Thread.currentThread()) {
            throw new IllegalStateException(
                    Thread.currentThread() + " runs no work of this simulated world");
        }
        return worker;
    }

    private void await(Worker worker, BooleanSupplier condition) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted before waiting for the simulated loop");
        }
        if (condition.getAsBoolean()) {
            return;
        }
        if (closed) {
            throw new InterruptedException("the simulated world is closed");
        }
        worker.condition = condition;
        worker.returnTurn();
        worker.condition = null;
        if (!condition.getAsBoolean() && Thread.interrupted()) {
            throw new InterruptedException("interrupted while waiting for the simulated loop");
        }
    }

    // ------------------------------------------------------------------ the loop thread

    private void start(Runnable task) {
        Worker worker = new Worker(task, ++started);
        workers.add(worker);
        worker.start();
        passTurn(worker);
    }

    /// Schedules the workers whose wait has ended.
    void scheduleReady() {
        for (Worker worker : workers) {
            if (!worker.scheduled && worker.condition != null && worker.isReady()) {
                worker.scheduled = true;
                kernel.runOutside(() -> passTurn(worker));
            }
        }
    }

    /// Returns the earliest deadline of a waiting worker, or the given one if that is earlier.
    long earliestDeadline(long nanos) {
        long earliest = nanos;
        for (Worker worker : workers) {
            boolean waits = worker.condition != null && worker.timed && !worker.scheduled;
            if (waits && worker.deadlineNanos - earliest < 0) {
                earliest = worker.deadlineNanos;
            }
        }
        return earliest;
    }

    /// Lets a worker run until it ends or waits.
    private void passTurn(Worker worker) {
        if (worker.ended) {
            return;
        }
        worker.scheduled = false;
        running = worker;
        worker.turn.release();
        try {
            if (!worker.returned.tryAcquire(maxMillis, TimeUnit.MILLISECONDS)) {
                workers.remove(worker);
                throw kernel.failure(describe(worker));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            workers.remove(worker);
            throw kernel.failure("interrupted while " + describe(worker));
        } finally {
            running = null;
        }
        if (worker.ended) {
            workers.remove(worker);
        }
    }

    private String describe(Worker worker) {
        List<StackTraceElement> stack = Arrays.asList(worker.getStackTrace());
        return "work outside the loop, such as a blocking handler, has not returned for "
                + maxMillis
                + " ms of real time, and the simulated world waits for it. Thread "
                + worker.getName()
                + " is "
                + worker.getState()
                + " at\n"
                + stack.stream()
                        .limit(MAX_FRAMES)
                        .map(frame -> "    " + frame + "\n")
                        .collect(Collectors.joining())
                + "Only waits for the loop return the turn: Promise.await, the body and the"
                + " response of a request. Replace latches, queues and sleeps by those, or raise"
                + " the system property gyre.workerMillis if the work is only slow";
    }

    /// Ends all workers, after the loop was closed. Those that still wait are interrupted.
    public void close() {
        closed = true;
        for (int turns = 0; !workers.isEmpty(); turns++) {
            Worker worker = workers.iterator().next();
            if (turns == MAX_TURNS_AT_CLOSE) {
                throw kernel.failure(
                        "a blocking handler ignores that its loop is closed: " + describe(worker));
            }
            if (!worker.isReady()) {
                worker.interrupt();
            }
            passTurn(worker);
        }
    }
}
