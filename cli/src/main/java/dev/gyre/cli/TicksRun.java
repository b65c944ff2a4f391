package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.os.Signal;

import org.jspecify.annotations.Nullable;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/// One run of a loop under a [Meter], with live output and a summary at the end: at its time, at a
/// signal such as Ctrl-C, or when the loop fails.
final class TicksRun {
    private final EventLoop loop;
    private final Meter meter;
    private final PrintWriter out;

    // Shared: counted down by the loop thread to end the run early.
    private final CountDownLatch end = new CountDownLatch(1);
    // Shared: written by the loop thread before it counts down.
    private final AtomicReference<@Nullable Signal> stoppedBy = new AtomicReference<>();
    // Shared: written by the loop thread.
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /// @param loop a loop that is not running yet; it is stopped afterwards
    TicksRun(EventLoop loop, int tasksPerSecond, PrintWriter out) {
        this.loop = loop;
        this.meter = new Meter(loop, tasksPerSecond);
        this.out = out;
    }

    /// Runs, prints samples and a summary, and returns once the loop has stopped.
    ///
    /// @return the failure of the loop, or `null`
    @Nullable Throwable run(int seconds, int everyMillis) throws InterruptedException {
        StopSignals.on(loop, this::endEarly);
        Thread loopThread = Thread.ofPlatform().name("gyre-loop").daemon().start(this::runLoop);
        meter.start();
        show(seconds, everyMillis);
        meter.end();
        loop.stop();
        loopThread.join();
        summarise();
        return failure.get();
    }

    private void endEarly(Signal signal) {
        stoppedBy.set(signal);
        end.countDown();
    }

    /// Returns the signal that ended the run early, or `null`.
    @Nullable Signal stoppedBy() {
        return stoppedBy.get();
    }

    private void runLoop() {
        try {
            loop.run();
        } catch (Throwable thrown) {
            failure.set(thrown);
        } finally {
            end.countDown();
        }
    }

    /// Prints a line per refresh until the time is up or the run ends early.
    private void show(int seconds, int everyMillis) throws InterruptedException {
        LiveLine live = new LiveLine(out, LiveLine.onTerminal());
        out.println(LoopSample.HEADER);
        long start = System.nanoTime();
        long wholeNanos = TimeUnit.SECONDS.toNanos(seconds);
        long everyNanos = TimeUnit.MILLISECONDS.toNanos(everyMillis);
        long atNanos = 0;
        boolean ended = false;
        while (!ended && atNanos < wholeNanos) {
            atNanos = Math.min(atNanos + everyNanos, wholeNanos);
            ended = end.await(start + atNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
            live.show(meter.readInterval().line(meter.elapsedNanos()));
        }
        live.end();
    }

    private void summarise() {
        LoopSample all = meter.readWhole();
        out.printf(Locale.ROOT, "%nOver %.1f s%n", all.spanNanos() / 1e9);
        line("ticks", all.rate(all.ticks()) + "/s, " + all.ticks() + " in total");
        line("wake latency", all.wake() + " samples");
        line("timer lateness", all.lateness() + " firings");
        line("queue depth", "max " + all.maxDepth());
        line("wake-ups", all.rate(all.wakeups()) + "/s, " + all.wakeups() + " in total");
        line(
                "tasks",
                "%s/s, %d in total, %d rejected"
                        .formatted(all.rate(all.tasks()), all.tasks(), meter.refused()));
        out.flush();
    }

    private void line(String label, String text) {
        out.printf(Locale.ROOT, "  %-14s  %s%n", label, text);
    }
}
