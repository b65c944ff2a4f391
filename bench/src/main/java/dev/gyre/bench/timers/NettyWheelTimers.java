package dev.gyre.bench.timers;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/// Netty's hashed wheel, with its default of 512 slots of 100 ms. It has its own thread, to which
/// callers hand timers through queues. The work of that thread is not measured. It does not support
/// rescheduling.
final class NettyWheelTimers implements Timers {
    private final HashedWheelTimer wheel = new HashedWheelTimer();
    private final long[] delaysNanos = Delays.nanos(Delays.COUNT, 1);
    private Timeout[] outstanding = {};

    private Timeout schedule(long nanos) {
        return wheel.newTimeout(NettyWheelTimers::onExpired, nanos, TimeUnit.NANOSECONDS);
    }

    private static void onExpired(Timeout timeout) {
        Expired.add();
    }

    @Override
    public void fill(long[] nanos) {
        outstanding = Arrays.stream(nanos).mapToObj(this::schedule).toArray(Timeout[]::new);
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
        schedule(delaysNanos[delay]).cancel();
    }

    @Override
    public void replace(int which, int delay) {
        outstanding[which].cancel();
        outstanding[which] = schedule(delaysNanos[delay]);
    }

    @Override
    public void reschedule(int which) {
        outstanding[which].cancel();
        outstanding[which] = schedule(Delays.TIMEOUT_NANOS);
    }

    @Override
    public void close() {
        wheel.stop();
    }
}
