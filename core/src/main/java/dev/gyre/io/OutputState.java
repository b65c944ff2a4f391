package dev.gyre.io;

/// How the output of a [Stream] stands.
public enum OutputState {
    /// Everything is sent.
    IDLE,

    /// Something is written, and goes out in this turn of the loop.
    PENDING,

    /// The peer does not keep up: the kernel did not take everything in the turn it was offered, or more than
    /// the high-water mark is waiting.
    BACKPRESSURED
}
