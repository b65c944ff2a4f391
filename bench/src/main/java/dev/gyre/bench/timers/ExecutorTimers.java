package dev.gyre.bench.timers;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// What the JDK has: a binary heap behind a lock, and a thread that waits for its head. What is
/// cancelled leaves the heap at once, instead of filling it up until its time has come. They know no
/// rescheduling.
final class ExecutorTimers implements Timers {
    private final ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1);
    private final long[] delaysNanos = Delays.nanos(Delays.COUNT, 1);
    private Future<?>[] outstanding = {};

    ExecutorTimers() {
        executor.setRemoveOnCancelPolicy(true);
    }

    private Future<?> schedule(long nanos) {
        return executor.schedule(Expired::add, nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void fill(long[] nanos) {
        outstanding = Arrays.stream(nanos).mapToObj(this::schedule).toArray(Future<?>[]::new);
    }

    @Override
    public void shuffle(Random random) {
        Shuffle.shuffle(outstanding, random);
    }

    @Override
    public void turn(Runnable work) {
        work.run();
    }

    @Override
    public void scheduleAndCancel(int delay) {
        schedule(delaysNanos[delay]).cancel(false);
    }

    @Override
    public void replace(int which, int delay) {
        outstanding[which].cancel(false);
        outstanding[which] = schedule(delaysNanos[delay]);
    }

    @Override
    public void reschedule(int which) {
        outstanding[which].cancel(false);
        outstanding[which] = schedule(Delays.TIMEOUT_NANOS);
    }

    @Override
    public void close() {
        executor.shutdownNow();
    }
}
