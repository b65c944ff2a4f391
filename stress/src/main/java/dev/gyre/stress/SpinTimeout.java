package dev.gyre.stress;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// The timeout of an actor that waits for the other one. Long, because a busy machine may
/// keep a thread from running for many milliseconds.
public final class SpinTimeout {
    private static final int SPINS = 1_000;
    private static final long REST_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);

    private int spins;
    private long sinceNanos;

    /// Waits briefly.
    ///
    /// @return whether the timeout has elapsed
    public boolean isOver() {
        if (spins < SPINS) {
            spins++;
            Thread.onSpinWait();
            return false;
        }
        // The other actor may need this processor.
        LockSupport.parkNanos(REST_NANOS);
        long now = System.nanoTime();
        if (spins == SPINS) {
            spins++;
            sinceNanos = now;
        }
        return now - sinceNanos > MOST_NANOS;
    }
}
