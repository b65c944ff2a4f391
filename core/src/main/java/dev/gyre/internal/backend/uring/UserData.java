package dev.gyre.internal.backend.uring;

/// Encodes and decodes `user_data`, which the kernel copies from an SQE into each of its CQEs.
///
/// ```
///      63           62      61 … 32       31 … 0
///     operation    poll    generation     slot
/// ```
final class UserData {
    /// For SQEs whose CQE is ignored.
    static final long IGNORED = 0;

    /// The poll of the wake-up descriptor.
    static final long WAKEUP = 1;

    private static final long POLL = 1L << 62;
    private static final long OPERATION = 1L << 63;
    private static final int MAX_GENERATION = (1 << 30) - 1;

    private UserData() {}

    static long poll(int slot, int generation) {
        return POLL | ((long) generation << 32) | slot;
    }

    static long operation(int slot, int generation) {
        return OPERATION | ((long) generation << 32) | slot;
    }

    /// Returns the generation after this one. It wraps around after 2^30 SQEs.
    static int nextGeneration(int generation) {
        return (generation + 1) & MAX_GENERATION;
    }

    static boolean isPoll(long userData) {
        return (userData & POLL) != 0;
    }

    static boolean isOperation(long userData) {
        return (userData & OPERATION) != 0;
    }

    static int slot(long userData) {
        return (int) userData;
    }
}
