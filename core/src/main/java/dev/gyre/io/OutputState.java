package dev.gyre.io;

/// Describes the output of a [Stream].
public enum OutputState {
    /// All output is sent.
    IDLE,

    /// Output is pending and is sent in the next flush step.
    PENDING,

    /// The peer does not keep up: the kernel accepted only a part of the output, or more than the
    /// high-water mark is pending.
    BACKPRESSURED
}
