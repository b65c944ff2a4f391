package dev.gyre.bench;

/// Waits for the end of a thread.
final class Threads {
    private Threads() {}

    static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while waiting for " + thread, e);
        }
    }
}
