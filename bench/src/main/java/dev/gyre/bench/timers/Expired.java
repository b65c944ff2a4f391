package dev.gyre.bench.timers;

import java.util.concurrent.atomic.AtomicLong;

/// Counts outstanding timers that expired. None should: there would be fewer of them than the row
/// says, and somebody would be at work on them meanwhile.
final class Expired {
    private static final AtomicLong COUNT = new AtomicLong();

    private Expired() {}

    /// What every timer of every peer runs, on any thread.
    static void add() {
        COUNT.incrementAndGet();
    }

    static void requireNone() {
        if (COUNT.get() > 0) {
            throw new IllegalStateException(
                    COUNT + " outstanding timers expired: the benchmark took too long");
        }
    }
}
