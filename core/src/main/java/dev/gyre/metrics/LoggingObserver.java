package dev.gyre.metrics;

import dev.gyre.ShutdownReport;

import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;

/// The default observer. Shared by all loops of the process, hence the atomic counts.
final class LoggingObserver implements LoopObserver {
    private static final System.Logger LOG = System.getLogger("dev.gyre");

    static final LoggingObserver INSTANCE = new LoggingObserver();

    private final AtomicLong breaches = new AtomicLong();
    private final AtomicLong floods = new AtomicLong();

    @Override
    public void onMicrotaskBreach(int remaining) {
        sparsely(
                breaches,
                "microtask budget used up in a tick, microtasks still waiting: "
                        + remaining
                        + "; does one add another for ever?");
    }

    @Override
    public void onPriorityFlood(int ran) {
        sparsely(
                floods,
                "priority tasks run in one tick: " + ran + "; do they submit each other for ever?");
    }

    @Override
    public void onTerminated(ShutdownReport report) {
        if (report.abandoned() > 0) {
            LOG.log(Level.WARNING, "loop ended with work abandoned: " + report);
        }
    }

    private static void sparsely(AtomicLong count, String message) {
        long occurrence = count.incrementAndGet();
        if (Long.bitCount(occurrence) == 1) {
            LOG.log(Level.WARNING, message + " (occurrence " + occurrence + ")");
        }
    }
}
