package dev.gyre.internal.base;

import static dev.gyre.internal.base.Log.LOG;

import dev.gyre.EventLoop;
import dev.gyre.Promise;
import dev.gyre.ShutdownReport;
import dev.gyre.metrics.LoopObserver;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;

/// The default observer. Shared by all loops of the process, hence the atomic counts.
public final class LoggingObserver implements LoopObserver {
    public static final LoggingObserver INSTANCE = new LoggingObserver();

    private final AtomicLong microtaskFloods = new AtomicLong();
    private final AtomicLong floods = new AtomicLong();

    @Override
    public void onMicrotaskFlood(EventLoop loop, int remaining) {
        sparsely(
                microtaskFloods,
                loop
                        + ": the microtask budget is used up in every tick, microtasks waiting: "
                        + remaining
                        + "; does one add another for ever?");
    }

    @Override
    public void onPriorityFlood(EventLoop loop, int ran) {
        sparsely(
                floods,
                loop
                        + ": priority tasks run in one tick: "
                        + ran
                        + "; do they submit each other for ever?");
    }

    @Override
    public void onUnhandledRejection(EventLoop loop, Promise<?> promise, Throwable reason) {
        Throwable createdAt = promise.createdAt();
        LOG.log(
                Level.ERROR,
                loop
                        + ": nobody handled the rejection of "
                        + promise
                        + "; end the chain with recover, or await it"
                        + (createdAt == null
                                ? " (LoopConfig.withPromiseTracing tells where it was made)"
                                : ". Made at " + placeOf(createdAt)),
                reason);
    }

    public static void logLeak(EventLoop loop, Throwable takenAt) {
        LOG.log(Level.WARNING, loop + ": " + takenAt.getMessage(), takenAt);
    }

    /// The user's code: what the loop called to make it is of no interest.
    private static String placeOf(Throwable createdAt) {
        StringBuilder place = new StringBuilder();
        for (StackTraceElement frame : createdAt.getStackTrace()) {
            if (!place.isEmpty() || !isOurs(frame.getClassName())) {
                place.append("\n\tat ").append(frame);
            }
        }
        return place.isEmpty() ? "a place inside Gyre" : place.toString();
    }

    private static boolean isOurs(String className) {
        return className.startsWith("dev.gyre.internal.")
                || className.equals(EventLoop.class.getName())
                || className.equals(Promise.class.getName());
    }

    @Override
    public void onTerminated(EventLoop loop, ShutdownReport report) {
        if (report.abandoned() > 0) {
            LOG.log(Level.WARNING, loop + " ended with work abandoned: " + report);
        }
    }

    private static void sparsely(AtomicLong count, String message) {
        long occurrence = count.incrementAndGet();
        if (Long.bitCount(occurrence) == 1) {
            LOG.log(Level.WARNING, message + " (occurrence " + occurrence + ")");
        }
    }
}
