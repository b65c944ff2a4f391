package dev.gyre;

/// Where a loop is in its life. The numbers are part of the contract and never change.
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
    /// Open, and no thread is inside a `run` method.
    AWAKE(0),
    /// Over: nothing is accepted any more. What was accepted last still runs and the descriptors are
    /// then closed; the outcome of [EventLoop#shutdown] tells when that is done.
    TERMINATED(1),
    /// The loop thread waits in the kernel, or is about to.
    SLEEPING(2),
    /// Shutdown has begun: accepted work is being finished, new tasks are refused.
    TERMINATING(3),
    /// The loop thread is executing a tick.
    RUNNING(4);

    private final int number;

    LoopState(int number) {
        this.number = number;
    }

    /// The state's number: 0 to 4, in the order of declaration.
    public int number() {
        return number;
    }

    /// Whether shutdown has begun; it is never taken back.
    public boolean isEnding() {
        return this == TERMINATING || this == TERMINATED;
    }
}
