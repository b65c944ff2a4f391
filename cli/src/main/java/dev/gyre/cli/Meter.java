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

/// Drives a loop from three independent sources and measures it:
///
/// - a *probe*: a thread checks every 2 ms whether the loop sleeps. If so it takes the time and
///   submits a task that records the difference;
/// - a *timer* with a period of 5 ms that records its lateness;
/// - a *load*: a thread submits a number of empty tasks per second, in bursts of one millisecond.
///   Each records the queue depth.
///
/// The loop thread records all samples without allocation: it reuses one probe, and one task for
/// the whole load.
final class Meter {
    private static final Duration TIMER_PERIOD = Duration.ofMillis(5);
    private static final long PROBE_PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long BURST_PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /// The max value of a sample. A fixed range keeps the histograms from growing while they
    /// record.
    private static final long MAX_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final int DIGITS = 3;

    private final EventLoop loop;
    private final int tasksPerSecond;
    private final Thread prober = Thread.ofPlatform().name("gyre-probe").unstarted(this::probe);
    private final Thread producer = Thread.ofPlatform().name("gyre-load").unstarted(this::produce);

    // Shared: recorded into by the loop thread, emptied by the reader.
    private final SingleWriterRecorder wakes = new SingleWriterRecorder(MAX_NANOS, DIGITS);
    private final SingleWriterRecorder lateness = new SingleWriterRecorder(MAX_NANOS, DIGITS);
    private final AtomicInteger maxDepth = new AtomicInteger();

    // Shared: written by the prober before it submits the probe, read by the probe.
    private long sentNanos;
    // Shared: set by the prober, cleared by the probe.
    private volatile boolean probeInFlight;
    // Producer thread only; the reader's after that thread has ended.
    private long refused;
    // Shared: set by the thread that ends the run.
    private volatile boolean ended;

    // Reader only.
    private final Histogram allWakes = new Histogram(MAX_NANOS, DIGITS);
    private final Histogram allLateness = new Histogram(MAX_NANOS, DIGITS);
    private Histogram someWakes = wakes.getIntervalHistogram();
    private Histogram someLateness = lateness.getIntervalHistogram();
    private long startNanos;
    private long readNanos;
    private long ticksRead;
    private long wakeupsRead;
    private long tasksRead;
    private int maxDepthRead;

    /// @param loop one that is not running yet
    Meter(EventLoop loop, int tasksPerSecond) {
        this.loop = loop;
        this.tasksPerSecond = tasksPerSecond;
        loop.every(
                TIMER_PERIOD,
                timer -> record(lateness, System.nanoTime() - timer.firedDeadlineNanos()));
    }

    /// Starts to submit. The caller is the reader from now on.
    void start() {
        startNanos = System.nanoTime();
        readNanos = startNanos;
        prober.start();
        if (tasksPerSecond > 0) {
            producer.start();
        }
    }

    /// Stops submitting, and returns once both threads have ended.
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

    /// Returns the number of load tasks that the loop rejected as overloaded. Call after [#end()].
    long refused() {
        return refused;
    }

    /// Returns the sample since the previous reading.
    LoopSample readInterval() {
        someWakes = wakes.getIntervalHistogram(someWakes);
        someLateness = lateness.getIntervalHistogram(someLateness);
        allWakes.add(someWakes);
        allLateness.add(someLateness);
        int deep = maxDepth.getAndSet(0);
        maxDepthRead = Math.max(maxDepthRead, deep);

        long now = System.nanoTime();
        long ticks = loop.metrics().ticks();
        long wakeups = loop.metrics().wakeups();
        long tasks = loop.metrics().tasks();
        LoopSample sample =
                new LoopSample(
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
        return sample;
    }

    /// Returns the sample from the start to the last reading.
    LoopSample readWhole() {
        return new LoopSample(
                elapsedNanos(),
                ticksRead,
                wakeupsRead,
                tasksRead,
                maxDepthRead,
                Latency.of(allWakes),
                Latency.of(allLateness));
    }

    private void probe() {
        Runnable probe =
                () -> {
                    record(wakes, System.nanoTime() - sentNanos);
                    probeInFlight = false;
                };
        while (!ended) {
            LockSupport.parkNanos(PROBE_PERIOD_NANOS);
            if (!probeInFlight && loop.state() == LoopState.SLEEPING) {
                probeInFlight = true;
                sentNanos = System.nanoTime();
                if (loop.trySubmit(probe) != SubmitResult.ACCEPTED) {
                    probeInFlight = false;
                }
            }
        }
    }

    private void produce() {
        Runnable task = this::recordDepth;
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

    private void recordDepth() {
        int depth = loop.metrics().queuedTasks();
        if (depth > maxDepth.get()) {
            maxDepth.accumulateAndGet(depth, Math::max);
        }
    }

    private static void record(SingleWriterRecorder recorder, long nanos) {
        recorder.recordValue(Math.clamp(nanos, 0, MAX_NANOS));
    }
}
