package dev.gyre;

import java.util.concurrent.RejectedExecutionException;

/// A queue of the loop is full. What was refused will never run; [EventLoop#trySubmit] tells the same
/// as a value, for callers that expect it.
public final class LoopOverloadedException extends RejectedExecutionException {
    private static final long serialVersionUID = 1L;

    /// Names the queue and its limit.
    public LoopOverloadedException(String message) {
        super(message);
    }
}
