package dev.gyre.bench.timers;

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ManualIoEventLoop;

import java.util.concurrent.TimeUnit;

/// The timers of a Netty event loop. The calling thread owns and runs the loop; timers scheduled on
/// the loop's own thread go straight to its binary heap.
final class NettyLoopTimers extends ScheduledTimers<ManualIoEventLoop> {
    NettyLoopTimers(IoHandlerFactory factory) {
        super(new ManualIoEventLoop(Thread.currentThread(), factory));
    }

    @Override
    public void turn(Runnable work) {
        executor.execute(work);
        executor.runNow();
    }

    @Override
    public void close() {
        var ended = executor.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        while (!ended.isDone()) {
            executor.runNow();
        }
    }
}
