package dev.gyre.io;

/// What a [Stream] is doing: always one of these.
///
/// ```
///     ACCEPTED ──▶ READING ◀──▶ WRITING ──▶ DRAINING ──▶ CLOSING
///                     ▲            ▲            ▲            ▲
///                     └▶ PROCESSING ┘           │            │
///              end() or close() with output pending      any failure, timeout or limit
/// ```
public enum StreamState {
    /// Connected; nothing has been received yet.
    ACCEPTED,

    /// Waits for input; all output is sent.
    READING,

    /// Output is waiting to be sent.
    WRITING,

    /// Paused, with nothing to send: somebody works on what was received.
    PROCESSING,

    /// Nothing more will be written; the last output is being sent.
    DRAINING,

    /// Closed, or about to be.
    CLOSING
}
