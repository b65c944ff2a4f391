package dev.gyre;

/// Calls code at the end of a thread's stack, then with a little more stack each time, until it
/// suffices.
public final class StackEnd {
    private static final long STACK_BYTES = 256 << 10;

    /// Not every frame tries: overflowing is slow, and the steps are small enough.
    private static final int FRAMES_A_TRY = 5;

    private final Runnable call;
    private int overflows;

    private StackEnd(Runnable call) {
        this.call = call;
    }

    /// Uses up the calling thread's stack.
    ///
    /// @return how often the call overflowed before it succeeded
    public static int call(Runnable call) {
        StackEnd end = new StackEnd(call);
        end.descend(0);
        return end.overflows;
    }

    /// Runs on a new thread with a small stack.
    public static int callElsewhere(Runnable call) {
        int[] overflows = new int[1];
        Thread thread = new Thread(null, () -> overflows[0] = call(call), "stack-end", STACK_BYTES);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return overflows[0];
    }

    /// Recurses until the stack is used up. On the way back each fifth frame tries the call, until
    /// it succeeds.
    @SuppressWarnings("InfiniteRecursion") // until the stack ends
    private boolean descend(int depth) {
        try {
            if (descend(depth + 1)) {
                return true;
            }
        } catch (StackOverflowError e) {
            overflows++;
        }
        if (depth % FRAMES_A_TRY == 0) {
            call.run();
            return true;
        }
        return false;
    }
}
