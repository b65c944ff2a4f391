package dev.gyre;

/// What became of a task handed to [EventLoop#trySubmit(Runnable)].
public enum SubmitResult {
    /// It is queued and will run, unless the loop is closed before its turn; the
    /// [ShutdownReport] then counts it.
    ACCEPTED,
    /// Refused: as many tasks are waiting as the high-water mark allows. Try later or shed load.
    OVERLOADED,
    /// Refused for good: shutdown has begun.
    TERMINATED
}
