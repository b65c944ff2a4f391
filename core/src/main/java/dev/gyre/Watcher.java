package dev.gyre;

import dev.gyre.internal.io.LoopWatcher;
import dev.gyre.io.Descriptor;

/// A descriptor that a loop watches, from [EventLoop#watch] until it is unwatched, replaced, or its descriptor
/// is closed or collected.
///
/// All methods are loop-confined: call them on the loop thread, or while the loop is not running.
public sealed interface Watcher permits LoopWatcher {
    /// The watched descriptor. The watcher holds it weakly; in a callback it is always there.
    ///
    /// @throws IllegalStateException if it has been collected
    Descriptor descriptor();

    /// Whether an error was reported along with what the callback is told. Meaningful inside a callback.
    boolean isError();

    /// Whether a hang-up was reported along with what the callback is told: the other side is gone, though
    /// bytes may be left to read. Meaningful inside a callback.
    boolean isHangUp();

    /// Watches for something else from the next event on, and arms a one-shot watcher again. Of the event
    /// that is being dispatched, callbacks that are no longer wanted do not run. What is ready already is
    /// reported, also when edge-triggered. Nothing is allocated.
    ///
    /// @return this watcher
    /// @throws IllegalStateException if the watcher is over
    /// @throws SystemCallException if the kernel refuses; the watcher is over then
    Watcher modify(WatchSpec watch);

    /// Arms a one-shot watcher again, for what it watched before. For any other it has what is ready
    /// already reported once more. Throws like [#modify].
    ///
    /// @return this watcher
    Watcher rearm();

    /// Ends the watching: no callback runs any more, not even for an event that the kernel has reported
    /// already. Idempotent.
    void unwatch();

    /// Whether the watcher is neither unwatched nor replaced, and its descriptor neither closed nor
    /// known to be collected.
    boolean isWatching();

    /// Whether the kernel may report something: false for a one-shot watcher after its event, and while it
    /// watches for nothing.
    boolean isArmed();

    /// Lets `runUntilEmpty` and `run(DRAINED)` return although this watcher is armed.
    ///
    /// @return this watcher
    Watcher unreference();

    /// Takes [#unreference()] back.
    ///
    /// @return this watcher
    Watcher reference();
}
