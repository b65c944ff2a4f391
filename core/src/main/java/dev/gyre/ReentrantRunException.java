package dev.gyre;

/// A callback called a `run` method of its own loop. Callbacks never nest; the outer run goes on.
public final class ReentrantRunException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /// Names the loop and its thread.
    public ReentrantRunException(String message) {
        super(message);
    }
}
