package dev.gyre;

/// What happens to a throwable that user code lets escape from a callback.
///
/// A [VirtualMachineError] is never swallowed: it leaves `run` under either policy.
public enum FailurePolicy {
    /// The uncaught handler gets it and the tick goes on with the next callback.
    ISOLATE,
    /// It leaves `run`. The loop is then [LoopState#AWAKE] and consistent: the next run goes on with
    /// the callback after the one that failed. During shutdown it is kept until everything has been
    /// released and leaves `run` then.
    PROPAGATE
}
