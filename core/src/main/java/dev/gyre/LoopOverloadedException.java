package dev.gyre;

import java.util.concurrent.RejectedExecutionException;

/// Thrown if a queue of the loop is full or its buffer memory is used up. A rejected task never
/// runs. [EventLoop#trySubmit] and [dev.gyre.io.Buffer#tryAcquire] return the rejection as a value.
public final class LoopOverloadedException extends RejectedExecutionException {
    private static final long serialVersionUID = 1L;

    /// @param message names the full resource and its limit
    public LoopOverloadedException(String message) {
        super(message);
    }
}
