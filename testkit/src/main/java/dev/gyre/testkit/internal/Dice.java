package dev.gyre.testkit.internal;

/// All luck of a world, from its seed: SplitMix64, written out so that no release of the JDK changes what a
/// seed means.
public final class Dice {
    // Guarded by the kernel's lock, like all of the kernel.
    private long state;

    public Dice(long seed) {
        state = seed;
    }

    public long next() {
        state += 0x9E3779B97F4A7C15L;
        long mixed = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }

    /// A number from zero to less than `bound`.
    public int below(int bound) {
        return (int) Long.remainderUnsigned(next(), bound);
    }

    /// Whether something of that probability happens. What never happens takes nothing from the luck of the
    /// rest, so that a fault which is off changes no run.
    public boolean happens(double probability) {
        return probability > 0 && (next() >>> 11) * 0x1.0p-53 < probability;
    }
}
