package dev.gyre.internal.backend;

/// Handles the completions of a [Request].
public interface CompletionHandler {
    /// Receives a completion, and runs the callback for it: user code, which may throw anything.
    /// Loop thread only.
    void onComplete(Request request);

    /// Describes for operators whom the completions are for; empty if unknown. Any thread: reads
    /// without synchronization, and never throws.
    default String describe() {
        return "";
    }

    /// Releases what a request has brought that completed after the loop terminated. Any thread.
    ///
    /// @param result of the request
    default void abandoned(long result) {}
}
