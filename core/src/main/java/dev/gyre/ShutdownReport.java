package dev.gyre;

/// How a loop ended and what it had to abandon, by kind.
///
/// @param graceful true when all accepted work was finished before the deadline; false when the loop
///     was closed, when the deadline passed, or when there was no loop thread to finish queued work
/// @param tasks tasks from [EventLoop#submit] that were dropped
/// @param priorityTasks tasks from [EventLoop#submitPriority] that were dropped
/// @param microtasks microtasks that were dropped
/// @param deferred callbacks from [EventLoop#defer] that were dropped
/// @param work work from [EventLoop#promisify(Work)], and stages from [Promise#from], that had not come back: the
///     promise was rejected and the worker interrupted
/// @param promises promises that were still pending and were rejected, those of such work included
/// @param timers timers that were still scheduled; they never keep a shutdown waiting
/// @param watchers descriptors that were still registered; they never keep a shutdown waiting
/// @param operations operations that were under way and never completed; a graceful shutdown cancels them instead
public record ShutdownReport(
        boolean graceful,
        long tasks,
        long priorityTasks,
        long microtasks,
        long deferred,
        long work,
        long promises,
        long timers,
        long watchers,
        long operations) {

    /// The number of accepted units of work that never ran, or were not waited for. Pending promises, timers,
    /// watchers and operations are not among them: they describe what might have happened, not work that was handed over.
    public long abandoned() {
        return tasks + priorityTasks + microtasks + deferred + work;
    }
}
