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

    /// Any thread: there is something new to look at. If another one runs the loop, wakes it.
    void lookAgain();

    /// Whether the loop is coming to its end, or has.
    boolean isEnding();

    /// Whether a watcher of the loop has the number.
    boolean isWatched(int fd);
}
