package dev.gyre.stress;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// How long an actor waits for the other before it calls that for ever. Long, because a busy machine may
/// keep a thread from running for many milliseconds.
public final class Patience {
    private static final int SPINS = 1_000;
    private static final long REST_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(10);

    private int spins;
    private long sinceNanos;

    /// Waits a moment.
    ///
    /// @return true if it has waited long enough
    public boolean isOver() {
        if (spins < SPINS) {
            spins++;
            Thread.onSpinWait();
            return false;
        }
        // The other seems to have no processor: perhaps it is ours that it needs.
        LockSupport.parkNanos(REST_NANOS);
        long now = System.nanoTime();
        if (spins == SPINS) {
            spins++;
            sinceNanos = now;
        }
        return now - sinceNanos > MOST_NANOS;
    }
}
