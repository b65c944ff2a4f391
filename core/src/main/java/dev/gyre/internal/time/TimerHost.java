package dev.gyre.internal.time;

import dev.gyre.EventLoop;

/// What timers need of the loop they belong to.
public interface TimerHost {
    /// Lets the loop thread pass, and anyone while no thread runs the loop.
    ///
    /// @param method the name of the confined method, for the message
    /// @throws WrongThreadException if another thread runs the loop
    void requireConfined(String method);

    /// The same, and only before the loop is over.
    ///
    /// @throws dev.gyre.LoopTerminatedException if it is
    void requireOpen(String method);

    /// The loop's time, which delays are counted from.
    long nowNanos();

    /// The loop itself, for what any thread may ask of it.
    EventLoop loop();
}
