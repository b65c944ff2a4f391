package dev.gyre.internal.promise;

/// A task whose caller waits for it. The loop notifies the caller if it drops the task.
public interface AwaitedTask extends Runnable {
    /// Notifies the caller that the task will not run. Runs no user code on the calling thread.
    void fail(Throwable reason);
}
