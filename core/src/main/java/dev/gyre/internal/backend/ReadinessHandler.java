package dev.gyre.internal.backend;

/// Handles the events of a registered descriptor: clause W-5.
///
/// An event may call for several callbacks. The loop runs them one by one, and may run other work
/// or leave `run` between two of them. So the handler keeps the callbacks that are left, and checks
/// each just before it runs.
///
/// Loop thread only.
@FunctionalInterface
public interface ReadinessHandler {
    /// Receives an event. Runs no user code. All callbacks of the previous event have run or were
    /// dropped.
    ///
    /// @param events bits of [Readiness]
    void onReady(int events);

    /// Selects the next callback of the event that is still wanted.
    ///
    /// @return false if none is left
    default boolean nextCallback() {
        return false;
    }

    /// Runs the selected callback. It is user code, and may throw anything.
    default void runCallback() {
        throw new AssertionError("no callback is selected");
    }
}
