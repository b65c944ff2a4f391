package dev.gyre.internal.backend.uring;

/// What a submission carries and its completions bring back: which kind it is, a slot, and a generation.
final class UserData {
    /// Of submissions whose completion nobody waits for.
    static final long NOBODY = 0;

    /// Of the poll that wakes the loop.
    static final long WAKE = 1;

    private static final long POLL = 1L << 62;
    private static final long OPERATION = 1L << 63;

    private UserData() {}

    static long poll(int slot, int generation) {
        return POLL | ((long) generation << 32) | slot;
    }

    static long operation(int slot, int generation) {
        return OPERATION | ((long) generation << 32) | slot;
    }

    static boolean isPoll(long token) {
        return (token & POLL) != 0;
    }

    static boolean isOperation(long token) {
        return (token & OPERATION) != 0;
    }

    static int slot(long token) {
        return (int) token;
    }
}
