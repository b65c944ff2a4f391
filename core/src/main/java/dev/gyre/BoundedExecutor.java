package dev.gyre;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.internal.base.StackReserve;

import org.jspecify.annotations.Nullable;

import java.lang.System.Logger.Level;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;

/// Runs blocking work elsewhere, at most so much at a time; at most so much more waits, in order,
/// and what is beyond that is refused. Whatever was accepted runs once, unless it was removed.
///
/// ```java
/// var workers = BoundedExecutor.bounded(16, 1_000);
/// workers.execute(() -> archive.write(report));
/// ```
///
/// **Threads.** All methods may be called from any thread, and none waits for work. One object
/// serves any number of loops. On virtual threads each work has a fresh one, which inherits
/// nothing from its creator and ends with the work, so there is nothing to close. On a given
/// executor each work is handed over on its own; the executor remains the caller's to shut down.
///
/// **Order.** Places are given in the order in which work was handed in: a newcomer never overtakes
/// one that waits. With a single place work also runs in that order; with more, works that have
/// their places race each other. A place counts as taken from the hand-over to the executor until
/// the work has ended.
///
/// An executor that runs work on the calling thread does so in [#execute] as well; the thread
/// whose work has ended then runs those that wait, one after the other and not nested.
///
/// **Failure.** Work that throws gives its place back, and the throwable goes on to the thread or
/// executor that ran it, as it would without bounds.
///
/// An executor that refuses a newcomer, whatever it throws, has the place given back and the
/// throwable passed to the caller of [#execute]. Work that waits was accepted already: if the
/// executor refuses to take it over when another has ended, it runs on the thread that has just
/// become free, with whatever interrupt or thread-local that one carries, and a warning is
/// logged. So after an executor was shut down newcomers are refused, and those that wait still
/// run, on its own threads. If nothing has ended, and the place was only given back for a refused
/// newcomer, the one that waits runs on a virtual thread instead: the caller may be a loop.
///
/// Work that an executor takes and then drops without a word keeps its place for ever.
public final class BoundedExecutor implements Executor {
    /// Where waiting work runs that the executor refuses.
    enum Refuge {
        /// On a thread that the executor has lent for work anyhow.
        THIS_THREAD,
        /// Anywhere but on this thread, which came only to hand something in.
        ANOTHER_THREAD
    }

    private enum Admission {
        PLACE,
        LINE,
        NEITHER
    }

    private final int atOnce;
    private final int queued;
    private final Executor executor;
    private final Executor lastResort;

    // Shared: written and read by any thread, guarded by the lock, which is not held while foreign
    // code runs. Whenever it is free: if somebody waits, all places are taken.
    private final Object lock = new Object();
    private final WorkQueue line = new WorkQueue();
    private int running;
    private long refusals;

    BoundedExecutor(Executor executor, Executor lastResort, int atOnce, int queued) {
        if (atOnce < 1) {
            throw new IllegalArgumentException("atOnce must be at least 1, but is " + atOnce);
        }
        if (queued < 0) {
            throw new IllegalArgumentException("queued must be at least 0, but is " + queued);
        }
        this.executor = executor;
        this.lastResort = lastResort;
        this.atOnce = atOnce;
        this.queued = queued;
    }

    /// Runs work on virtual threads named `gyre-worker-1` and so on.
    ///
    /// @param atOnce how much work may run at a time, at least 1
    /// @param queued how much more may wait; 0 refuses all that cannot begin at once
    /// @throws IllegalArgumentException if a limit is too small
    public static BoundedExecutor bounded(int atOnce, int queued) {
        Executor virtual = virtualThreads();
        return new BoundedExecutor(virtual, virtual, atOnce, queued);
    }

    /// Runs work on the given executor, and hands it no more than `atOnce` at a time.
    ///
    /// The thread whose work has ended hands over the next one while the executor still counts
    /// that thread as busy. A pool without a queue of its own therefore needs one thread more
    /// than `atOnce`.
    ///
    /// @param atOnce how much work may run at a time, at least 1
    /// @param queued how much more may wait; 0 refuses all that cannot begin at once
    /// @throws IllegalArgumentException if a limit is too small
    public static BoundedExecutor bounded(Executor executor, int atOnce, int queued) {
        Objects.requireNonNull(executor, "executor");
        return new BoundedExecutor(executor, virtualThreads(), atOnce, queued);
    }

    private static Executor virtualThreads() {
        // Inheriting would be from the caller or from whoever ended last, as it happens.
        ThreadFactory fresh =
                Thread.ofVirtual()
                        .name("gyre-worker-", 1)
                        .inheritInheritableThreadLocals(false)
                        .factory();
        return work -> fresh.newThread(work).start();
    }

    /// Runs the work as soon as there is a place for it and all that came before it have theirs. The
    /// same work may be handed in several times, and then runs as often.
    ///
    /// @throws RejectedExecutionException if all places are taken and as many wait as may, or if
    ///     the executor refuses or has been shut down; the work will not run
    @Override
    public void execute(Runnable work) {
        Objects.requireNonNull(work, "work");
        StackReserve.requireMedium();
        WorkItem job = new WorkItem(work, this);
        requireOpenExecutor(job);
        switch (admit(job)) {
            case PLACE -> begin(job);
            case LINE -> {}
            case NEITHER -> throw full(job);
        }
    }

