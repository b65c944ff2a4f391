package dev.gyre.io;

/// Describes the state of a [Stream].
///
/// ```
///     ACCEPTED ──▶ READING ◀──▶ WRITING ──▶ DRAINING ──▶ CLOSING
///                     ▲            ▲            ▲            ▲
///                     └▶ PROCESSING ┘           │            │
///              end() or close() with output pending      any failure, timeout or limit
/// ```
public enum StreamState {
    /// Connected; no byte was received yet.
    ACCEPTED,

    /// Waits for input; all output is sent.
    READING,

    /// Output is pending.
    WRITING,

    /// Paused, without pending output: the program processes the input.
    PROCESSING,

    /// The output has ended; the last of it is pending.
    DRAINING,

    /// Closed, or about to be.
    CLOSING
}
