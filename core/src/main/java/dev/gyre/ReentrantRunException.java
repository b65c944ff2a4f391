package dev.gyre;

/// Thrown if a callback calls a `run` method of its own loop. Callbacks never nest. The outer run
/// is not affected.
public final class ReentrantRunException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /// @param message names the loop and its thread
    public ReentrantRunException(String message) {
        super(message);
    }
}
