package dev.gyre.cli;

import dev.gyre.EventLoop;

import org.jspecify.annotations.Nullable;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/// One run of a loop under a [Meter], shown while it lasts and summed up when it is over: at its time,
/// at Ctrl-C, or when the loop fails.
final class LiveRun {
    /// How long the JVM's end waits for the summary.
    private static final long PATIENCE_SECONDS = 2;

    private final EventLoop loop;
    private final Meter meter;
    private final PrintWriter out;

    // Shared: counted down by whoever has the run end early.
    private final CountDownLatch end = new CountDownLatch(1);
    // Shared: counted down when the summary has been printed.
    private final CountDownLatch summarised = new CountDownLatch(1);
    // Shared: written by the loop thread.
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /// @param loop one that is not running yet, and is left stopped
    LiveRun(EventLoop loop, int tasksPerSecond, PrintWriter out) {
        this.loop = loop;
        this.meter = new Meter(loop, tasksPerSecond);
        this.out = out;
    }

    /// Runs, shows and sums up. Returns when the loop has stopped.
    ///
    /// @return what the loop failed with, or null
    @Nullable Throwable run(int seconds, int everyMillis) throws InterruptedException {
        Thread loopThread = Thread.ofPlatform().name("gyre-loop").daemon().start(this::runLoop);
        Thread hook = Thread.ofPlatform().name("gyre-end").unstarted(this::endEarly);
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            meter.start();
            show(seconds, everyMillis);
            meter.end();
            loop.stop();
            loopThread.join();
            summarise();
        } finally {
            summarised.countDown();
            forget(hook);
        }
        return failure.get();
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

    /// Shows a line for each refresh until time is up or the end has come.
    private void show(int seconds, int everyMillis) throws InterruptedException {
        LiveLine live = new LiveLine(out, LiveLine.onTerminal());
        out.println(Reading.HEADER);
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
        Reading all = meter.readWhole();
        out.printf(Locale.ROOT, "%nOver %.1f s%n", all.spanNanos() / 1e9);
        line("ticks", all.rate(all.ticks()) + "/s, " + all.ticks() + " in all");
        line("wake latency", all.wake() + " samples");
        line("timer lateness", all.lateness() + " firings");
        line("queue depth", "max " + all.deepest());
        line("wake-ups", all.rate(all.wakeups()) + "/s, " + all.wakeups() + " in all");
        line(
                "tasks",
                "%s/s, %d in all, %d refused"
                        .formatted(all.rate(all.tasks()), all.tasks(), meter.refused()));
        out.flush();
    }

    private void line(String label, String text) {
        out.printf(Locale.ROOT, "  %-14s  %s%n", label, text);
    }

    /// The shutdown hook: without it the JVM would be gone before the summary.
    private void endEarly() {
        end.countDown();
        try {
            boolean _ = summarised.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void forget(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // It is running.
        }
    }
}
