package dev.gyre.bench.timers;

import java.util.concurrent.atomic.AtomicLong;

/// Counts outstanding timers that expired. The count must stay zero: otherwise fewer timers than
/// stated are outstanding, and a thread runs them during the measurement.
final class Expired {
    private static final AtomicLong COUNT = new AtomicLong();

    private Expired() {}

    /// The callback of every timer, on any thread.
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
