package dev.gyre;

import dev.gyre.internal.base.QueueingExecutor;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/// Runs work on other threads, with a limit on running work and a limit on queued work. Work beyond
/// both limits is rejected. Accepted work runs once, unless it was removed.
///
/// ```java
/// var workers = BoundedExecutor.bounded(16, 1_000);
/// workers.execute(() -> archive.write(report));
/// ```
///
/// **Which threads.** Virtual threads suit work that blocks: [#bounded(int, int)]. Work that
/// computes would occupy their carriers, which all virtual threads of the process share. It needs
/// platform threads of its own: [#platformThreads]. [dev.gyre.io.Stream#process] passes the limits
/// on to the peer: its input pauses while the work waits and runs.
///
/// **Threads.** All methods may be called from any thread, and none waits for work. One instance
/// serves any number of loops. With virtual threads, each unit of work gets a new thread that
/// inherits nothing from its creator and ends with the work, so nothing has to be closed. With a
/// given executor, each unit of work is submitted separately. The caller shuts that executor down.
///
/// **Order.** Work starts in the order of submission: new work never overtakes queued work. With a
/// limit of one, work also runs in that order. With a higher limit, running work is concurrent.
/// Work counts as running from its submission to the executor until it ends.
///
/// An executor that runs work on the calling thread also does so in [#execute]. The thread whose
/// work has ended then runs the queued work in sequence, without nesting.
///
/// **Failure.** If work throws, it no longer counts as running. The throwable propagates to the
/// thread or executor that ran it, as without limits.
///
/// If the executor rejects new work, the throwable propagates to the caller of [#execute]. Queued
/// work was accepted already. If the executor rejects it when other work has ended, it runs on the
/// thread that has become free, with the interrupt status and thread-locals of that thread, and a
/// warning is logged. So after the executor was shut down, new work is rejected, and queued work
/// still runs on its threads. If no work has ended, and new work was rejected, queued work runs on
/// a virtual thread instead, because the caller may be a loop.
///
/// Work that an executor accepts and drops silently counts as running forever.
public sealed interface BoundedExecutor extends Executor permits QueueingExecutor {
    /// Creates an executor that runs work on virtual threads named `gyre-worker-1` and so on.
    ///
    /// @param maxRunning the maximum of concurrently running work, at least 1
    /// @param maxQueued the maximum of queued work; 0 rejects all work that cannot start at once
    /// @throws IllegalArgumentException if a limit is too small
    static BoundedExecutor bounded(int maxRunning, int maxQueued) {
        return QueueingExecutor.onVirtualThreads(maxRunning, maxQueued);
    }

    /// Creates an executor for CPU-bound work, on platform threads named `name-1` and so on.
    ///
    /// The threads are daemon threads. They start on demand and end after 30 seconds without work,
    /// so nothing has to be closed. Leave CPUs to the loops: with `n` loops on `c` CPUs, use
    /// `max(1, c - n)` threads.
    ///
    /// @param threads the maximum of threads, at least 1
    /// @param maxQueued the maximum of queued work; 0 rejects all work that cannot start at once
    /// @throws IllegalArgumentException if a limit is too small
    static BoundedExecutor platformThreads(String name, int threads, int maxQueued) {
        return QueueingExecutor.onPlatformThreads(name, threads, maxQueued);
    }

    /// Creates an executor that runs work on the given one, with limits as in [#bounded(int, int)].
    ///
    /// The thread whose work has ended submits the next work while the given executor still counts
    /// that thread as busy. So a pool without a queue of its own needs one thread more than
    /// `maxRunning`.
    static BoundedExecutor bounded(Executor executor, int maxRunning, int maxQueued) {
        Objects.requireNonNull(executor, "executor");
        return QueueingExecutor.on(executor, maxRunning, maxQueued);
    }

    /// Runs the work as soon as the limit permits and all earlier work has started. The same
    /// instance may be submitted several times and then runs as often.
    ///
    /// @throws RejectedExecutionException if both limits are reached, or if the executor rejects
    ///     the work or is shut down; the work never runs
    @Override
    void execute(Runnable work);

    /// Removes queued work, in constant time. Work is compared by identity. If the same instance is
    /// queued several times, the oldest entry is removed.
    ///
    /// @return true if it was queued; it never runs then. False if it was submitted to the
    ///     executor, has ended, or was never accepted
    boolean remove(Runnable work);

    /// Returns the current number of running units of work.
    int running();

    /// Returns the current number of queued units of work. Streams that wait in
    /// [dev.gyre.io.Stream#process] are included, even beyond the limit.
    int waiting();

    /// Returns the number of rejected units of work.
    long rejected();

    /// Returns the number of units of work that have run, whether they threw or not.
    long completed();

    /// Returns the sum of the times from submission to start, over all completed work.
    Duration totalWait();

    /// Returns the longest time from submission to start of all completed work.
    Duration maxWait();
}
