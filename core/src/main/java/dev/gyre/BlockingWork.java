package dev.gyre;

import org.jspecify.annotations.Nullable;

/// Code that may block, for [EventLoop#promisify(BlockingWork)]. It runs outside the loop.
///
/// @param <T> the type of the result
@FunctionalInterface
public interface BlockingWork<T extends @Nullable Object> {
    /// Does the work. An exception rejects the promise.
    ///
    /// @param cancellation cancelled together with the caller's cancellation, or when the loop
    ///     terminates first. The thread is then interrupted, too, so only code that never blocks
    ///     has to query it. A step that times out, as with [Promise#orTimeout], does not cancel it
    T run(Cancellation cancellation) throws Exception;
}
