package dev.gyre;

import org.jspecify.annotations.Nullable;

/// Code that may block, for [EventLoop#promisify(Work)]. It runs outside the loop.
///
/// @param <T> the type of what it finds
@FunctionalInterface
public interface BlockingWork<T extends @Nullable Object> {
    /// Does the work. What it throws becomes the rejection of the promise.
    ///
    /// @param cancellation cancelled with the one that was handed in, and when the loop ends first; the thread is
    ///     interrupted then, too, so that only code that computes without blocking has to ask. Not when a step
    ///     gives up the waiting, as [Promise#orTimeout] does: others may wait
    T run(Cancellation cancellation) throws Exception;
}
