package dev.gyre;

/// When [EventLoop#run(RunMode)] returns after [EventLoop#stop()].
public enum RunMode {
    /// At the end of the current tick. Queued work stays queued for a later run.
    STOPPED,
    /// When nothing is left to do, as for [EventLoop#runUntilEmpty()].
    DRAINED
}
