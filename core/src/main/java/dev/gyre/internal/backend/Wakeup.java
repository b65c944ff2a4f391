package dev.gyre.internal.backend;

/// What interrupts a wait: the part of [WakeSignal] that differs between kernels.
///
/// Called under the lock of the signal, which also sees to it that nothing is rung after the
/// close.
public interface Wakeup {
    /// The call that [#ring()] makes, as users know it from the manual.
    String call();

    /// The descriptor that rings.
    int fd();

    /// Interrupts the wait under way, or the next one.
    ///
    /// @return zero or `-errno`
    int trigger();

    void close();
}
