package dev.gyre.internal.backend;

/// What some kernels tell of signals, processes and files without a descriptor for each: kqueue
/// does.
///
/// Handlers are told like those of descriptors, by [Backend#takeReady()]; what [IoHandler#take]
/// is given then is said with each method, instead of the bits of [Ready].
///
/// **Threads.** As with [Backend#register]: any thread, never waiting for the loop.
///
/// **Failure.** Watching throws [dev.gyre.SystemCallException] if the kernel refuses, and
/// [dev.gyre.LoopTerminatedException] after the close. Forgetting does nothing if somebody else
/// is registered by now.
public interface KernelEvents {
    /// Tells how often a signal has come since it was told last. The signal does what it does
    /// besides: a process that is not to end by it has to ignore or handle it too.
    void watchSignal(int signal, ReadinessHandler handler);

    void forgetSignal(int signal, ReadinessHandler handler);

    /// Tells once that a process has ended, with the status that `wait` would give if the kernel
    /// says it, and with zero otherwise. The process is still to be waited for. Refused with
    /// `ESRCH` if there is no such process.
    void watchProcess(int pid, ReadinessHandler handler);

    void forgetProcess(int pid, ReadinessHandler handler);

    /// Tells what has been done to an open file or directory since it was told last, in bits of
    /// [VnodeChange].
    ///
    /// @param changes what to be told of
    void watchVnode(int fd, int changes, ReadinessHandler handler);

    void forgetVnode(int fd, ReadinessHandler handler);
}
