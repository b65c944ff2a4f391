package dev.gyre.internal.base;

import dev.gyre.EventLoop;
import dev.gyre.LoopConfig;

/// The loop as its timers, watchers, operations, promises and backend see it.
public interface LoopContext {
    EventLoop loop();

    LoopConfig config();

    /// Returns the time of the current tick, which delays count from.
    long nowNanos();

    /// Accepts the loop thread, or any thread while no thread runs the loop.
    ///
    /// @param method the name of the confined method, for the message
    /// @throws WrongThreadException if another thread runs the loop
    void requireConfined(String method);

    /// Checks confinement like [#requireConfined(String)], and that the loop is not TERMINATED.
    ///
    /// @throws dev.gyre.LoopTerminatedException if the loop accepts nothing more
    void requireOpen(String method);

    /// Returns whether the calling thread runs the loop. Returns false on every thread while none
    /// does, because any thread may start to run the loop at any moment.
    boolean isLoopThread();

    /// Returns whether the calling thread runs the loop or its shutdown. Such a thread must not
    /// block until either makes progress.
    boolean mustNotBlock();

    /// Returns whether the loop is TERMINATING or TERMINATED.
    boolean isShuttingDown();

    /// Returns whether a watcher of the loop is registered for the descriptor number.
    boolean isWatched(int fd);

    /// Wakes the loop if another thread runs it, so that it checks again what it waits for. Any
    /// thread.
    void wakeLoop();

    /// Enqueues a task in the priority lane. Any thread.
    ///
    /// @return false if the loop is TERMINATED; the task never runs
    boolean trySubmitPriority(Runnable task);

    /// Runs the action once the loop is TERMINATED and its promises are settled: at once if it
    /// already is, otherwise on the thread that completes the shutdown. Any thread.
    void whenTerminated(Runnable action);
}
