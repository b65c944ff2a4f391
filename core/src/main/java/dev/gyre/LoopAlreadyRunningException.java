package dev.gyre;

/// Thrown if another thread is inside a `run` method of the loop. That run is not affected.
public final class LoopAlreadyRunningException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /// @param message names the loop and the thread that runs it
    public LoopAlreadyRunningException(String message) {
        super(message);
    }
}
