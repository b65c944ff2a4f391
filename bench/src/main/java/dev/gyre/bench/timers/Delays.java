package dev.gyre.bench.timers;

import java.util.Random;

/// The delays of idle timeouts: a connection may be silent for two minutes, and was active within
/// the last minute. So deadlines are one to two minutes ahead, and none expires during the
/// measurement.
final class Delays {
    static final long TIMEOUT_NANOS = 120_000_000_000L;

    /// A power of two, small enough for the L1 cache.
    static final int COUNT = 64;

    private static final long SHORTEST_NANOS = TIMEOUT_NANOS / 2;

    private Delays() {}

    /// Returns pseudo-random delays, the same for each seed.
    static long[] nanos(int count, long seed) {
        return new Random(seed).longs(count, SHORTEST_NANOS, TIMEOUT_NANOS).toArray();
    }
}
