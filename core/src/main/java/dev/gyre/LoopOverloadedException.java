package dev.gyre;

import java.util.concurrent.RejectedExecutionException;

/// A queue of the loop is full, or its memory for buffers is used up. What was refused will never
/// run; [EventLoop#trySubmit] and [dev.gyre.io.Buffer#tryAcquire] tell the same as a value, for
/// callers that expect it.
public final class LoopOverloadedException extends RejectedExecutionException {
    private static final long serialVersionUID = 1L;

    /// Names what is full, and its limit.
    public LoopOverloadedException(String message) {
        super(message);
    }
}
