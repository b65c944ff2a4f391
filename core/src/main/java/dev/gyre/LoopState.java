package dev.gyre;

/// The state of a loop. The ordinals are part of the contract and never change.
///
/// ```
///              run                     poll
///   AWAKE 0 ─────────▶ RUNNING 4 ◀──────────────▶ SLEEPING 2
///      │  ◀─────────       │                          │
///      │  bounded run      │ shutdown, close          │ shutdown, close
///      │  returns          ▼                          │
///      └───────────▶ TERMINATING 3 ◀──────────────────┘
///    shutdown, close       │
///                          ▼
///                    TERMINATED 1
/// ```
public enum LoopState {
    /// Open. No thread is inside a `run` method.
    AWAKE,
    /// The loop accepts nothing more. The last accepted work still runs, and then the descriptors
    /// are closed. The outcome of [EventLoop#shutdown] completes afterwards.
    TERMINATED,
    /// The loop thread blocks in the kernel or is about to.
    SLEEPING,
    /// Shutdown has begun. The loop finishes accepted work and rejects new tasks.
    TERMINATING,
    /// The loop thread executes a tick.
    RUNNING;

    /// Returns whether shutdown has begun. Never changes from true to false.
    public boolean isShuttingDown() {
        return this == TERMINATING || this == TERMINATED;
    }
}
