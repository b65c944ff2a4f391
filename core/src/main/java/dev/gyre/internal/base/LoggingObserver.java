package dev.gyre.internal.base;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;
import dev.gyre.metrics.LoopObserver;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;

/// The default observer. All loops of the process share it, so the counts are atomic.
public final class LoggingObserver implements LoopObserver {
    public static final LoggingObserver INSTANCE = new LoggingObserver();

    private final AtomicLong microtaskFloods = new AtomicLong();
    private final AtomicLong priorityFloods = new AtomicLong();

    @Override
    public void onMicrotaskFlood(EventLoop loop, int remaining) {
        logSparsely(
                microtaskFloods,
                loop
                        + ": the microtask budget is used up in every tick, microtasks waiting: "
                        + remaining
                        + "; check for microtasks that add microtasks without end");
    }

    @Override
    public void onPriorityFlood(EventLoop loop, int ran) {
        logSparsely(
                priorityFloods,
                loop
                        + ": priority tasks run in one tick: "
                        + ran
                        + "; check for priority tasks that submit each other without end");
    }

    @Override
    public void onUnhandledRejection(EventLoop loop, Promise<?> promise, Throwable reason) {
        Throwable createdAt = promise.createdAt();
        LOG.log(
                Level.ERROR,
                loop
                        + ": unhandled rejection of "
                        + promise
                        + "; end the chain with recover, or await it"
                        + (createdAt == null
                                ? " (enable LoopConfig.withPromiseTracing to see where it was"
                                        + " created)"
                                : ". Created at " + userFrames(createdAt)),
                reason);
    }

    public static void logLeak(EventLoop loop, Throwable acquiredAt) {
        LOG.log(Level.WARNING, loop + ": " + acquiredAt.getMessage(), acquiredAt);
    }

    /// Formats the stack trace without Gyre's own frames on top.
    private static String userFrames(Throwable createdAt) {
        StringBuilder frames = new StringBuilder();
        for (StackTraceElement frame : createdAt.getStackTrace()) {
            if (!frames.isEmpty() || !StackFrames.isInternal(frame.getClassName())) {
                frames.append("\n\tat ").append(frame);
            }
        }
        return frames.isEmpty() ? "a line inside Gyre" : frames.toString();
    }

    @Override
    public void onTerminated(EventLoop loop, ShutdownReport report) {
        if (report.abandoned() > 0) {
            DeferredLog.log(
                    Level.WARNING, () -> loop + " terminated with abandoned work: " + report);
        }
    }

    /// Logs the first, second, fourth, eighth occurrence and so on.
    private static void logSparsely(AtomicLong count, String message) {
        long occurrence = count.incrementAndGet();
        if (Long.bitCount(occurrence) == 1) {
            LOG.log(Level.WARNING, message + " (occurrence " + occurrence + ")");
        }
    }
}
