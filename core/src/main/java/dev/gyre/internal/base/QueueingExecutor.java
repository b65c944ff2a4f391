package dev.gyre.internal.base;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.BoundedExecutor;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// Limits running and queued work in front of another executor.
///
/// A *permit* entitles one item to run. An item that ends passes its permit to the oldest queued
/// item.
///
/// Any thread.
public final class QueueingExecutor implements BoundedExecutor {
    /// Where a queued item runs if the executor rejects it.
    private enum Fallback {
        /// On the calling thread, which the executor has provided for work.
        THIS_THREAD,
        /// On another thread, because the caller only submits work.
        ANOTHER_THREAD
    }

    /// How long a platform thread waits for work before it ends.
    private static final long IDLE_SECONDS = 30;

    private final int maxRunning;
    private final int maxQueued;
    private final Executor executor;
    private final Executor lastResort;

    // Shared: guarded by the lock, which is not held while foreign code runs. Invariant: if an item
    // is queued, all permits are in use.
    private final Object lock = new Object();
    private final WorkQueue queue = new WorkQueue();
    private int running;
    private long rejections;
    private long rejected;
    private long completed;
    private long totalWaitNanos;
    private long maxWaitNanos;

    /// Queues work beyond the limit instead of rejecting it. For callers with one entry each.
    public final Waiting waiting = new Waiting();

    /// @param lastResort runs queued work that the executor rejects
    public QueueingExecutor(Executor executor, Executor lastResort, int maxRunning, int maxQueued) {
        if (maxRunning < 1) {
            throw new IllegalArgumentException(
                    "maxRunning must be at least 1, but is " + maxRunning);
        }
        if (maxQueued < 0) {
            throw new IllegalArgumentException("maxQueued must be at least 0, but is " + maxQueued);
        }
        this.executor = executor;
        this.lastResort = lastResort;
        this.maxRunning = maxRunning;
        this.maxQueued = maxQueued;
    }

    public static QueueingExecutor onVirtualThreads(int maxRunning, int maxQueued) {
        Executor virtual = WorkThreads.virtual("gyre-worker-");
        return new QueueingExecutor(virtual, virtual, maxRunning, maxQueued);
    }

    public static QueueingExecutor on(Executor executor, int maxRunning, int maxQueued) {
        return new QueueingExecutor(
                executor, WorkThreads.virtual("gyre-worker-"), maxRunning, maxQueued);
    }

    /// Creates an executor on daemon threads, which start on demand and end when idle.
    public static QueueingExecutor onPlatformThreads(String name, int threads, int maxQueued) {
        Objects.requireNonNull(name, "name");
        if (threads < 1) {
            throw new IllegalArgumentException("threads must be at least 1, but is " + threads);
        }
        // Its queue has at most one entry for each thread that ends work and submits the next.
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(
                        threads,
                        threads,
                        IDLE_SECONDS,
                        TimeUnit.SECONDS,
                        new LinkedBlockingQueue<>(),
                        WorkThreads.platformFactory(name));
        pool.allowCoreThreadTimeOut(true);
        return on(pool, threads, maxQueued);
    }

    @Override
    public void execute(Runnable work) {
        execute(work, maxQueued);
    }

    /// @param limit the maximum of queued work for which this one is still accepted
    private void execute(Runnable work, int limit) {
        Objects.requireNonNull(work, "work");
        StackReserve.requireMedium();
        Item item = new Item(work, this);
        if (isExecutorShutDown()) {
            // Without this check, newly queued items would keep its threads busy.
            countRejected();
            throw new RejectedExecutionException(
                    this + " rejected " + item + ": its executor has been shut down");
        }
        synchronized (lock) {
            if (running >= maxRunning) {
                if (queue.size() >= limit) {
                    rejected++;
                    throw full(item);
                }
                queue.add(item);
                return;
            }
            assert queue.size() == 0 : "a permit is free while items are queued";
            running++;
        }
        start(item);
    }

    private void countRejected() {
        synchronized (lock) {
            rejected++;
        }
    }

    /// See [#waiting].
    public final class Waiting implements Executor {
        private Waiting() {}

        @Override
        public void execute(Runnable work) {
            QueueingExecutor.this.execute(work, Integer.MAX_VALUE);
        }

        public boolean remove(Runnable work) {
            return QueueingExecutor.this.remove(work);
        }
    }

    @Override
    public boolean remove(Runnable work) {
        Objects.requireNonNull(work, "work");
        StackReserve.requireMedium();
        synchronized (lock) {
            return queue.remove(work);
        }
    }

    @Override
    public int running() {
        synchronized (lock) {
            return running;
        }
    }

    @Override
    public int waiting() {
        synchronized (lock) {
            return queue.size();
        }
    }

    @Override
    public long rejected() {
        synchronized (lock) {
            return rejected;
        }
    }

    @Override
    public long completed() {
        synchronized (lock) {
            return completed;
        }
    }

    @Override
    public Duration totalWait() {
        synchronized (lock) {
            return Duration.ofNanos(totalWaitNanos);
        }
    }

    @Override
    public Duration maxWait() {
        synchronized (lock) {
            return Duration.ofNanos(maxWaitNanos);
        }
    }

    @Override
    public String toString() {
        int runningNow;
        int waitingNow;
        synchronized (lock) {
            runningNow = running;
            waitingNow = queue.size();
        }
        return "BoundedExecutor[%d of %d running, %d of %d waiting]"
                .formatted(runningNow, maxRunning, waitingNow, maxQueued);
    }

    private boolean isExecutorShutDown() {
        return executor instanceof ExecutorService service && service.isShutdown();
    }

