package dev.gyre.bench.timers;

import java.util.concurrent.ScheduledThreadPoolExecutor;

/// What the JDK has: a binary heap behind a lock, and a thread that waits for its head. What is
/// cancelled leaves the heap at once, instead of filling it up until its time has come.
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
