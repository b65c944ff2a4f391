package dev.gyre.internal.promise;

/// A task whose caller waits for it: if the loop drops the task, the caller has to be told.
public interface AwaitedTask extends Runnable {
    /// The task will not run. Runs no user code on the calling thread.
    void fail(Throwable reason);
}
