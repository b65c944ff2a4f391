package dev.gyre.bench.timers;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;
import dev.gyre.Timer;
import dev.gyre.metrics.LoopObserver;

import java.time.Duration;
import java.util.Arrays;
import java.util.Random;

/// A Gyre loop that runs one tick per unit of work, on the calling thread. The work is a deferred
/// callback, so timers see a running loop whose clock is read once per tick.
final class GyreTimers implements Timers {
    private static final Duration TIMEOUT = Duration.ofNanos(Delays.TIMEOUT_NANOS);

    // The default observer would log the timers left at the end.
    private final EventLoop loop =
            EventLoop.open(LoopConfig.DEFAULT.withObserver(new LoopObserver() {}));
    private final Duration[] delays =
            Arrays.stream(Delays.nanos(Delays.COUNT, 1))
                    .mapToObj(Duration::ofNanos)
                    .toArray(Duration[]::new);
    private final Timer reused = loop.after(TIMEOUT, GyreTimers::onExpired);
    private Timer[] outstanding = {};

    @Override
    public void fill(long[] delaysNanos) {
        outstanding =
                Arrays.stream(delaysNanos)
                        .mapToObj(
                                nanos -> loop.after(Duration.ofNanos(nanos), GyreTimers::onExpired))
                        .toArray(Timer[]::new);
    }

    @Override
    public void shuffle(Random random) {
        Shuffle.shuffle(outstanding, random);
    }

    @Override
    public void turn(Runnable work) {
        loop.defer(work);
        loop.runFor(Duration.ZERO);
    }

    private static void onExpired(Timer timer) {
        Expired.add();
    }

    @Override
    public void scheduleAndCancel(int delay) {
        loop.after(delays[delay], GyreTimers::onExpired).cancel();
    }

    @Override
    public void reuseAndCancel(int delay) {
        reused.reschedule(delays[delay]).cancel();
    }

    @Override
    public void replace(int which, int delay) {
        outstanding[which].cancel();
        outstanding[which] = loop.after(delays[delay], GyreTimers::onExpired);
    }

    @Override
    public void reschedule(int which) {
        outstanding[which].reschedule(TIMEOUT);
    }

    @Override
    public void close() {
        loop.close();
    }
}
