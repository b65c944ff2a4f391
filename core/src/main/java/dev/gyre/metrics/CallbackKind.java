package dev.gyre.metrics;

/// Names what a loop runs. The microtasks that follow a callback count as part of it.
public enum CallbackKind {
    /// A timer.
    TIMER,

    /// A task from `submit`.
    TASK,

    /// A task from `submitPriority`, or the result of work on another thread.
    PRIORITY_TASK,

    /// A callback from `defer`.
    DEFERRED,

    /// A watcher, or the completion of an operation: input, output, an accepted connection.
    IO
}
