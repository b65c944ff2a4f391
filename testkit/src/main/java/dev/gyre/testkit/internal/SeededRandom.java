package dev.gyre.testkit.internal;

import java.util.Collections;
import java.util.List;

/// The only source of randomness in a world. SplitMix64, implemented here so that a seed means the
/// same in every JDK.
public final class SeededRandom {
    // Guarded by the kernel's lock.
    private long state;

    public SeededRandom(long seed) {
        state = seed;
    }

    public long next() {
        state += 0x9E3779B97F4A7C15L;
        long mixed = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }

    /// Returns a number from zero to less than `bound`.
    public int below(int bound) {
        return (int) Long.remainderUnsigned(next(), bound);
    }

    /// Returns true with a probability. A probability of zero consumes no random number, so that a
    /// disabled fault changes no run.
    public boolean happens(double probability) {
        return probability > 0 && (next() >>> 11) * 0x1.0p-53 < probability;
    }

    /// Puts a list into a random order.
    public <T> void shuffle(List<T> items) {
        for (int i = items.size() - 1; i > 0; i--) {
            Collections.swap(items, i, below(i + 1));
        }
    }
}
