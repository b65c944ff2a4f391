package dev.gyre.bench;

import dev.gyre.EventLoop;
import dev.gyre.Timer;

import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/// Measures the lateness of the only timer of a loop: `TimerLateness PEER WARM-UPS SAMPLES FILE`.
/// Each firing schedules the next. Appends the lateness of each sample to the file, in nanoseconds,
/// one per line.
///
/// `lateness.c` has the same deadlines: keep both in step.
public final class TimerLateness {
    private final int warmUps;
    private final long[] samples;
    private long random = 20_261_115;
    private int fired;

    private TimerLateness(int warmUps, int samples) {
        this.warmUps = warmUps;
        this.samples = new long[samples];
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        var measured = new TimerLateness(Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        switch (args[0]) {
            case Peer.GYRE -> measured.gyre();
            case Peer.NETTY_EPOLL -> measured.netty();
            case Peer.EXECUTOR -> measured.executor();
            default -> throw new IllegalArgumentException("no such peer: " + args[0]);
        }
        var lines = new StringBuilder();
        for (long late : measured.samples) {
            lines.append(late).append('\n');
        }
        Files.writeString(
                Path.of(args[3]), lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    /// Returns 1 to 3 milliseconds, the same sequence in each program.
    private long nextDelay() {
        random = random * 6_364_136_223_846_793_005L + 1_442_695_040_888_963_407L;
        return 1_000_000 + (random >>> 33) % 2_000_000;
    }

    /// @return whether another sample follows
    private boolean fired(long late) {
        if (fired >= warmUps) {
            samples[fired - warmUps] = late;
        }
        fired++;
        return fired < warmUps + samples.length;
    }

    private void gyre() {
        try (EventLoop loop = EventLoop.open()) {
            loop.after(Duration.ofNanos(nextDelay()), timer -> again(loop, timer));
            loop.run();
        }
    }

    private void again(EventLoop loop, Timer timer) {
        long late = System.nanoTime() - timer.firedDeadlineNanos();
        if (fired(late)) {
            timer.reschedule(Duration.ofNanos(nextDelay()));
        } else {
            loop.stop();
        }
    }

    private void netty() throws InterruptedException {
        var group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        scheduled(group);
        var _ = group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }

    private void executor() throws InterruptedException {
        try (var executor = Executors.newSingleThreadScheduledExecutor()) {
            scheduled(executor);
        }
    }

    private void scheduled(ScheduledExecutorService executor) throws InterruptedException {
        var done = new CountDownLatch(1);
        new Runnable() {
            private long deadlineNanos;

            @Override
            public void run() {
                if (deadlineNanos == 0 || fired(System.nanoTime() - deadlineNanos)) {
                    long delay = nextDelay();
                    deadlineNanos = System.nanoTime() + delay;
                    var _ = executor.schedule(this, delay, TimeUnit.NANOSECONDS);
                } else {
                    done.countDown();
                }
            }
        }.run();
        done.await();
    }
}
