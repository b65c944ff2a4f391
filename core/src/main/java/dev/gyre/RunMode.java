package dev.gyre;

/// When [EventLoop#run(RunMode)] returns once [EventLoop#stop()] was called.
public enum RunMode {
    /// At the end of the current tick; what is still queued stays queued for a later run.
    STOPPED,
    /// When nothing is left to do: no queued task, referenced timer or referenced watcher.
    DRAINED
}
