package dev.gyre.internal.backend;

/// What is called when a registered descriptor is ready.
@FunctionalInterface
public interface IoHandler {
    /// Runs on the loop thread.
    ///
    /// @param ready the bits of [Ready]
    void onReady(int ready);
}
