package dev.gyre.cli;

import dev.gyre.EventLoop;
import dev.gyre.LoopState;
import dev.gyre.SubmitResult;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/// Gives a loop something to do and measures how it does it. Three sources, each of its own pace:
///
/// - a *probe*, a thread that looks every 2 ms whether the loop sleeps, and if so stamps the time and
///   submits a task that takes the difference;
/// - a repeating *timer* of 5 ms that notes how late it is;
/// - a *load*, a thread that submits so many empty tasks a second, in bursts of a millisecond's worth;
///   each notes how many wait behind it.
///
/// All samples are recorded by the loop thread, without allocation: there is one probe, submitted again
/// once it has run, and one task for all of the load.
final class Meter {
    private static final Duration TIMER_PERIOD = Duration.ofMillis(5);
    private static final long PROBE_PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long BURST_PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /// The most a sample can say. A fixed range keeps the histograms from growing as they record.
    private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final int DIGITS = 3;

    private final EventLoop loop;
    private final int tasksPerSecond;
    private final Thread prober = Thread.ofPlatform().name("gyre-probe").unstarted(this::probe);
    private final Thread producer = Thread.ofPlatform().name("gyre-load").unstarted(this::produce);

    // Shared: recorded into by the loop thread, emptied by the reader.
    private final SingleWriterRecorder wakes = new SingleWriterRecorder(LONGEST_NANOS, DIGITS);
    private final SingleWriterRecorder lateness = new SingleWriterRecorder(LONGEST_NANOS, DIGITS);
    private final AtomicInteger deepest = new AtomicInteger();

    // Shared: written by the prober before it submits the probe, read by the probe.
    private long sentNanos;
    // Shared: set by the prober, cleared by the probe.
    private volatile boolean probeUnderWay;
    // Producer only, and the reader's once that thread has ended.
    private long refused;
    // Shared: set by whoever ends it.
    private volatile boolean ended;

    // Reader only.
    private final Histogram allWakes = new Histogram(LONGEST_NANOS, DIGITS);
    private final Histogram allLateness = new Histogram(LONGEST_NANOS, DIGITS);
    private Histogram someWakes = wakes.getIntervalHistogram();
    private Histogram someLateness = lateness.getIntervalHistogram();
    private long startNanos;
    private long readNanos;
    private long ticksRead;
    private long wakeupsRead;
    private long tasksRead;
    private int deepestRead;

    /// @param loop one that is not running yet
    Meter(EventLoop loop, int tasksPerSecond) {
        this.loop = loop;
        this.tasksPerSecond = tasksPerSecond;
        loop.every(
                TIMER_PERIOD,
                timer -> record(lateness, System.nanoTime() - timer.firedDeadlineNanos()));
    }

    /// Begins to submit. The caller is the reader from now on.
    void start() {
        startNanos = System.nanoTime();
        readNanos = startNanos;
        prober.start();
        if (tasksPerSecond > 0) {
            producer.start();
        }
    }

    /// Submits nothing more, and returns when both threads are gone.
    void end() throws InterruptedException {
        ended = true;
        LockSupport.unpark(prober);
        LockSupport.unpark(producer);
        prober.join();
        producer.join();
    }

    long elapsedNanos() {
        return readNanos - startNanos;
    }

    /// How many tasks of the load the loop refused because too many were waiting. After [#end()].
    long refused() {
        return refused;
    }

    /// What happened since the last reading.
    Reading readInterval() {
        someWakes = wakes.getIntervalHistogram(someWakes);
        someLateness = lateness.getIntervalHistogram(someLateness);
        allWakes.add(someWakes);
        allLateness.add(someLateness);
        int deep = deepest.getAndSet(0);
        deepestRead = Math.max(deepestRead, deep);

        long now = System.nanoTime();
        long ticks = loop.metrics().ticks();
        long wakeups = loop.metrics().wakeups();
        long tasks = loop.metrics().tasks();
        Reading reading =
                new Reading(
                        now - readNanos,
                        ticks - ticksRead,
                        wakeups - wakeupsRead,
                        tasks - tasksRead,
                        deep,
                        Latency.of(someWakes),
                        Latency.of(someLateness));
        readNanos = now;
        ticksRead = ticks;
        wakeupsRead = wakeups;
        tasksRead = tasks;
        return reading;
    }

    /// What happened from the start to the last reading.
    Reading readWhole() {
        return new Reading(
                elapsedNanos(),
                ticksRead,
                wakeupsRead,
                tasksRead,
                deepestRead,
                Latency.of(allWakes),
                Latency.of(allLateness));
    }

    // ------------------------------------------------------------------ the prober's thread

    private void probe() {
        Runnable probe =
                () -> {
                    record(wakes, System.nanoTime() - sentNanos);
                    probeUnderWay = false;
                };
        while (!ended) {
            LockSupport.parkNanos(PROBE_PERIOD_NANOS);
            if (!probeUnderWay && loop.state() == LoopState.SLEEPING) {
                probeUnderWay = true;
                sentNanos = System.nanoTime();
                if (loop.trySubmit(probe) != SubmitResult.ACCEPTED) {
                    probeUnderWay = false;
                }
            }
        }
    }

    // ------------------------------------------------------------------ the producer's thread

    private void produce() {
        Runnable task = this::noteDepth;
        long periodNanos = Math.max(BURST_PERIOD_NANOS, 1_000_000_000L / tasksPerSecond);
        long sent = 0;
        while (!ended) {
            long due = (long) ((System.nanoTime() - startNanos) * (tasksPerSecond / 1e9));
            for (; sent < due && !ended; sent++) {
                if (loop.trySubmit(task) == SubmitResult.OVERLOADED) {
                    refused++;
                }
            }
            LockSupport.parkNanos(periodNanos);
        }
    }

    // ------------------------------------------------------------------ the loop thread

    private void noteDepth() {
        int depth = loop.metrics().depth();
        if (depth > deepest.get()) {
            deepest.accumulateAndGet(depth, Math::max);
        }
    }

    private static void record(SingleWriterRecorder recorder, long nanos) {
        recorder.recordValue(Math.clamp(nanos, 0, LONGEST_NANOS));
    }
}
