package dev.gyre.bench.timers;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ManualIoEventLoop;
import io.netty.util.concurrent.ScheduledFuture;

import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/// The timers of a Netty event loop. The calling thread owns the loop and makes it turn; what
/// schedules on the loop's own thread goes straight to its binary heap. They know no rescheduling.
final class NettyLoopTimers implements Timers {
    private final ManualIoEventLoop loop;
    private final long[] delaysNanos = Delays.nanos(Delays.COUNT, 1);
    private ScheduledFuture<?>[] outstanding = {};

    NettyLoopTimers(IoHandlerFactory factory) {
        loop = new ManualIoEventLoop(Thread.currentThread(), factory);
    }

    private ScheduledFuture<?> schedule(long nanos) {
        return loop.schedule(Expired::add, nanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void fill(long[] nanos) {
        outstanding =
                Arrays.stream(nanos).mapToObj(this::schedule).toArray(ScheduledFuture<?>[]::new);
    }

    @Override
    public void shuffle(Random random) {
        Shuffle.shuffle(outstanding, random);
    }

    @Override
    public void turn(Runnable work) {
        loop.execute(work);
        loop.runNow();
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
        var ended = loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        while (!ended.isDone()) {
            loop.runNow();
        }
    }
}
