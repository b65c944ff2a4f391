package dev.gyre.internal.io;

import dev.gyre.EventLoop;

/// The loop as its operations see it.
public interface OperationHost {
    EventLoop loop();

    void requireConfined(String method);

    void requireOpen(String method);

    /// Whether the calling thread is the loop thread. While there is none this is false for all: another one may
    /// become it at any moment.
    boolean isHere();

    /// Runs a task on the loop thread soon, from any thread.
    ///
    /// @return false if the loop is over
    boolean submitPriority(Runnable task);

    /// Whether a watcher of the loop has the number.
    boolean isWatched(int fd);
}
