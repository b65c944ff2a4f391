package dev.gyre.internal.loop;

import dev.gyre.internal.backend.Backend;
import dev.gyre.internal.base.Counter;
import dev.gyre.internal.base.JfrEvents;
import dev.gyre.metrics.CallbackKind;
import dev.gyre.metrics.HistogramRecorder;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/// Measures what the loop does. A clock read costs about 20 ns, so each is used twice: the end of a
/// callback is the start of the next one. Of many short callbacks in a row, one in 16 is measured.
///
/// Loop thread only, except the methods that return figures.
@SuppressWarnings("EnumOrdinal") // An index of an array in memory only.
final class LoopTimings {
    /// In a row of callbacks of one kind, the first 16 and then one in 16 are measured.
    static final int SAMPLING = ExternalLane.STAMP_INTERVAL;

    private static final long WINDOW_NANOS = 1_000_000_000;
    private static final int NOTHING = -1;

    /// A callback that takes longer is an event of the Flight Recorder.
    static final long SLOW_NANOS = 10_000_000;

    private static final CallbackKind[] KINDS = CallbackKind.values();

    private static final VarHandle MARK;
    private static final VarHandle RUNNING;
    private static final VarHandle WINDOW_START;
    private static final VarHandle WINDOW_UTILIZATION;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MARK = lookup.findVarHandle(LoopTimings.class, "mark", long.class);
            RUNNING = lookup.findVarHandle(LoopTimings.class, "running", int.class);
            WINDOW_START = lookup.findVarHandle(LoopTimings.class, "windowStart", long.class);
            WINDOW_UTILIZATION =
                    lookup.findVarHandle(LoopTimings.class, "windowUtilization", double.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Backend backend;
    private final Counter callbacks;
    private final String loopName;

    final HistogramRecorder tickDuration = new HistogramRecorder();
    final HistogramRecorder pollWait = new HistogramRecorder();
    final HistogramRecorder taskDelay = new HistogramRecorder();
    final HistogramRecorder readyDelay = new HistogramRecorder();
    final HistogramRecorder timerLateness = new HistogramRecorder();

    /// Indexed by [CallbackKind#ordinal()].
    private final HistogramRecorder[] durations = new HistogramRecorder[KINDS.length];

    final Counter activeNanos = new Counter();
    final Counter idleNanos = new Counter();

    // Loop thread only.
    private boolean inRun;

    /// The time up to which `activeNanos` and `idleNanos` are counted.
    private long countedUntil;

    private long callbacksBefore;
    private long readyAt;

    /// Whether callbacks ran since the clock was read for `mark`.
    private boolean markStale;

    private long activeAtWindow;

    // Shared: written by the loop thread, read by any.

    /// The time of the latest clock read: the start of the callback that runs, if it is measured.
    private long mark;

    /// The ordinal of the kind of callbacks that the current step runs.
    @SuppressWarnings("unused") // through RUNNING
    private int running = NOTHING;

    private long windowStart;

    @SuppressWarnings("unused") // through WINDOW_UTILIZATION
    private double windowUtilization;

    LoopTimings(Backend backend, Counter callbacks, String loopName) {
        this.loopName = loopName;
        this.backend = backend;
        this.callbacks = callbacks;
        Arrays.setAll(durations, _ -> new HistogramRecorder());
        windowStart = backend.nanoTime();
    }

    /// Called when a tick begins.
    void tickBegan(long now) {
        if (inRun) {
            tickEnded(now);
        }
        inRun = true;
        callbacksBefore = callbacks.get();
        countedUntil = now;
        setMark(now);
        if (now - windowStart >= WINDOW_NANOS) {
            rollWindow(now);
        }
    }

    private void tickEnded(long now) {
        long elapsed = now - countedUntil;
        activeNanos.add(elapsed);
        if (callbacks.get() != callbacksBefore) {
            tickDuration.record(elapsed);
        }
    }

    private void rollWindow(long now) {
        long active = activeNanos.get();
        WINDOW_UTILIZATION.setOpaque(this, fraction(active - activeAtWindow, now - windowStart));
        activeAtWindow = active;
        WINDOW_START.setOpaque(this, now);
    }

    /// Called after a wait for the kernel that began at the start of the tick.
    void waited(long before, long after) {
        activeNanos.add(before - countedUntil);
        idleNanos.add(after - before);
        pollWait.record(after - before);
        countedUntil = after;
        callbacksBefore = callbacks.get();
        setMark(after);
    }

    /// Called when the thread leaves the loop.
    void runEnded() {
        RUNNING.setOpaque(this, NOTHING);
        if (inRun) {
            inRun = false;
            tickEnded(backend.nanoTime());
        }
    }

    /// Called before the step that runs callbacks of a kind.
    void stepBegan(CallbackKind kind) {
        RUNNING.setOpaque(this, kind.ordinal());
    }

    /// Called after the last callback before the wait.
    void nothingRuns() {
        RUNNING.setOpaque(this, NOTHING);
    }

    /// Reads the clock again if callbacks ran that were not measured.
    private void refreshMark() {
        if (markStale) {
            setMark(backend.nanoTime());
        }
    }

    /// Called after a measured callback and its microtasks.
    void ended(CallbackKind kind) {
        long now = backend.nanoTime();
        long elapsed = now - mark;
        durations[kind.ordinal()].record(elapsed);
        setMark(now);
        if (elapsed >= SLOW_NANOS) {
            JfrEvents.slowCallback(loopName, kind, elapsed);
        }
    }

    /// Called before the first I/O callback of a tick.
    ///
    /// @param waited whether [#waited] was called in this tick
    void ioBegan(boolean waited) {
        markStale |= !waited;
        refreshMark();
        readyAt = mark;
    }

    void ioCallbackBegins() {
        readyDelay.record(mark - readyAt);
    }

    void timerBegins(long deadlineNanos) {
        refreshMark();
        timerLateness.record(mark - deadlineNanos);
    }

    /// Returns whether the callback that begins is to be measured.
    ///
    /// @param nth how many of its kind ran before in this step
    boolean isMeasured(int nth) {
        if (nth >= SAMPLING && nth % SAMPLING != 0) {
            markStale = true;
            return false;
        }
        refreshMark();
        return true;
    }

    /// Returns whether the task just polled is to be measured: one that begins the step, or has a
    /// time stamp.
    boolean isTaskMeasured(int nth, ExternalLane lane) {
        boolean stamped = lane.isPolledStamped();
        if (!stamped && nth >= SAMPLING) {
            markStale = true;
            return false;
        }
        refreshMark();
        if (stamped) {
            taskDelay.record(mark - lane.polledStamp());
        }
        return true;
    }

    private void setMark(long now) {
        markStale = false;
        MARK.setOpaque(this, now);
    }

    // ------------------------------------------------------------------ figures, any thread

    HistogramRecorder durationOf(CallbackKind kind) {
        return durations[kind.ordinal()];
    }

    /// Returns the time since the latest clock read.
    long elapsedNanos() {
        return Math.max(0, backend.nanoTime() - (long) MARK.getOpaque(this));
    }

    /// Returns the kind of callbacks that the current step runs, or null if the loop waits.
    @Nullable CallbackKind runningKind() {
        int kind = (int) RUNNING.getOpaque(this);
        return kind == NOTHING ? null : KINDS[kind];
    }

    /// @param awake whether a thread runs the loop and does not wait
    double utilization(boolean awake) {
        long now = backend.nanoTime();
        long elapsed = now - (long) WINDOW_START.getOpaque(this);
        if (elapsed < WINDOW_NANOS) {
            return (double) WINDOW_UTILIZATION.getOpaque(this);
        }
        // The window is over, and the loop has not begun a tick since: it waits, or is stuck.
        long current = awake ? Math.min(elapsed, elapsedNanos()) : 0;
        return fraction(current, elapsed);
    }

    private static double fraction(long part, long whole) {
        return whole <= 0 ? 0 : Math.min(1, Math.max(0, (double) part / whole));
    }
}
