package dev.gyre.stress;

import java.util.concurrent.TimeUnit;

/// How long an actor waits for the other before it calls that for ever. Long, because a busy machine may
/// keep a thread from running for many milliseconds.
public final class Patience {
    private static final int SPINS = 1_000;
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
        // The other has no processor, as we have it.
        Thread.yield();
        long now = System.nanoTime();
        if (spins == SPINS) {
            spins++;
            sinceNanos = now;
        }
        return now - sinceNanos > MOST_NANOS;
    }
}
