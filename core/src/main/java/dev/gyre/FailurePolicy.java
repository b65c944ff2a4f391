package dev.gyre;

/// The handling of exceptions thrown by callbacks.
///
/// A [VirtualMachineError] always propagates out of `run`, under either policy.
public enum FailurePolicy {
    /// Passes the exception to the uncaught handler. The tick continues with the next callback.
    ISOLATE,
    /// Propagates the exception out of `run`. The loop is then [LoopState#AWAKE] and consistent:
    /// the next run continues with the next callback. During shutdown the exception propagates
    /// after everything has been released.
    PROPAGATE
}
