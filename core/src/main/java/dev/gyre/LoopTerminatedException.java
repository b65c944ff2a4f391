package dev.gyre;

import java.util.concurrent.RejectedExecutionException;

/// The loop's shutdown has begun or is over, so it takes nothing more. The task that was refused will
/// never run.
public final class LoopTerminatedException extends RejectedExecutionException {
    private static final long serialVersionUID = 1L;

    /// Names what was refused and why.
    public LoopTerminatedException(String message) {
        super(message);
    }
}
