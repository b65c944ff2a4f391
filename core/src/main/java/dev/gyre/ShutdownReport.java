package dev.gyre;

/// The outcome of a loop's termination, with the abandoned work by kind.
///
/// @param graceful true if all accepted work was finished before the deadline; false if the loop
///     was closed, if the deadline passed, or if no loop thread could finish queued work
/// @param tasks dropped tasks from [EventLoop#submit]
/// @param priorityTasks dropped tasks from [EventLoop#submitPriority]
/// @param microtasks dropped microtasks
/// @param deferred dropped callbacks from [EventLoop#defer]
/// @param work pending work from [EventLoop#promisify(BlockingWork)] and pending stages from
///     [Promise#from]: the promises were rejected and the workers interrupted
/// @param promises pending promises that were rejected, including those of such work
/// @param timers timers that were still scheduled; a shutdown does not wait for them
/// @param watchers descriptors that were still registered; a shutdown does not wait for them
/// @param operations operations in flight that never completed; a graceful shutdown cancels them
///     instead
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

    /// Returns the number of accepted units of work that never ran or did not finish. Excludes
    /// pending promises, timers, watchers and operations, which are not accepted work.
    public long abandoned() {
        return tasks + priorityTasks + microtasks + deferred + work;
    }
}
