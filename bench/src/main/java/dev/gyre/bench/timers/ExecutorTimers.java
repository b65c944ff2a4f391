package dev.gyre.bench.timers;

import java.util.concurrent.ScheduledThreadPoolExecutor;

/// The JDK's scheduled executor: a binary heap behind a lock, and a thread that waits for its head.
/// Cancelled timers leave the heap at once.
final class ExecutorTimers extends ScheduledTimers<ScheduledThreadPoolExecutor> {
    ExecutorTimers() {
        super(new ScheduledThreadPoolExecutor(1));
        executor.setRemoveOnCancelPolicy(true);
    }

    @Override
    public void turn(Runnable work) {
        work.run();
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
