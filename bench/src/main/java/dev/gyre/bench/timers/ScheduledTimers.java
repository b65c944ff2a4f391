package dev.gyre.bench.timers;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/// The timers of any scheduled executor. Rescheduling cancels one and schedules another.
abstract sealed class ScheduledTimers<E extends ScheduledExecutorService> implements Timers
        permits ExecutorTimers, NettyLoopTimers {
    final E executor;
    private final long[] delaysNanos = Delays.nanos(Delays.COUNT, 1);
    private Future<?>[] outstanding = {};

    ScheduledTimers(E executor) {
        this.executor = executor;
    }

    private Future<?> schedule(long nanos) {
        return executor.schedule(Expired::add, nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public final void fill(long[] nanos) {
        outstanding = Arrays.stream(nanos).mapToObj(this::schedule).toArray(Future<?>[]::new);
    }

    @Override
    public final void shuffle(Random random) {
        Shuffle.shuffle(outstanding, random);
    }

    @Override
    public final void scheduleAndCancel(int delay) {
        schedule(delaysNanos[delay]).cancel(false);
    }

    @Override
    public final void replace(int which, int delay) {
        outstanding[which].cancel(false);
        outstanding[which] = schedule(delaysNanos[delay]);
    }

    @Override
    public final void reschedule(int which) {
        outstanding[which].cancel(false);
        outstanding[which] = schedule(Delays.TIMEOUT_NANOS);
    }
}
