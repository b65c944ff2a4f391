package dev.gyre.bench.timers;

import java.util.Random;

/// The delays of idle timeouts: a connection may be silent for two minutes, and was last active
/// within the last one. So deadlines lie one to two minutes ahead, and none comes while it is
/// measured, as none would that belongs to a connection in use.
final class Delays {
    static final long TIMEOUT_NANOS = 120_000_000_000L;

    /// A power of two, and so few that they stay in the nearest cache.
    static final int COUNT = 64;

    private static final long SHORTEST_NANOS = TIMEOUT_NANOS / 2;

    private Delays() {}

    /// Pseudo-random ones, always the same for a seed.
    static long[] nanos(int count, long seed) {
        return new Random(seed).longs(count, SHORTEST_NANOS, TIMEOUT_NANOS).toArray();
    }
}
