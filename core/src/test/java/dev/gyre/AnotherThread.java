package dev.gyre;

/// A platform thread for what only another thread can do.
public final class AnotherThread {
    private AnotherThread() {}

    /// Runs the action there and waits for its end.
    public static void runs(Runnable action) {
        Thread thread = Thread.ofPlatform().start(action);
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
