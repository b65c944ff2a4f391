package dev.gyre;

/// The result of [EventLoop#trySubmit(Runnable)].
public enum SubmitResult {
    /// The task is queued. It runs, unless the loop is closed first; the [ShutdownReport] then
    /// counts it.
    ACCEPTED,
    /// Rejected: the high-water mark is reached. Retry later or shed load.
    OVERLOADED,
    /// Rejected permanently: shutdown has begun.
    TERMINATED
}
