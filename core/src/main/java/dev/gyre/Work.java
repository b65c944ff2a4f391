package dev.gyre;

import org.jspecify.annotations.Nullable;

/// Code that may block, for [EventLoop#promisify(Work)]. It runs outside the loop.
///
/// @param <T> the type of what it finds
@FunctionalInterface
public interface Work<T extends @Nullable Object> {
    /// Does the work. What it throws becomes the rejection of the promise.
    ///
    /// @param cancellation cancelled when nobody waits for the result any more; the thread is interrupted then,
    ///     too, so that only code that computes without blocking has to ask
    T run(Cancellation cancellation) throws Exception;
}
