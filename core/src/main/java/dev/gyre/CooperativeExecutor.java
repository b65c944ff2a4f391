package dev.gyre;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/// An executor whose threads and the loop take turns: exactly one of them runs at a time. So a run
/// with threads is reproducible. The simulated world of the test kit has such an executor.
///
/// A thread returns the turn when its task ends, and when it waits for the loop. [Promise#await()]
/// does that. Code with its own way to wait for the loop calls [#await] here:
///
/// ```java
/// CooperativeExecutor turns = CooperativeExecutor.current(loop);
/// if (turns != null) {
///     turns.await(future::isDone);
/// }
/// return future.get();
/// ```
///
/// **Threads.** [#execute] and [#isWorker] may be called from any thread.
public interface CooperativeExecutor extends Executor {
    /// Returns the loop's executor if it is cooperative and the calling thread runs a task of it;
    /// `null` otherwise. Callable from any thread.
    static @Nullable CooperativeExecutor current(EventLoop loop) {
        return loop.config().executor() instanceof CooperativeExecutor turns && turns.isWorker()
                ? turns
                : null;
    }

    /// Returns whether the calling thread runs a task of this executor.
    boolean isWorker();

    /// Returns the turn to the loop, and waits until the condition holds. The loop thread evaluates
    /// the condition between its callbacks.
    ///
    /// @throws InterruptedException if the calling thread is interrupted before
    /// @throws IllegalStateException if the calling thread runs no task of this executor
    void await(BooleanSupplier condition) throws InterruptedException;

    /// Waits like [#await(BooleanSupplier)], at most for the timeout on the loop's clock.
    ///
    /// @return whether the condition holds
    boolean await(BooleanSupplier condition, Duration timeout) throws InterruptedException;
}
