package dev.gyre.internal.io;

/// What watchers need of the loop they belong to.
public interface WatchHost {
    /// Lets the loop thread pass, and anyone while no thread runs the loop.
    ///
    /// @param method the name of the confined method, for the message
    /// @throws WrongThreadException if another thread runs the loop
    void requireConfined(String method);

    /// The same, and only before the loop is over.
    ///
    /// @throws dev.gyre.LoopTerminatedException if it is
    void requireOpen(String method);

    /// If another thread runs the loop, makes it look again whether anything keeps it alive.
    void lookAgain();
}