    /// Takes work out of the line, so that its place there is free for another. Constant time.
    /// Work is told apart by identity; of several that are the same, the one that has waited
    /// longest goes.
    ///
    /// @return true if it was waiting; it will not run then. False if it has been handed over to
    ///     run, has ended, or was never accepted
    public boolean remove(Runnable work) {
        Objects.requireNonNull(work, "work");
        StackReserve.requireMedium();
        synchronized (lock) {
            return line.remove(work);
        }
    }

    /// How many places are taken at this instant.
    public int running() {
        synchronized (lock) {
            return running;
        }
    }

    /// How many wait at this instant.
    public int waiting() {
        synchronized (lock) {
            return line.size();
        }
    }

    /// The numbers of one instant and the limits.
    @Override
    public String toString() {
        int runningNow;
        int waitingNow;
        synchronized (lock) {
            runningNow = running;
            waitingNow = line.size();
        }
        return "BoundedExecutor["
                + runningNow
                + " of "
                + atOnce
                + " running, "
                + waitingNow
                + " of "
                + queued
                + " waiting]";
    }

    // ------------------------------------------------------------------ coming in

    /// Without this, newcomers in the line would keep the threads of an executor busy that is to
    /// end.
    private void requireOpenExecutor(WorkItem job) {
        if (isExecutorShutDown()) {
            throw new RejectedExecutionException(
                    this + " refuses " + job + ": its executor has been shut down");
        }
    }

    private boolean isExecutorShutDown() {
        return executor instanceof ExecutorService service && service.isShutdown();
    }

    private Admission admit(WorkItem job) {
        synchronized (lock) {
            if (running < atOnce) {
                assert line.size() == 0 : "a place is free while somebody waits";
                running++;
                return Admission.PLACE;
            }
            if (line.size() < queued) {
                line.add(job);
                return Admission.LINE;
            }
            return Admission.NEITHER;
        }
    }

    private RejectedExecutionException full(WorkItem job) {
        return new RejectedExecutionException(
                "refused "
                        + job
                        + ": "
                        + atOnce
                        + " of at most "
                        + atOnce
                        + " are running and "
                        + queued
                        + " of at most "
                        + queued
                        + " are waiting; hand it in again when some have ended, or raise a limit of"
                        + " BoundedExecutor.bounded(atOnce, queued)");
    }

    private void begin(WorkItem job) {
        try {
            job.handTo(executor);
        } catch (Throwable thrown) {
            // Others may have begun to wait for this very place.
            if (job.claim()) {
                passOn(Refuge.ANOTHER_THREAD);
            } else if (job.endedInside()) {
                passOn(Refuge.THIS_THREAD);
            }
            throw thrown;
        }
        if (job.endedInside()) {
            passOn(Refuge.THIS_THREAD);
        }
    }

    // ------------------------------------------------------------------ passing on

    /// Gives a place that has become free to the one that has waited longest. Throws nothing: the
    /// caller has something of its own to return or to throw.
    void passOn(Refuge refuge) {
        WorkItem next;
        do {
            next = nextOrGiveBack();
        } while (next != null && isFreeAfter(next, refuge));
    }

    private @Nullable WorkItem nextOrGiveBack() {
        synchronized (lock) {
            WorkItem next = line.take();
            if (next == null) {
                running--;
            }
            return next;
        }
    }

    /// Hands over a job that waited, together with the place.
    ///
    /// @return true if it has ended here, so that the place is the caller's again
    private boolean isFreeAfter(WorkItem job, Refuge refuge) {
        try {
            job.handTo(executor);
        } catch (Throwable thrown) {
            if (job.hasBegun()) {
                report(thrown);
                return job.endedInside();
            }
            logRefusal(thrown);
            return switch (refuge) {
                case THIS_THREAD -> isFreeAfterRunning(job);
                case ANOTHER_THREAD -> isFreeAfterLastResort(job);
            };
        }
        return job.endedInside();
    }

    private boolean isFreeAfterLastResort(WorkItem job) {
        try {
            job.handTo(lastResort);
        } catch (Throwable thrown) {
            if (job.hasBegun()) {
                report(thrown);
                return job.endedInside();
            }
            // Late is better than never: whoever handed it in was told that it would run.
            return isFreeAfterRunning(job);
        }
        return job.endedInside();
    }

    private static boolean isFreeAfterRunning(WorkItem job) {
        if (!job.claim()) {
            return false; // The executor kept it although it refused, and has begun it now.
        }
        try {
            job.work.run();
        } catch (Throwable thrown) {
            report(thrown);
        }
        return true;
    }

    // ------------------------------------------------------------------ telling

    private void logRefusal(Throwable refusal) {
        long occurrence;
        synchronized (lock) {
            occurrence = ++refusals;
        }
        try {
            // A line that is refused may be long. To end is an executor's good right.
            if (Long.bitCount(occurrence) == 1 && !isExecutorShutDown()) {
                LOG.log(
                        Level.WARNING,
                        this
                                + ": the executor refused work that waited, which now runs without"
                                + " it (occurrence "
                                + occurrence
                                + "); are its own limits narrower than these?",
                        refusal);
            }
        } catch (Throwable thrown) {
            report(thrown);
        }
    }

    /// What work threw whose caller has gone, or an executor about work that it began all the
    /// same.
    private static void report(Throwable thrown) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
        } catch (Throwable ignored) {
            // As the JVM does with what a handler throws.
        }
    }
}
