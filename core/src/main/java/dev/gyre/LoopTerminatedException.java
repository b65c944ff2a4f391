package dev.gyre;

import java.util.concurrent.RejectedExecutionException;

/// Thrown if the loop's shutdown has begun or completed. A rejected task never runs.
public final class LoopTerminatedException extends RejectedExecutionException {
    private static final long serialVersionUID = 1L;

    /// @param message names the rejected call and the cause
    public LoopTerminatedException(String message) {
        super(message);
    }
}
