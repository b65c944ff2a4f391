package dev.gyre;

/// Another thread is inside a `run` method of this loop. That run goes on undisturbed.
public final class LoopAlreadyRunningException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /// Names the loop and the thread that runs it.
    public LoopAlreadyRunningException(String message) {
        super(message);
    }
}
