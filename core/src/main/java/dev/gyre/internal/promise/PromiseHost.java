package dev.gyre.internal.promise;

import dev.gyre.EventLoop;

/// What promises need of the loop they belong to.
public interface PromiseHost {
    /// The loop itself.
    EventLoop loop();

    /// Lets the loop thread pass, and anyone while no thread runs the loop.
    ///
    /// @param method the name of the confined method, for the message
    /// @throws WrongThreadException if another thread runs the loop
    void requireConfined(String method);

    /// The same, and only before the loop is over.
    ///
    /// @throws dev.gyre.LoopTerminatedException if it is
    void requireOpen(String method);

    /// Whether the calling thread runs the loop or carries out its end: it must not wait for either.
    boolean isNeededHere();

    /// Runs the task on the loop thread. Any thread.
    ///
    /// @return false if the loop is over
    boolean submitPriority(Runnable task);

    /// Runs the action when all that belongs to the loop has been settled, at once if that is so. Any thread.
    void whenOver(Runnable action);
}
