package dev.gyre.internal.base;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;
import dev.gyre.metrics.LoopObserver;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;

/// The default observer, which logs. All loops of the process share it, hence the atomic counts.
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
                        + "; check whether microtasks add each other endlessly");
    }

    @Override
    public void onPriorityFlood(EventLoop loop, int ran) {
        logSparsely(
                priorityFloods,
                loop
                        + ": priority tasks run in one tick: "
                        + ran
                        + "; check whether they submit each other endlessly");
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
                                ? " (LoopConfig.withPromiseTracing records where it was created)"
                                : ". Created at " + userFrames(createdAt)),
                reason);
    }

    public static void logLeak(EventLoop loop, Throwable allocatedAt) {
        LOG.log(Level.WARNING, loop + ": " + allocatedAt.getMessage(), allocatedAt);
    }

    /// Returns the stack without the topmost frames of Gyre itself.
    private static String userFrames(Throwable createdAt) {
        StringBuilder place = new StringBuilder();
        for (StackTraceElement frame : createdAt.getStackTrace()) {
            if (!place.isEmpty() || !isInternal(frame.getClassName())) {
                place.append("\n\tat ").append(frame);
            }
        }
        return place.isEmpty() ? "an internal frame of Gyre" : place.toString();
    }

    private static boolean isInternal(String className) {
        return className.startsWith("dev.gyre.internal.")
                || className.equals(EventLoop.class.getName())
                || className.equals(Promise.class.getName());
    }

    @Override
    public void onTerminated(EventLoop loop, ShutdownReport report) {
        if (report.abandoned() > 0) {
            LOG.log(Level.WARNING, loop + " terminated with work abandoned: " + report);
        }
    }

    private static void logSparsely(AtomicLong count, String message) {
        long occurrence = count.incrementAndGet();
        if (Long.bitCount(occurrence) == 1) {
            LOG.log(Level.WARNING, message + " (occurrence " + occurrence + ")");
        }
    }
}
