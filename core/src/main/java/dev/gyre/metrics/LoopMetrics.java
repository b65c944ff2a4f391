package dev.gyre.metrics;

import dev.gyre.internal.loop.Metrics;

/// Counters of one loop since it was opened. Each is exact when the loop is quiet; while it runs, two of
/// them read one after the other may be from different instants. Callable from any thread.
public sealed interface LoopMetrics permits Metrics {
    /// Ticks begun.
    long ticks();

    /// Timers, tasks, deferred and I/O callbacks run; microtasks are counted apart.
    long callbacks();

    /// Tasks from `submit` run.
    long tasks();

    /// Tasks from `submitPriority` run.
    long priorityTasks();

    /// Timers fired.
    long timers();

    /// Microtasks run.
    long microtasks();

    /// Descriptors that are watched at this instant.
    int watchers();

    /// Waits that were allowed to block.
    long sleeps();

    /// Looks at the kernel that were not allowed to block.
    long polls();

    /// Signals written to wake the loop. A running loop causes none.
    long wakeups();

    /// Throwables that escaped from callbacks.
    long failures();

    /// Tasks from `submit` that wait at this instant.
    int depth();

    /// Tasks from `submitPriority` that wait at this instant.
    int priorityDepth();
}