    private RejectedExecutionException full(Item item) {
        return new RejectedExecutionException(
                ("rejected %s: %d of at most %d are running and %d of at most %d are waiting; retry"
                                + " when some have ended, or raise a limit of"
                                + " the BoundedExecutor")
                        .formatted(item, maxRunning, maxRunning, maxQueued, maxQueued));
    }

    private void start(Item item) {
        try {
            item.submitTo(executor);
        } catch (Throwable thrown) {
            // Other items may have queued for this permit meanwhile.
            if (item.claim()) {
                countRejected();
                passPermit(Fallback.ANOTHER_THREAD);
            } else if (item.endedInside) {
                passPermit(Fallback.THIS_THREAD);
            }
            throw thrown;
        }
        if (item.endedInside) {
            passPermit(Fallback.THIS_THREAD);
        }
    }

    /// Passes a free permit to the oldest queued item. Throws nothing, because the caller returns
    /// or throws a result of its own.
    private void passPermit(Fallback fallback) {
        Item next;
        do {
            next = pollOrReleasePermit();
        } while (next != null && endedAfterSubmit(next, fallback));
    }

    private @Nullable Item pollOrReleasePermit() {
        synchronized (lock) {
            Item next = queue.poll();
            if (next == null) {
                running--;
            }
            return next;
        }
    }

    /// Submits a queued item together with the permit.
    ///
    /// @return true if it has ended in this call, so that the caller has the permit again
    private boolean endedAfterSubmit(Item item, Fallback fallback) {
        try {
            item.submitTo(executor);
        } catch (Throwable thrown) {
            if (item.hasBegun()) {
                report(thrown);
                return item.endedInside;
            }
            logRejection(thrown);
            return switch (fallback) {
                case THIS_THREAD -> endedAfterRun(item);
                case ANOTHER_THREAD -> endedAfterLastResort(item);
            };
        }
        return item.endedInside;
    }

    private boolean endedAfterLastResort(Item item) {
        try {
            item.submitTo(lastResort);
        } catch (Throwable thrown) {
            if (item.hasBegun()) {
                report(thrown);
                return item.endedInside;
            }
            // It was accepted, so it must run, even on this thread.
            return endedAfterRun(item);
        }
        return item.endedInside;
    }

    private static boolean endedAfterRun(Item item) {
        if (!item.claim()) {
            return false; // The executor kept the rejected item and has begun it now.
        }
        try {
            item.runWork();
        } catch (Throwable thrown) {
            report(thrown);
        }
        return true;
    }

    private void countCompleted(long waitedNanos) {
        synchronized (lock) {
            completed++;
            totalWaitNanos += waitedNanos;
            maxWaitNanos = Math.max(maxWaitNanos, waitedNanos);
        }
    }

    private void logRejection(Throwable rejection) {
        long occurrence;
        synchronized (lock) {
            occurrence = ++rejections;
        }
        try {
            // A long queue may be rejected item by item. A shutdown is no reason for a warning.
            if (Long.bitCount(occurrence) == 1 && !isExecutorShutDown()) {
                LOG.log(
                        Level.WARNING,
                        this
                                + ": the executor rejected queued work, which now runs without it"
                                + " (occurrence "
                                + occurrence
                                + "); raise the executor's own limits above these",
                        rejection);
            }
        } catch (Throwable thrown) {
            report(thrown);
        }
    }

    /// Reports an exception that has no caller, like an uncaught one.
    private static void report(Throwable thrown) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
        } catch (Throwable ignored) {
            // The JVM ignores exceptions of a handler, too.
        }
    }

    /// Accepted work. It begins once, although an executor may accept it and throw, or run it
    /// twice.
    static final class Item extends IntrusiveList.Node<Item> implements Runnable {
        final Runnable work;
        private final QueueingExecutor owner;
        private final long submittedNanos = System.nanoTime();

        // Shared: links of items with the same work, guarded by the owner's lock.
        @Nullable Item nextSame;
        @Nullable Item lastSame;

        // Shared: set once, by the thread that begins it.
        private final AtomicBoolean begun = new AtomicBoolean();

        // Shared: written by the submitting thread, read by the thread that runs the item. That
        // thread only compares it with itself, which needs no ordering.
        private @Nullable Thread submitter;

        /// Whether it ended on the submitting thread before the executor returned. The submitter
        /// then passes the permit: if each item did so itself, a queue would nest calls.
        ///
        /// Submitting thread only.
        private boolean endedInside;

        Item(Runnable work, QueueingExecutor owner) {
            this.work = work;
            this.owner = owner;
        }

        /// Returns true to the one caller that may begin it.
        private boolean claim() {
            return begun.compareAndSet(false, true);
        }

        private boolean hasBegun() {
            return begun.get();
        }

        private void submitTo(Executor executor) {
            submitter = Thread.currentThread();
            try {
                executor.execute(this);
            } finally {
                // A pool thread may later run an item that it submitted itself.
                submitter = null;
            }
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // identity of threads
        public void run() {
            if (!claim()) {
                return;
            }
            boolean inside = submitter == Thread.currentThread();
            try {
                runWork();
            } finally {
                if (inside) {
                    endedInside = true;
                } else {
                    owner.passPermit(Fallback.THIS_THREAD);
                }
            }
        }

        /// Runs the work and counts it. Once, by the thread that has claimed it.
        private void runWork() {
            long waited = System.nanoTime() - submittedNanos;
            try {
                work.run();
            } finally {
                owner.countCompleted(waited);
            }
        }

        /// Excludes the work's toString, which may throw or be long.
        @Override
        public String toString() {
            return Objects.toIdentityString(work);
        }
    }
}
