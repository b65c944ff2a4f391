package dev.gyre.internal.backend;

import dev.gyre.LoopConfig;

/// The loop as the requests of its backend see it.
public interface RequestHost {
    /// How many of what to keep ready, and what runs calls that may block.
    LoopConfig config();

    /// Runs a task on the loop thread soon, from any thread.
    ///
    /// @return false if the loop is over
    boolean submitPriority(Runnable task);
}
