package dev.gyre;

/// A platform thread other than the test's.
public final class AnotherThread {
    private AnotherThread() {}

    /// Runs the action on that thread and waits until it ends.
    public static void runs(Runnable action) {
        Thread thread = Thread.ofPlatform().start(action);
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
