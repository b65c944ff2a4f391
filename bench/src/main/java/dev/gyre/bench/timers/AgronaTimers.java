package dev.gyre.bench.timers;

import org.agrona.DeadlineTimerWheel;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/// Agrona's wheel: 1 024 slots of about a millisecond, no thread, and ids instead of objects. The
/// caller passes the time, here read once per unit of work. It does not support rescheduling.
final class AgronaTimers implements Timers {
    private static final long TICK_NANOS = 1 << 20;
    private static final int SLOTS = 1_024;

    private final DeadlineTimerWheel wheel =
            new DeadlineTimerWheel(TimeUnit.NANOSECONDS, System.nanoTime(), TICK_NANOS, SLOTS);
    private final long[] delaysNanos = Delays.nanos(Delays.COUNT, 1);
    private long nowNanos = System.nanoTime();
    private long[] outstanding = {};

    private long schedule(long nanos) {
        return wheel.scheduleTimer(nowNanos + nanos);
    }

    @Override
    public void fill(long[] nanos) {
        outstanding = Arrays.stream(nanos).map(this::schedule).toArray();
    }

    @Override
    public void shuffle(Random random) {
        Shuffle.shuffle(outstanding, random);
    }

    @Override
    public void turn(Runnable work) {
        nowNanos = System.nanoTime();
        wheel.poll(nowNanos, AgronaTimers::onExpired, Integer.MAX_VALUE);
        work.run();
    }

    private static boolean onExpired(TimeUnit unit, long nowNanos, long timer) {
        Expired.add();
        return true;
    }

    @Override
    public void scheduleAndCancel(int delay) {
        wheel.cancelTimer(schedule(delaysNanos[delay]));
    }

    @Override
    public void replace(int which, int delay) {
        wheel.cancelTimer(outstanding[which]);
        outstanding[which] = schedule(delaysNanos[delay]);
    }

    @Override
    public void reschedule(int which) {
        wheel.cancelTimer(outstanding[which]);
        outstanding[which] = schedule(Delays.TIMEOUT_NANOS);
    }

    @Override
    public void close() {
        wheel.clear();
    }
}
